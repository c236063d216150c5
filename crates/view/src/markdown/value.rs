//! JSON values as people read them: texts as texts, objects key by key, the rest as indented JSON.
//!
//! Numbers and strings are never read and printed again: what stands on the page is what was there.

use std::borrow::Cow;

use quipu_event::Json;
use serde_json::value::RawValue;

use super::Length;
use super::escape::{code, plain};
use super::fence::fenced;
use crate::answer::{blocks_of, text_of_block};
use crate::fields::{Fields, text_of};
use crate::figure;

/// A text that is longer than this does not stand on a line with its key.
const INLINE: usize = 120;

/// Appends what a tool was given, or other facts: a line for each key.
pub(crate) fn facts(out: &mut String, json: &Json, length: Length) {
    other_facts(out, json, "", length);
}

/// Appends facts but the one under `known`, which stands elsewhere.
pub(crate) fn other_facts(out: &mut String, json: &Json, known: &str, length: Length) {
    if json.is_null() || json.as_str() == "{}" {
        return;
    }
    match serde_json::from_str::<Fields<'_>>(json.as_str()) {
        Ok(Fields(fields)) => fields
            .iter()
            .filter(|(key, _)| known.is_empty() || key != known)
            .for_each(|(key, value)| fact(out, key, value, length)),
        Err(_) => answer(out, json, length),
    }
    end_list(out);
}

/// Appends one fact of a list.
fn fact(out: &mut String, key: &str, value: &RawValue, length: Length) {
    let text = text_of(value.get());
    let is_text = value.get().starts_with('"');
    out.push_str("- ");
    plain(out, key);
    if text.len() <= INLINE && !text.contains(['\n', '\r']) {
        out.push_str(": ");
        code(out, &text);
        out.push('\n');
        return;
    }
    out.push_str(" (");
    figure::bytes(out, text.len() as u64);
    out.push_str(")\n\n");
    if is_text {
        fenced(out, "", &text, length);
    } else {
        fenced(out, "json", &indented(value.get()), length);
    }
}

/// Ends a list of facts with an empty line.
pub(crate) fn end_list(out: &mut String) {
    if !out.ends_with("\n\n") {
        out.push('\n');
    }
}

/// Appends what a tool answered, or any other value, between fences.
pub(crate) fn answer(out: &mut String, json: &Json, length: Length) {
    if json.is_null() {
        return;
    }
    match spoken(json.as_str()) {
        Some(text) => fenced(out, "", &text, length),
        None => fenced(out, "json", &indented(json.as_str()), length),
    }
}

/// Returns the text that a value comes to: a string, or the blocks of text of the tool protocol,
/// bare or under `content`, in lower case or as AWF writes them.
fn spoken(json: &str) -> Option<Cow<'_, str>> {
    if json.starts_with('"') {
        return Some(text_of(json));
    }
    let texts = blocks_of(json)?.into_iter().map(text_of_block);
    let texts: Vec<_> = texts.collect::<Option<_>>()?;
    (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n")))
}

/// Returns valid JSON `text` with a line for each value.
fn indented(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 2);
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        let begin = at;
        at += 1;
        match byte {
            b'"' => {
                at = end_of_string(bytes, at);
                out.push_str(&text[begin..at]);
            }
            b'{' | b'[' if matches!(bytes.get(at), Some(b'}' | b']')) => {
                at += 1;
                out.push_str(&text[begin..at]);
            }
            b'{' | b'[' => {
                depth += 1;
                out.push(char::from(*byte));
                line(&mut out, depth);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(char::from(*byte));
            }
            b',' => {
                out.push(',');
                line(&mut out, depth);
            }
            b':' => out.push_str(": "),
            byte => out.push(char::from(*byte)),
        }
    }
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    // Deep nesting would make more blanks than text.
    (0..depth.min(16)).for_each(|_| out.push_str("  "));
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => return at,
            b'\\' => at += 1,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    #[test]
    fn an_answer_is_its_text_whatever_it_is_wrapped_in() {
        let cases = [
            (r#""a\nb""#, "```\na\nb\n```\n\n"),
            (r#"{"content":[{"type":"text","text":"a"},{"text":"b"}]}"#, "```\na\nb\n```\n\n"),
            (r#"{"Content":[{"Text":"a"}],"IsError":true}"#, "```\na\n```\n\n"),
            (r#"[{"text":"a"}]"#, "```\na\n```\n\n"),
            (r#"[1,{"a":[]}]"#, "```json\n[\n  1,\n  {\n    \"a\": []\n  }\n]\n```\n\n"),
            (
                r#"{"content":[{"type":"image"}]}"#,
                "```json\n{\n  \"content\": [\n    {\n      \"type\": \"image\"\n    }\n  ]\n}\n```\n\n",
            ),
            ("null", ""),
            (r#""\ud800""#, "```\n\u{fffd}\n```\n\n"),
        ];
        for (value, expected) in cases {
            let mut out = String::new();
            answer(&mut out, &json(value), Length::Short);
            assert_eq!(out, expected, "{value}");
        }
    }

    #[test]
    fn facts_are_a_list_in_their_order_and_exact() {
        let mut out = String::new();
        let value = json(r#"{"z":1.50,"a":"x`y","n":12345678901234567890,"t":"l1\nl2"}"#);
        facts(&mut out, &value, Length::Short);
        let expected = "- z: `1.50`\n- a: ``x`y``\n- n: `12345678901234567890`\n- t (5 B)\n\n```\nl1\nl2\n```\n\n";
        assert_eq!(out, expected);
    }
}
