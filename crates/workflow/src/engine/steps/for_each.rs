//! What a `for_each` goes over: a list in the file, a JSON list, or parts between commas.

use super::super::scope::StepScope;
use super::{told, value};
use crate::definition::{ForEachStep, Items};
use crate::language::Value;

pub(super) fn items(looped: &ForEachStep, scope: &StepScope<'_>) -> Result<Vec<Value>, String> {
    match &looped.items {
        Items::List(items) => items.iter().map(|item| value(item, scope)).collect(),
        Items::Template(template) => match template.value(scope).map_err(|error| told(&error))? {
            Value::Array(items) => Ok(items),
            Value::String(text) => Ok(split(&text)),
            other => Ok(split(&other.to_string())),
        },
    }
}

/// Reads a list out of a text. A text of nothing is a list of nothing.
fn split(text: &str) -> Vec<Value> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    match serde_json::from_str(text) {
        Ok(Value::Array(items)) => items,
        _ => text.split(',').map(|part| Value::from(part.trim())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::split;

    #[test]
    fn items_are_a_json_list_or_parts_between_commas() {
        for (text, expected) in [
            ("", json!([])),
            (" \n", json!([])),
            ("[]", json!([])),
            (r#"["a", 1, {"b": 2}]"#, json!(["a", 1, { "b": 2 }])),
            ("a, b ,c", json!(["a", "b", "c"])),
            ("one", json!(["one"])),
            (r#"{"a": 1}"#, json!([r#"{"a": 1}"#])),
        ] {
            assert_eq!(json!(split(text)), expected, "{text:?}");
        }
    }
}
