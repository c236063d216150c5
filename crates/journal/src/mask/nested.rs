//! Where in a text JSON stands: all of it, from a place on, or line by line.
//!
//! Output of programs is often JSON, and so is a foreign record; in its strings a secret may be
//! spelled with escapes. Each byte is read a few times at most, whatever the text.

use std::ops::Range;

use serde_json::value::RawValue;

/// JSON in a text.
pub(super) enum Nested {
    /// The whole text is one value.
    All,
    /// These parts of it are; there may be none.
    Parts(Vec<Range<usize>>),
}

/// Finds the JSON in a text.
pub(super) fn find(text: &str) -> Nested {
    match value_in(text) {
        Some(part) if part == trimmed(text) => Nested::All,
        Some(part) if text[part.clone()].contains('\n') => Nested::Parts(vec![part]),
        _ => Nested::Parts(values_of_lines(text)),
    }
}

fn values_of_lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut parts = Vec::new();
    for line in text.split_inclusive('\n') {
        parts.extend(value_in(line).map(|part| start + part.start..start + part.end));
        start += line.len();
    }
    parts
}

/// Finds the object or array that a text has, with anything but JSON before and behind it.
fn value_in(text: &str) -> Option<Range<usize>> {
    let between = |open: char, close: char| {
        let part = text.find(open)?..text.rfind(close)? + 1;
        (part.len() > 2).then_some(part)
    };
    let (object, array) = (between('{', '}'), between('[', ']'));
    let outer_first = match (&object, &array) {
        (Some(one), Some(other)) if other.start < one.start => [array, object],
        _ => [object, array],
    };
    outer_first.into_iter().flatten().find(|part| {
        text.get(part.clone()).is_some_and(|part| serde_json::from_str::<&RawValue>(part).is_ok())
    })
}

fn trimmed(text: &str) -> Range<usize> {
    let end = text.trim_ascii_end().len();
    text.len() - text.trim_ascii_start().len()..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_as_a_whole_behind_a_text_and_in_lines() {
        let cases: [(&str, &[&str]); 8] = [
            ("no json {here}", &[]),
            ("log: {\"a\":\n [1]} end", &["{\"a\":\n [1]}"]),
            ("[INFO] {\"a\":1}", &["{\"a\":1}"]),
            ("{\"a\":1}\n{\"b\":2}\n", &["{\"a\":1}", "{\"b\":2}"]),
            ("data: {\"a\":1}\n\ndata: [DONE]\ndata: [\"b\"]", &["{\"a\":1}", "[\"b\"]"]),
            ("}{", &[]),
            ("[] {}", &[]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            let Nested::Parts(parts) = find(text) else { panic!("{text} is no JSON") };
            let found: Vec<&str> = parts.into_iter().map(|part| &text[part]).collect();
            assert_eq!(found, expected, "{text}");
        }
        for text in ["{\"a\":1}", " [\"a\", {}]\r\n"] {
            assert!(matches!(find(text), Nested::All), "{text}");
        }
    }
}
