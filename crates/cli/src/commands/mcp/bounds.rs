//! How much an answer may say, and how what is too long is shortened. Where to go on is its caller's to say.

use serde_json::Value;

/// How long an answer may be, in bytes, but for a note at its end.
pub(super) const ANSWER: usize = 64 * 1024;
/// How long a text may be that is said once more as a structure, and how long that structure.
///
/// It is all or nothing: some clients show a model the structure and nothing else, so one that has
/// only a part of the text would hide the rest.
pub(super) const EITHER: usize = ANSWER / 2;
/// How much of one event is shown among others.
pub(super) const EVENT: usize = 8 * 1024;

/// Cuts a text, and says how much is missing.
pub(super) fn cut(text: &mut String, longest: usize) -> bool {
    if text.len() <= longest {
        return false;
    }
    let whole = text.len();
    let end = text.floor_char_boundary(longest);
    text.truncate(end);
    text.push_str(&format!(" […{} of {whole} bytes left out]", whole - end));
    true
}

/// Shortens the texts inside a value until it is no longer than allowed, and tells whether it had to.
pub(super) fn shorten(value: &mut Value, longest: usize) -> bool {
    let whole = value.to_string().len();
    if whole <= longest {
        return false;
    }
    for text in [longest / 4, longest / 16, 128] {
        cut_texts(value, text);
        if value.to_string().len() <= longest {
            return true;
        }
    }
    // It is long by its many parts: what is left is how it begins.
    let mut text = value.to_string();
    cut(&mut text, longest / 2);
    *value = Value::from(text);
    true
}

fn cut_texts(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) => drop(cut(text, longest)),
        Value::Array(items) => items.iter_mut().for_each(|item| cut_texts(item, longest)),
        Value::Object(fields) => fields.values_mut().for_each(|item| cut_texts(item, longest)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_shortened_in_its_longest_texts_and_stays_what_it_is() {
        let mut value = json!({"name": "Read", "output": "ü".repeat(50_000), "n": 3});
        assert!(shorten(&mut value, EVENT));
        assert!(value.to_string().len() <= EVENT);
        assert_eq!((&value["name"], &value["n"]), (&json!("Read"), &json!(3)));
        assert!(value["output"].as_str().unwrap().contains("of 100000 bytes left out"));
        let mut small = json!({"a": 1});
        assert!(!shorten(&mut small, EVENT));
    }

    #[test]
    fn a_value_of_very_many_parts_is_cut_as_text() {
        let mut value = json!((0..50_000).collect::<Vec<u64>>());
        assert!(shorten(&mut value, EVENT));
        assert!(value.to_string().len() <= EVENT, "{}", value.to_string().len());
    }
}
