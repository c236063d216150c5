//! Every source file says what it is for, has a name that means something, and is not too long.

use crate::report::Report;
use crate::repository::Repository;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 7] = ["util", "utils", "common", "helper", "helpers", "misc", "core"];

/// Past this many lines outside tests there is usually a second idea inside.
const LONG: usize = 400;

/// Looks at every Rust file of the repository.
pub(crate) fn check(repository: &Repository, report: &mut Report) -> anyhow::Result<()> {
    for file in repository.files("")?.iter().filter(|file| file.ends_with(".rs")) {
        if let Some(text) = repository.read(file) {
            check_file(file, &text, report);
        }
    }
    Ok(())
}

fn check_file(file: &str, text: &str, report: &mut Report) {
    if !text.starts_with("//!") {
        report.fail(file, 1, "does not say what it is for; open it with one to six `//!` lines");
    }
    let stem = |part: &str| part.trim_end_matches(".rs").to_owned();
    if let Some(name) = file.split('/').map(stem).find(|name| EMPTY_NAMES.contains(&name.as_str()))
    {
        report.fail(file, 1, format!("`{name}` says nothing; name it after what is inside"));
    }
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with("#[allow(") || line.starts_with("#![allow(") {
            let text = "silences a lint for good; use `#[expect(…, reason = \"…\")]`";
            report.fail(file, index + 1, text);
        }
    }
    let length = lines_outside_tests(file, text);
    if length > LONG {
        report.warn(file, 1, format!("{length} lines; look for the second idea inside"));
    }
}

fn lines_outside_tests(file: &str, text: &str) -> usize {
    if file.split('/').any(|part| part == "tests") {
        return 0;
    }
    text.lines().take_while(|line| *line != "#[cfg(test)]").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(file: &str, text: &str) -> Vec<String> {
        let mut report = Report::default();
        check_file(file, text, &mut report);
        report.failures()
    }

    #[test]
    fn a_file_opens_with_its_purpose() {
        assert!(failures("a.rs", "//! Says so.\n").is_empty());
        assert_eq!(failures("a.rs", "\n//! Late.\n").len(), 1);
    }

    #[test]
    fn names_that_say_nothing_are_refused_for_files_and_folders() {
        for file in ["a/util.rs", "tests/common/mod.rs", "helpers.rs", "core/b.rs"] {
            assert_eq!(failures(file, "//! x\n").len(), 1, "{file}");
        }
        for file in ["a/utility_bill.rs", "score.rs", "commonplace/mod.rs"] {
            assert!(failures(file, "//! x\n").is_empty(), "{file}");
        }
    }

    #[test]
    fn lints_are_expected_rather_than_allowed() {
        let text = "//! x\n#![allow(a)]\n#[expect(b)]\n    #[allow(c)]\n// #[allow(d)]\n";
        let found = failures("a.rs", text);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("a.rs:2:") && found[1].starts_with("a.rs:4:"), "{found:?}");
    }

    #[test]
    fn tests_do_not_count_towards_the_length_of_a_file() {
        let text = "//! x\nfn a() {}\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(lines_outside_tests("src/a.rs", text), 2);
        assert_eq!(lines_outside_tests("tests/a.rs", text), 0);
    }
}
