//! The value of a pair in quotes, such as `"password": "…"`, as far as its own closing quote.
//!
//! A quote inside the value is escaped, and text within text is escaped once more on each level: in
//! `{\"password\": \"a\\\"b\"}` the value is `a\\\"b`. No regular expression can count that.

use regex::Regex;

use super::harmless::{is_nothing, is_placeholder};
use super::names::pattern_of_all;

/// Returns the pattern of how such a value begins: behind `password: "`, or as the argument behind
/// a flag, as in `--password "` and in `["--password", "`.
pub(super) fn opening() -> String {
    let name = pattern_of_all();
    let pair = format!(r#"{name}\\*["']?\s*(?:=>|=|:)"#);
    let flag = format!(r#"--[A-Za-z0-9_-]*?{name}(?:\\*["']\s*,|[ \t])"#);
    format!(r#"(?:{pair}|{flag})\s*(?<escape>\\*)(?<quote>["'])"#)
}

/// Returns `text` with `mark` in place of each such value and how many there were; nothing when
/// there were none. `opening` is the pattern of [`opening`].
pub(super) fn hide(text: &str, opening: &Regex, mark: &str) -> Option<(String, u64)> {
    let mut masked = String::new();
    let mut hidden = 0;
    let (mut kept, mut from) = (0, 0);
    while let Some(found) = opening.captures_at(text, from) {
        let (Some(escape), Some(quote)) = (found.name("escape"), found.name("quote")) else {
            break;
        };
        let start = quote.end();
        let end = start + value_length(&text[start..], quote.as_str(), escape.len());
        from = end.max(start);
        let value = &text[start..end];
        let is_flag = value.starts_with("--");
        if value.is_empty() || is_flag || is_nothing(value) || is_placeholder(value) {
            continue;
        }
        masked.push_str(&text[kept..start]);
        masked.push_str(mark);
        (kept, hidden) = (end, hidden + 1);
    }
    masked.push_str(&text[kept..]);
    (hidden > 0).then_some((masked, hidden))
}

/// Returns how long the value is that `text` begins with. One that was cut off goes on to the end.
fn value_length(text: &str, quote: &str, escape: usize) -> usize {
    text.match_indices(quote)
        .find_map(|(at, _)| {
            let before = &text[..at];
            let backslashes = before.len() - before.trim_end_matches('\\').len();
            closing_escape(backslashes, escape).map(|own| at - own)
        })
        .unwrap_or(text.len())
}

/// Returns how many of the backslashes before a quote belong to it, if it closes a value whose
/// opening quote has `escape` of them, or closes a text around it.
fn closing_escape(mut backslashes: usize, escape: usize) -> Option<usize> {
    let mut own = 0;
    loop {
        if backslashes.is_multiple_of(2) {
            return Some(own);
        }
        if own >= escape {
            return None;
        }
        // One level further in: each pair was one backslash, and the odd one escaped the quote.
        (backslashes, own) = (backslashes / 2, 2 * own + 1);
    }
}
