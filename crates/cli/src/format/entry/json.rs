//! JSON values as people read them.

use std::collections::BTreeMap;

use quipu_event::Json;
use serde_json::{Map, Value};

use super::Part;

/// How long an object may be and still stand on one line.
const INLINE: usize = 100;

/// Returns the value as text: a string as itself, anything else as compact JSON, `null` as
/// nothing.
pub(super) fn text_of(json: &Json) -> String {
    json.decode().map_or_else(|_| json.as_str().to_owned(), |value| text_of_value(&value))
}

fn text_of_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
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
    match json.decode::<BTreeMap<String, Json>>() {
        Ok(object) => object
            .into_iter()
            .map(|(key, value)| Part::output(text_of(&value)).labelled(key))
            .collect(),
        Err(_) => vec![Part::output(text_of(json))],
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
    let Ok(value) = json.decode::<Value>() else { return json.as_str().to_owned() };
    let blocks = match &value {
        Value::Object(object) => either(object, "content", "Content"),
        other => Some(other),
    };
    match blocks {
        Some(Value::Array(blocks)) => {
            let has_text = blocks.iter().any(|block| text_of_block(block).is_some());
            if !has_text {
                return value.to_string();
            }
            let part =
                |block| text_of_block(block).map_or_else(|| text_of_value(block), str::to_owned);
            blocks.iter().map(part).collect::<Vec<_>>().join("\n")
        }
        _ => text_of_value(&value),
    }
}

fn text_of_block(block: &Value) -> Option<&str> {
    either(block.as_object()?, "text", "Text")?.as_str()
}

fn either<'a>(object: &'a Map<String, Value>, one: &str, other: &str) -> Option<&'a Value> {
    object.get(one).or_else(|| object.get(other))
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
        ];
        for (json, expected) in cases {
            assert_eq!(answer(&Json::parse(json).unwrap()), expected, "{json}");
        }
    }
}
