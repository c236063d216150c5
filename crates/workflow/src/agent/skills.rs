//! Skills: instructions from files that stand before a prompt.
//!
//! Reads nothing itself: the caller hands in how files are read, so that a pure engine can use it.

use std::path::{Path, PathBuf};

/// Reads a file; nothing if it is not there or no text.
pub type FileReader<'a> = dyn Fn(&Path) -> Option<String> + 'a;

/// The file that holds a skill, in a folder of its name.
const FILE: &str = "SKILL.md";

/// Returns where skills are looked for, in order.
///
/// `variable` looks a variable of the environment up. The folders of `AWF_SKILLS_PATH` come first.
pub fn skill_dirs(project: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let mut dirs = listed(variable("AWF_SKILLS_PATH"));
    dirs.extend([".awf/skills", ".agents/skills", ".claude/skills"].map(|dir| project.join(dir)));
    dirs.extend(config_home(variable).map(|home| home.join("awf/skills")));
    if let Some(home) = variable("HOME").map(PathBuf::from) {
        dirs.extend([".agents/skills", ".claude/skills"].map(|dir| home.join(dir)));
    }
    dirs
}

/// Finds the skill `name` in `dirs` and returns it as it stands before a prompt.
pub fn find_skill(name: &str, files: &FileReader<'_>, dirs: &[PathBuf]) -> Result<String, String> {
    check_name("skill", name)?;
    let text = dirs.iter().find_map(|dir| files(&dir.join(name).join(FILE)));
    match text {
        Some(text) => Ok(wrapped(name, &text)),
        None => Err(format!("there is no skill `{name}` (looked in {})", list(dirs))),
    }
}

/// Reads the skill at `path`, a file or the folder it is in.
pub fn read_skill(path: &Path, files: &FileReader<'_>) -> Result<String, String> {
    let (file, text) = [path.to_owned(), path.join(FILE)]
        .into_iter()
        .find_map(|file| files(&file).map(|text| (file, text)))
        .ok_or_else(|| format!("there is no skill at {}", path.display()))?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = file.parent().and_then(Path::file_name);
    let name = match folder {
        Some(folder) if stem == "SKILL" => folder.to_string_lossy().into_owned(),
        _ => stem,
    };
    Ok(wrapped(&name, &text))
}

/// Puts skills before a prompt.
pub fn compose_prompt(skills: &[String], prompt: &str) -> String {
    let mut parts: Vec<&str> = skills.iter().map(String::as_str).collect();
    parts.push(prompt);
    parts.join("\n\n")
}

fn wrapped(name: &str, text: &str) -> String {
    let body = without_frontmatter(text).trim();
    format!("<skill_content name=\"{name}\">\n{body}\n</skill_content>")
}

/// Returns a text without the block of settings between two lines of `---` at its beginning.
pub(super) fn without_frontmatter(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else { return text };
    let mut at = first.len();
    for line in lines {
        at += line.len();
        if is_fence(line) {
            return &text[at..];
        }
    }
    text
}

/// Refuses a name that would lead out of the folders that are searched.
pub(super) fn check_name(what: &str, name: &str) -> Result<(), String> {
    let is_plain = !name.is_empty() && !name.split(['/', '\\']).any(|part| part == "..");
    let is_plain = is_plain && !Path::new(name).is_absolute();
    is_plain.then_some(()).ok_or_else(|| format!("`{name}` is no name of a {what}"))
}

pub(super) fn listed(paths: Option<String>) -> Vec<PathBuf> {
    let paths = paths.unwrap_or_default();
    paths.split(':').filter(|path| !path.is_empty()).map(PathBuf::from).collect()
}

pub(super) fn config_home(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = variable("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    set.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".config")))
}

pub(super) fn list(dirs: &[PathBuf]) -> String {
    dirs.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(path: &Path) -> Option<String> {
        match path.to_str().unwrap() {
            "/p/.agents/skills/review/SKILL.md" => {
                Some("---\nname: review\n---\nLook twice.\n".into())
            }
            "/p/.claude/skills/review/SKILL.md" => Some("Not this one.".into()),
            "/x/notes.md" => Some("Take notes.".into()),
            _ => None,
        }
    }

    fn dirs() -> Vec<PathBuf> {
        let variable = |name: &str| (name == "HOME").then(|| "/home/me".to_owned());
        skill_dirs(Path::new("/p"), &variable)
    }

    #[test]
    fn the_first_folder_that_has_a_skill_wins() {
        let skill = find_skill("review", &files, &dirs()).unwrap();
        assert_eq!(skill, "<skill_content name=\"review\">\nLook twice.\n</skill_content>");
        let shown: Vec<String> = dirs().iter().map(|dir| dir.display().to_string()).collect();
        assert_eq!(
            shown,
            [
                "/p/.awf/skills",
                "/p/.agents/skills",
                "/p/.claude/skills",
                "/home/me/.config/awf/skills",
                "/home/me/.agents/skills",
                "/home/me/.claude/skills",
            ]
        );
    }

    #[test]
    fn a_skill_is_read_from_its_folder_or_its_file() {
        let of_folder = read_skill(Path::new("/p/.agents/skills/review"), &files).unwrap();
        assert!(of_folder.starts_with("<skill_content name=\"review\">"), "{of_folder}");
        let of_file = read_skill(Path::new("/x/notes.md"), &files).unwrap();
        assert_eq!(of_file, "<skill_content name=\"notes\">\nTake notes.\n</skill_content>");
    }

    #[test]
    fn what_is_not_there_is_named() {
        assert!(find_skill("cook", &files, &dirs()).unwrap_err().contains("`cook`"));
        assert!(find_skill("../../etc", &files, &dirs()).is_err());
        assert!(find_skill("", &files, &dirs()).is_err());
        assert!(read_skill(Path::new("/nowhere"), &files).unwrap_err().contains("/nowhere"));
    }

    #[test]
    fn skills_stand_before_the_prompt_in_order() {
        let skills = ["<a>".to_owned(), "<b>".to_owned()];
        assert_eq!(compose_prompt(&skills, "Go."), "<a>\n\n<b>\n\nGo.");
        assert_eq!(compose_prompt(&[], "Go."), "Go.");
    }

    #[test]
    fn only_a_whole_block_of_settings_is_left_out() {
        for (text, body) in [
            ("---\na: 1\n---\nBody", "Body"),
            ("---\na: 1\nBody", "---\na: 1\nBody"),
            ("Body\n---\n", "Body\n---\n"),
            ("---\r\na: 1\r\n---\r\nBody", "Body"),
            ("", ""),
        ] {
            assert_eq!(without_frontmatter(text), body, "{text:?}");
        }
    }
}
