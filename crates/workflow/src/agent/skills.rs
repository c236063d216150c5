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

/// A skill that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedSkill {
    /// Its name.
    pub name: String,
    /// The file that it is from.
    pub file: PathBuf,
    /// What it says, without the settings at its beginning.
    pub text: String,
}

impl LoadedSkill {
    fn new(name: String, file: PathBuf, text: &str) -> Self {
        LoadedSkill { name, file, text: without_frontmatter(text).trim().to_owned() }
    }

    /// Returns it as it stands before a prompt.
    fn shown(&self) -> String {
        let LoadedSkill { name, text, .. } = self;
        format!("<skill_content name=\"{name}\">\n{text}\n</skill_content>")
    }
}

/// Finds the skill `name` in `dirs`.
pub fn find_skill(
    name: &str,
    files: &FileReader<'_>,
    dirs: &[PathBuf],
) -> Result<LoadedSkill, String> {
    check_name("skill", name)?;
    let found = dirs.iter().find_map(|dir| {
        let file = dir.join(name).join(FILE);
        files(&file).map(|text| LoadedSkill::new(name.to_owned(), file, &text))
    });
    found.ok_or_else(|| format!("there is no skill `{name}` (looked in {})", list(dirs)))
}

/// Reads the skill at `path`, a file or the folder it is in.
pub fn read_skill(path: &Path, files: &FileReader<'_>) -> Result<LoadedSkill, String> {
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
    Ok(LoadedSkill::new(name, file, &text))
}

/// Puts skills before a prompt.
pub fn compose_prompt(skills: &[LoadedSkill], prompt: &str) -> String {
    let skills = skills.iter().map(LoadedSkill::shown);
    skills.chain([prompt.to_owned()]).collect::<Vec<_>>().join("\n\n")
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
        assert_eq!(skill.file, Path::new("/p/.agents/skills/review/SKILL.md"));
        assert_eq!(skill.text, "Look twice.");
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
        assert_eq!(of_folder.name, "review");
        assert_eq!(of_folder.file, Path::new("/p/.agents/skills/review/SKILL.md"));
        let of_file = read_skill(Path::new("/x/notes.md"), &files).unwrap();
        assert_eq!(
            of_file.shown(),
            "<skill_content name=\"notes\">\nTake notes.\n</skill_content>"
        );
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
        let skills = ["a", "b"].map(|name| LoadedSkill::new(name.to_owned(), "f".into(), "x"));
        let shown =
            ["a", "b"].map(|name| format!("<skill_content name=\"{name}\">\nx\n</skill_content>"));
        assert_eq!(compose_prompt(&skills, "Go."), format!("{}\n\nGo.", shown.join("\n\n")));
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
