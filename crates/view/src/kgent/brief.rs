//! Large things in few words: a text, a tool's arguments, a tool's answer.
//!
//! Nothing here decides whether something is told, only how much of it.

use quipu_event::Json;
use serde_json::{Map, Value};

use crate::plain;

/// The longest summary, in characters.
pub(super) const SUMMARY: usize = 200;
/// So many arguments of a call are told.
const MOST_FIELDS: usize = 32;

/// Returns a value to be told in few words. A number that cannot be held is its text, and so is what
/// nests too deep.
pub(super) fn whole(json: &Json) -> Value {
    let text = plain::text(json.as_str());
    serde_json::from_str(&text).unwrap_or_else(|_| text.into())
}

/// Returns `text` on one line of at most `most` characters; one that was cut ends in `…`.
pub(super) fn clip(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    // A character becomes at most one, so that more of the text is never needed.
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty());
    for word in words {
        let gap = usize::from(!out.is_empty());
        let room = most.saturating_sub(length + gap);
        let letters = word.chars().take(room + 1).count();
        if gap == 1 && room > 0 {
            out.push(' ');
        }
        if letters > room {
            out.extend(word.chars().take(room));
            return cut(&out, most);
        }
        out.push_str(word);
        length += gap + letters;
    }
    out
}

fn cut(text: &str, most: usize) -> String {
    let mut kept: String = text.chars().take(most.saturating_sub(1)).collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Returns the value itself if it is short, else its beginning and its size.
pub(super) fn value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(sized(text, SUMMARY)),
        Value::Array(_) | Value::Object(_) => {
            let spelled = value.to_string();
            if spelled.len() <= SUMMARY { value.clone() } else { sized(&spelled, SUMMARY).into() }
        }
        small => small.clone(),
    }
}

/// Returns the fields of an object, each in few words. What is no object stands under `input`.
pub(super) fn fields(whole: &Value) -> Map<String, Value> {
    let Value::Object(fields) = whole else {
        let alone = (!whole.is_null()).then(|| ("input".to_owned(), value(whole)));
        return alone.into_iter().collect();
    };
    let kept = fields.iter().take(MOST_FIELDS);
    let mut told: Map<String, Value> = kept.map(|(key, v)| (clip(key, 80), value(v))).collect();
    if fields.len() > MOST_FIELDS {
        told.insert("fields_left_out".to_owned(), (fields.len() - MOST_FIELDS).into());
    }
    told
}

/// Returns a text as it is if it is short, else its beginning and how long it is.
pub(super) fn sized(text: &str, most: usize) -> String {
    let is_long = text.chars().nth(most).is_some();
    if !is_long {
        return text.to_owned();
    }
    let size = format!(" ({} bytes)", text.len());
    clip(text, most.saturating_sub(size.len())) + &size
}

/// Returns what a tool answered, as text, whichever structure it is in.
pub(super) fn answer(output: &Value) -> Option<String> {
    match output {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            Some(if texts.is_empty() { output.to_string() } else { texts.join("\n") })
        }
        Value::Object(fields) => {
            let telling = ["stdout", "output", "content", "Content", "text", "result", "stderr"];
            let told = telling.iter().filter_map(|key| fields.get(*key));
            let told = told.filter(|part| part.as_str() != Some("") && !part.is_null());
            Some(told.map(answer).next().flatten().unwrap_or_else(|| output.to_string()))
        }
        small => Some(small.to_string()),
    }
}

/// Returns how long something took, for people.
pub(super) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_clipped_text_is_one_line_and_never_too_long() {
        let cases = [
            ("  a\n\tb  ", 10, "a b"),
            ("", 5, ""),
            ("abcdef", 6, "abcdef"),
            ("abcdefg", 6, "abcde…"),
            ("ab cd ef", 6, "ab cd…"),
            ("ä ö ü ß", 5, "ä ö…"),
            ("a\u{1b}[31mb", 20, "a [31mb"),
        ];
        for (text, most, expected) in cases {
            assert_eq!(clip(text, most), expected, "{text:?}");
        }
        for most in 1..40 {
            let long = "word ".repeat(100) + &"x".repeat(1000);
            assert!(clip(&long, most).chars().count() <= most);
            assert!(sized(&long, most + 20).chars().count() <= most + 20);
        }
    }

    #[test]
    fn an_answer_is_found_in_any_structure() {
        let cases = [
            (json!(null), None),
            (json!("a"), Some("a")),
            (json!([{"type": "text", "text": "a"}, {"text": "b"}]), Some("a\nb")),
            (json!({"Content": [{"text": "a"}], "IsError": false}), Some("a")),
            (json!({"stdout": "", "stderr": "no"}), Some("no")),
            (json!({"n": 1}), Some(r#"{"n":1}"#)),
            (json!([1]), Some("[1]")),
        ];
        for (output, expected) in cases {
            assert_eq!(answer(&output).as_deref(), expected);
        }
    }
}
