//! Texts that belong to one machine or one moment and to no repository.

use std::path::Path;

use crate::report::Report;
use crate::repository::Repository;

/// Looks at every text file of the repository.
pub(crate) fn check(repository: &Repository, report: &mut Report) -> anyhow::Result<()> {
    let here = repository.root().canonicalize()?;
    let parent = here.parent().and_then(telling_path);
    let here = telling_path(&here);
    for file in repository.files("")? {
        let Some(text) = repository.read(&file) else { continue };
        for (line, text) in text.lines().enumerate().map(|(index, text)| (index + 1, text)) {
            if here.as_deref().is_some_and(|path| names_path(text, path)) {
                report.fail(&file, line, "names a path of this machine; make it relative");
            } else if parent.as_deref().is_some_and(|path| names_path(text, path)) {
                // Only a warning: a checkout may lie in a directory whose name is a fair example.
                report.warn(&file, line, "may name a path of this machine; is it an example?");
            }
            if is_conflict_mark(text) {
                report.fail(&file, line, "is left over from a merge; finish the merge");
            }
        }
    }
    Ok(())
}

/// Returns the path as text, unless it is one that any machine may have.
fn telling_path(path: &Path) -> Option<String> {
    const ANYWHERE: [&str; 8] =
        ["/", "/tmp", "/var/tmp", "/src", "/app", "/root", "/home", "/usr/src"];
    let text = path.to_str()?;
    (!ANYWHERE.contains(&text)).then(|| text.to_owned())
}

/// Tells whether `text` has `path` in it, whole, and not as a piece of a longer name.
fn names_path(text: &str, path: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.match_indices(path).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + path.len()..].chars();
        !before.is_some_and(|c| in_name(c) || c == '/') && !after.next().is_some_and(in_name)
    })
}

fn is_conflict_mark(line: &str) -> bool {
    ['<', '>', '|'].iter().any(|mark| line.starts_with(&format!("{} ", mark.to_string().repeat(7))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_counts_only_when_it_stands_alone() {
        let cases = [
            ("see /ab/cd for more", true),
            ("\"/ab/cd/e.rs\"", true),
            ("/ab/cd", true),
            ("/ab/cde", false),
            ("/ab/cd-2", false),
            ("x/ab/cd", false),
            ("~/x//ab/cd", false),
        ];
        for (text, expected) in cases {
            assert_eq!(names_path(text, "/ab/cd"), expected, "{text}");
        }
    }

    #[test]
    fn paths_that_any_machine_has_tell_nothing() {
        assert_eq!(telling_path(Path::new("/tmp")), None);
        assert_eq!(telling_path(Path::new("/tmp/x")), Some("/tmp/x".to_owned()));
    }

    #[test]
    fn a_conflict_mark_is_seven_signs_and_a_space() {
        assert!(is_conflict_mark(&format!("{} ours", "<".repeat(7))));
        assert!(!is_conflict_mark(&"<".repeat(8)));
        assert!(!is_conflict_mark("| cell |"));
    }
}
