//! Each promise in a crate's opening essay has a test that says the same sentence.
//!
//! Whether the test really shows what its name says is for a reader to judge, not for this file.

use crate::report::Report;
use crate::repository::Repository;

/// Crates that promise nothing of their own: one wires the others, one serves their tests.
const EXEMPT: [&str; 2] = ["cli", "testkit"];

/// Compares the promises of every crate with its tests.
pub(crate) fn check(repository: &Repository, report: &mut Report) -> anyhow::Result<()> {
    for folder in repository.crates()? {
        let essay = format!("crates/{folder}/src/lib.rs");
        let promises = repository.read(&essay).map(|text| promises_in(&text)).unwrap_or_default();
        if promises.is_empty() && !EXEMPT.contains(&folder.as_str()) {
            report.fail(
                &essay,
                1,
                "promises nothing; add a `//! # Promises` section with one sentence per bullet",
            );
        }
        let sources = sources_of(repository, &folder)?;
        for promise in promises {
            let name = slug(&promise.sentence);
            match sources.iter().find_map(|text| standing_of(&name, text)) {
                Some(Standing::Runs) => {}
                Some(Standing::Ignored) => report.fail(
                    &essay,
                    promise.line,
                    format!("the test of this promise is ignored; let it run: fn {name}"),
                ),
                Some(Standing::NoTest) | None => report.fail(
                    &essay,
                    promise.line,
                    format!("promise without a test; write `#[test] fn {name}`, or reword it"),
                ),
            }
        }
    }
    Ok(())
}

/// One bullet under `# Promises`.
#[derive(Debug, PartialEq)]
struct Promise {
    line: usize,
    sentence: String,
}

/// What stands above a function that has the name of a promise.
#[derive(Debug, PartialEq)]
enum Standing {
    Runs,
    Ignored,
    NoTest,
}

fn sources_of(repository: &Repository, folder: &str) -> anyhow::Result<Vec<String>> {
    let files = repository.files(&format!("crates/{folder}"))?.into_iter();
    Ok(files.filter(|file| file.ends_with(".rs")).filter_map(|f| repository.read(&f)).collect())
}

/// Returns the bullets of the section; one may wrap over several lines.
fn promises_in(source: &str) -> Vec<Promise> {
    let mut promises: Vec<Promise> = Vec::new();
    let mut inside_bullet = false;
    let essay =
        source.lines().enumerate().filter_map(|(i, l)| Some((i + 1, l.strip_prefix("//!")?)));
    let section = essay
        .skip_while(|(_, line)| line.trim() != "# Promises")
        .skip(1)
        .take_while(|(_, line)| !line.trim().starts_with("# "));
    for (line, text) in section {
        let text = text.trim();
        if let Some(start) = text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")) {
            promises.push(Promise { line, sentence: start.to_owned() });
            inside_bullet = true;
        } else if text.is_empty() {
            inside_bullet = false;
        } else if let (true, Some(promise)) = (inside_bullet, promises.last_mut()) {
            promise.sentence.push(' ');
            promise.sentence.push_str(text);
        }
    }
    promises
}

/// Returns the sentence as a function name: a-z and 0-9, every run of others one `_`.
fn slug(sentence: &str) -> String {
    let lower = sentence.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// Looks for the function and reads the attributes above it.
fn standing_of(name: &str, source: &str) -> Option<Standing> {
    let head = format!("fn {name}(");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let begins = |line: &&str| line.trim_start_matches("async ").starts_with(&head);
    let at = lines.iter().position(|line| begins(line) || line.ends_with(&head))?;
    let above = lines[..at].iter().rev();
    let attributes: Vec<&&str> = above
        .take_while(|line| line.starts_with("#[") || line.starts_with("//"))
        .filter(|line| line.starts_with("#["))
        .collect();
    Some(if attributes.iter().any(|line| line.starts_with("#[ignore")) {
        Standing::Ignored
    } else if attributes.iter().any(|line| is_test(line)) {
        Standing::Runs
    } else {
        Standing::NoTest
    })
}

fn is_test(attribute: &str) -> bool {
    attribute == "#[test]" || attribute.starts_with("#[tokio::test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bullets_may_wrap_and_end_at_a_blank_line_or_heading() {
        let source = "//! A crate.\n//!\n//! - not a promise\n//!\n//! # Promises\n//!\n\
            //! We mean these:\n//! - One line\n//!   goes on.\n//! * Two.\n//!\n//! Then prose.\n\
            //!\n//! ## Details\n//! - Three.\n//! # Refusals\n//! - Four.\nfn x() {}\n";
        let found: Vec<_> = promises_in(source).into_iter().map(|p| (p.line, p.sentence)).collect();
        let expected = [(8, "One line goes on."), (10, "Two."), (15, "Three.")];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn a_slug_keeps_only_letters_and_digits() {
        let cases = [
            ("Lines on disk are in order.", "lines_on_disk_are_in_order"),
            ("`*.started` – closed, as `aborted`!", "started_closed_as_aborted"),
            ("A reader's 2 eyes", "a_reader_s_2_eyes"),
        ];
        for (sentence, expected) in cases {
            assert_eq!(slug(sentence), expected);
        }
    }

    #[test]
    fn only_a_test_that_runs_stands_for_a_promise() {
        let cases = [
            ("#[test]\nfn a_b() {", Some(Standing::Runs)),
            ("#[tokio::test(flavor = \"multi_thread\")]\nasync fn a_b() {", Some(Standing::Runs)),
            (
                "    /// Why.\n    #[test]\n    // How.\n    fn a_b(x in any::<u8>()) {",
                Some(Standing::Runs),
            ),
            ("#[test]\n#[ignore = \"slow\"]\nfn a_b() {", Some(Standing::Ignored)),
            ("#[test]\n\nfn x() {}\nfn a_b() {", Some(Standing::NoTest)),
            ("#[test]\nfn a_b_c() {", None),
        ];
        for (source, expected) in cases {
            assert_eq!(standing_of("a_b", source), expected, "{source}");
        }
    }
}
