//! JSON values as people read them.

use std::borrow::Cow;

use quipu_event::Json;
use quipu_view::answer::{blocks_of, text_of_block};
use quipu_view::fields::{self, Fields};
use serde_json::value::RawValue;

use super::Part;

/// How long an object may be and still stand on one line.
const INLINE: usize = 100;

/// Returns the value as text: a string as itself, `null` as nothing, anything else as its JSON.
pub(super) fn text_of(json: &Json) -> String {
    text_of_value(json.as_str())
}

fn text_of_value(json: &str) -> String {
    if json == "null" { String::new() } else { fields::text_of(json).into_owned() }
}

/// Returns the value in one piece if it is short, else key by key, so that the texts inside keep
/// their lines.
pub(super) fn input_parts(json: &Json) -> (String, Vec<Part>) {
    if json.is_null() {
        return (String::new(), Vec::new());
    }
    let short = json.as_str().len() <= INLINE && !json.as_str().contains("\\n");
    if short || !json.is_object() {
        return (text_of(json), Vec::new());
    }
    (String::new(), labelled_parts(json))
}

/// Returns an object key by key, and anything else as one part.
pub(super) fn labelled_parts(json: &Json) -> Vec<Part> {
    let part = |value: &str| Part::output(text_of_value(value));
    match serde_json::from_str(json.as_str()) {
        Ok(Fields(fields)) => fields
            .into_iter()
            .map(|(key, value)| part(value.get()).labelled(key.into_owned()))
            .collect(),
        Err(_) => vec![part(json.as_str())],
    }
}

/// Returns what a tool answered: its text, or an object key by key if it is long.
pub(super) fn answer_parts(json: &Json) -> Vec<Part> {
    let text = answer(json);
    if text.starts_with('{') && json.is_object() {
        let (inline, parts) = input_parts(json);
        return if inline.is_empty() { parts } else { vec![Part::output(inline)] };
    }
    vec![Part::output(text)]
}

/// Returns the text of what a tool answered.
///
/// Plain text, `{"content": [{"type": "text", "text": …}]}` of the tool protocol, the same in
/// PascalCase as AWF writes it, and bare lists of blocks are taken apart; the rest is JSON, as is
/// whatever stands between texts and is none.
fn answer(json: &Json) -> String {
    let blocks = blocks_of(json.as_str()).unwrap_or_default();
    if !blocks.iter().any(|block| text_of_block(block).is_some()) {
        return text_of(json);
    }
    let part = |block: &RawValue| {
        text_of_block(block).map_or_else(|| text_of_value(block.get()), Cow::into_owned)
    };
    blocks.into_iter().map(part).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_text_whatever_it_is_wrapped_in() {
        let cases = [
            ("null", ""),
            (r#""a\nb""#, "a\nb"),
            (r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#, "a\nb"),
            (r#"{"Content":[{"Type":"text","Text":"a"}],"IsError":false}"#, "a"),
            (r#"[{"type":"text","text":"a"}]"#, "a"),
            (
                r#"{"Content":[{"Type":"text","Text":"a"},{"Type":"image"}],"IsError":true}"#,
                "a\n{\"Type\":\"image\"}",
            ),
            (r#"[1,2]"#, "[1,2]"),
            (r#"{"content":[{"type":"image"}]}"#, r#"{"content":[{"type":"image"}]}"#),
            (r#"{"ok":true}"#, r#"{"ok":true}"#),
            (r#"[{"text":"a"},null,"b",{"text":1}]"#, "a\n\nb\n{\"text\":1}"),
        ];
        for (json, expected) in cases {
            assert_eq!(answer(&Json::parse(json).unwrap()), expected, "{json}");
        }
    }

    #[test]
    fn what_is_shown_of_a_value_is_what_was_written() {
        let values = r#"{"z":1.50,"n":123456789012345678901234567890,"e":1E+2,"z":null}"#;
        let json = Json::parse(values).unwrap();
        assert_eq!(input_parts(&json), (values.to_owned(), Vec::new()));
        let labelled = |label: &str, text: &str| Part::output(text).labelled(label);
        let expected = [
            labelled("z", "1.50"),
            labelled("n", "123456789012345678901234567890"),
            labelled("e", "1E+2"),
            labelled("z", ""),
        ];
        assert_eq!(labelled_parts(&json), expected);
    }
}
