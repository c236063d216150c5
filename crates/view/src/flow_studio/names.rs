//! Names of steps and agents as parts of paths: safe on every disk, and distinct where they were.

use std::collections::{HashMap, HashSet};

/// So many characters of a name stand in a path.
const LONGEST: usize = 80;

/// Returns `name` with everything replaced that a path had better not hold.
pub(super) fn safe(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let replaced = name.chars().take(LONGEST).map(|c| if is_plain(c) { c } else { '_' });
    let mut safe: String = replaced.collect();
    // A hidden file, or one of the two names that lead elsewhere.
    if safe.is_empty() || safe.starts_with('.') {
        safe.insert(0, '_');
    }
    safe
}

/// Returns the id of the step called `name`: readers of file names know no `.` in it. A `-` stays, as in
/// the names of the documentation.
pub(super) fn step_id(name: &str) -> String {
    safe(name).replace('.', "_")
}

/// Returns `engine` as file names have it: letters and digits, since a `-` parts the name.
pub(super) fn engine_token(engine: &str) -> String {
    let token: String =
        engine.chars().filter(char::is_ascii_alphanumeric).take(LONGEST / 2).collect();
    if token.is_empty() { "agent".to_owned() } else { token }
}

/// Names that were given out, each to one owner.
#[derive(Debug, Default)]
pub(super) struct Names {
    given: HashMap<String, String>,
    taken: HashSet<String>,
    /// Which number comes next behind a name that was wanted more than once.
    next: HashMap<String, u64>,
}

impl Names {
    /// Returns the name of `owner`: the first of `wanted` that is free when it is asked for first.
    /// What is wanted must be safe.
    pub(super) fn of(&mut self, owner: &str, wanted: &[&str]) -> String {
        if let Some(name) = self.given.get(owner) {
            return name.clone();
        }
        let free = wanted.iter().find(|name| !self.taken.contains(**name));
        let name = match free {
            Some(name) => (*name).to_owned(),
            None => self.numbered(wanted.last().copied().unwrap_or("_")),
        };
        self.taken.insert(name.clone());
        self.given.insert(owner.to_owned(), name.clone());
        name
    }

    fn numbered(&mut self, base: &str) -> String {
        let next = self.next.entry(base.to_owned()).or_insert(2);
        loop {
            let name = format!("{base}_{next}");
            *next += 1;
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_elsewhere() {
        for (name, expected) in [
            ("impl-loop", "impl-loop"),
            ("3.4", "3.4"),
            ("", "_"),
            ("..", "_.."),
            ("../../etc", "_.._.._etc"),
            ("a b/c", "a_b_c"),
            ("é", "_"),
        ] {
            assert_eq!(safe(name), expected, "{name:?}");
        }
        assert_eq!(safe(&"x".repeat(500)).len(), LONGEST);
        assert_eq!(step_id("b.impl-loop"), "b_impl-loop");
        assert_eq!(engine_token("openai_compatible"), "openaicompatible");
        assert_eq!(engine_token("é-"), "agent");
    }

    #[test]
    fn distinct_owners_have_distinct_names() {
        let mut names = Names::default();
        assert_eq!(names.of("a.lint", &["lint", "a.lint"]), "lint");
        assert_eq!(names.of("b.lint", &["lint", "b.lint"]), "b.lint");
        assert_eq!(names.of("x", &["a_b"]), "a_b");
        assert_eq!(names.of("y", &["a_b"]), "a_b_2");
        assert_eq!(names.of("a.lint", &["lint"]), "lint");
    }
}
