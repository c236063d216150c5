//! The generated parts of `FORMAT.md` equal what the types and the golden lines say.
//!
//! A part stands between `<!-- generated:NAME -->` and `<!-- /generated:NAME -->`, each alone on
//! its line. Everything around the parts is written by people and left alone.

use quipu_event::{Kind, peek};

use crate::report::Report;
use crate::repository::{Mode, Repository};
use crate::type_tables;

const PAGE: &str = "FORMAT.md";
const GOLDEN: &str = "crates/event/tests/golden/v1.jsonl";

/// Compares or rewrites the generated parts.
pub(crate) fn check(
    repository: &Repository,
    mode: Mode,
    report: &mut Report,
) -> anyhow::Result<()> {
    let Some(mut page) = repository.read(PAGE) else {
        report.fail(PAGE, 1, "is missing; write it, with the marks of its generated parts");
        return Ok(());
    };
    let types: Vec<&str> = Kind::ALL.iter().map(Kind::as_str).collect();
    let golden = repository.read(GOLDEN).unwrap_or_default();
    let parts = [
        ("types", type_tables::render(&quipu_event::schema::written_line_schema(), &types)),
        ("example", render_examples(&golden, &types, report)),
    ];
    let mut drift = None;
    for (name, content) in parts {
        match replace_part(&page, name, &content) {
            Some((changed, line)) => {
                if changed != page {
                    drift.get_or_insert(line);
                }
                page = changed;
            }
            None => report.fail(
                PAGE,
                1,
                format!(
                    "has no part `{name}`; add the lines `{}` and `{}` where it belongs",
                    opening(name),
                    closing(name)
                ),
            ),
        }
    }
    repository.settle(PAGE, drift.unwrap_or(1), &page, mode, report)
}

fn opening(name: &str) -> String {
    format!("<!-- generated:{name} -->")
}

fn closing(name: &str) -> String {
    format!("<!-- /generated:{name} -->")
}

/// Puts `content` between the marks of part `name`; also returns the line of the opening mark.
fn replace_part(page: &str, name: &str, content: &str) -> Option<(String, usize)> {
    let (before, rest) = page.split_once(&(opening(name) + "\n"))?;
    let (_, after) = rest.split_once(&closing(name))?;
    let (open, close) = (opening(name), closing(name));
    let line = before.lines().count() + 1;
    Some((format!("{before}{open}\n\n{}\n\n{close}{after}", content.trim()), line))
}

/// Prints the first golden line of every type.
fn render_examples(golden: &str, types: &[&str], report: &mut Report) -> String {
    let mut out = String::from("```json\n");
    let mut missing = Vec::new();
    for kind in types {
        let is_of_type = |line: &&str| peek(line.as_bytes()).is_some_and(|seen| seen.kind == *kind);
        match golden.lines().find(is_of_type) {
            Some(line) => {
                out.push_str(line);
                out.push('\n');
            }
            None => missing.push(*kind),
        }
    }
    if !missing.is_empty() {
        let missing = missing.join(", ");
        report.fail(GOLDEN, 1, format!("has no line for these types; add one each: {missing}"));
    }
    out.push_str("```");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_and_the_rest_left_alone() {
        let page = "# Top\n<!-- generated:a -->\nold\n<!-- /generated:a -->\nrest\n";
        let expected = "# Top\n<!-- generated:a -->\n\nnew\n\n<!-- /generated:a -->\nrest\n";
        let (once, line) = replace_part(page, "a", "new\n").unwrap();
        assert_eq!((once.as_str(), line), (expected, 2));
        assert_eq!(replace_part(&once, "a", "new\n").unwrap().0, expected);
        assert_eq!(replace_part(page, "b", "new"), None);
    }

    #[test]
    fn examples_follow_the_order_of_the_types_and_miss_none() {
        let golden = "{\"seq\":1,\"run_id\":\"r\",\"type\":\"b\"}\n\
            {\"seq\":2,\"run_id\":\"r\",\"type\":\"a\"}\n{\"seq\":3,\"run_id\":\"r\",\"type\":\"b\"}\n";
        let mut report = Report::default();
        let text = render_examples(golden, &["a", "b", "c", "d"], &mut report);
        let numbers: Vec<char> = text.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(numbers, ['2', '1']);
        assert!(report.failures()[0].ends_with("add one each: c, d"));
    }
}
