//! Roles: who an agent is told to be, from a file that stands before the system prompt.
//!
//! Reads nothing itself: the caller hands in how files are read, so that a pure engine can use it.

use std::path::{Path, PathBuf};

use super::skills::{FileReader, check_name, config_home, list, listed, without_frontmatter};

/// The file that holds a role, in a folder of its name.
const FILE: &str = "AGENTS.md";

/// Returns where roles are looked for, in order.
///
/// `variable` looks a variable of the environment up. The folders of `AWF_ROLES_PATH` come first.
pub fn role_dirs(project: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let mut dirs = listed(variable("AWF_ROLES_PATH"));
    dirs.extend([".awf/roles", ".agents/roles"].map(|dir| project.join(dir)));
    dirs.extend(config_home(variable).map(|home| home.join("awf/roles")));
    dirs.extend(variable("HOME").map(|home| PathBuf::from(home).join(".agents/roles")));
    dirs
}

/// Finds the role `name` in `dirs` and returns what it says.
pub fn find_role(name: &str, files: &FileReader<'_>, dirs: &[PathBuf]) -> Result<String, String> {
    check_name("role", name)?;
    let text = dirs.iter().find_map(|dir| files(&dir.join(name).join(FILE)));
    match text {
        Some(text) => Ok(without_frontmatter(&text).trim().to_owned()),
        None => Err(format!("there is no role `{name}` (looked in {})", list(dirs))),
    }
}

/// Puts a role before a system prompt; nothing if there is neither.
pub fn compose_system(role: Option<&str>, system_prompt: Option<&str>) -> Option<String> {
    let parts = [role, system_prompt].into_iter().flatten().filter(|part| !part.trim().is_empty());
    Some(parts.collect::<Vec<_>>().join("\n\n")).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_found_without_its_settings() {
        let files = |path: &Path| {
            (path == Path::new("/r/judge/AGENTS.md"))
                .then(|| "---\nx: 1\n---\nBe fair.\n".to_owned())
        };
        let variable = |name: &str| (name == "AWF_ROLES_PATH").then(|| "/q:/r".to_owned());
        let dirs = role_dirs(Path::new("/p"), &variable);
        assert_eq!(find_role("judge", &files, &dirs), Ok("Be fair.".to_owned()));
        assert!(find_role("jury", &files, &dirs).unwrap_err().contains("/p/.awf/roles"));
        assert!(find_role("/r/judge", &files, &dirs).is_err());
    }

    #[test]
    fn a_role_stands_before_the_system_prompt() {
        for (role, system, expected) in [
            (Some("Be."), Some("Do."), Some("Be.\n\nDo.")),
            (Some("Be."), None, Some("Be.")),
            (None, Some("Do."), Some("Do.")),
            (None, Some("  "), None),
            (None, None, None),
        ] {
            assert_eq!(compose_system(role, system).as_deref(), expected);
        }
    }
}
