//! The `options` of an agent step, read by whoever knows them; what nobody read is told.
//!
//! Both spellings are known, `allowed_tools` and `allowedTools`. Values are not judged: the program
//! that gets them knows better what it takes.

use std::collections::{BTreeMap, BTreeSet};

use crate::language::Value;

/// Options that concern how an answer is shown, and no agent.
const NOT_FOR_AGENTS: &[&str] = &["output_format", "verbose", "timeout"];

/// The options of one step.
#[derive(Clone, Debug, Default)]
pub(in crate::agent) struct Options {
    values: BTreeMap<String, Value>,
    read: BTreeSet<String>,
}

impl Options {
    /// Takes the options as the step has them. Those that are `null` are not there.
    pub(in crate::agent) fn new(options: &serde_json::Map<String, Value>) -> Self {
        let given = options.iter().filter(|(_, value)| !value.is_null());
        let values = given.map(|(key, value)| (snake_case(key), value.clone())).collect();
        Options { values, read: BTreeSet::new() }
    }

    /// Sets an option that the step does not have itself.
    pub(in crate::agent) fn set_default(&mut self, key: &str, value: &str) {
        self.values.entry(key.to_owned()).or_insert_with(|| Value::from(value));
    }

    /// Returns the first of `keys` that is there.
    pub(in crate::agent) fn value(&mut self, keys: &[&str]) -> Option<Value> {
        self.read.extend(keys.iter().map(|key| (*key).to_owned()));
        keys.iter().find_map(|key| self.values.get(*key)).cloned()
    }

    /// Returns an option as text; an empty text is none.
    pub(in crate::agent) fn text(&mut self, keys: &[&str]) -> Option<String> {
        self.value(keys).map(|value| as_text(&value)).filter(|text| !text.is_empty())
    }

    /// Returns an option as a list: a list, or parts between commas.
    ///
    /// Commas inside brackets belong to their part: `Bash(git log, git diff),Read` has two parts.
    pub(in crate::agent) fn list(&mut self, keys: &[&str]) -> Vec<String> {
        let parts = match self.value(keys) {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().map(as_text).collect(),
            Some(value) => split_outside_brackets(&as_text(&value)),
        };
        parts.into_iter().filter(|part| !part.is_empty()).collect()
    }

    /// Returns an option as a truth, if it is there.
    pub(in crate::agent) fn flag(&mut self, keys: &[&str]) -> Option<bool> {
        self.value(keys).map(|value| match &value {
            Value::Bool(flag) => *flag,
            Value::String(text) => matches!(text.trim(), "true" | "yes" | "on" | "1"),
            Value::Number(number) => number.as_f64() != Some(0.0),
            _ => true,
        })
    }

    /// Tells whether an option is there and true.
    pub(in crate::agent) fn is_set(&mut self, keys: &[&str]) -> bool {
        self.flag(keys) == Some(true)
    }

    /// Returns the options that nobody has asked for.
    pub(in crate::agent) fn unread(&self) -> Vec<String> {
        let is_unread =
            |key: &&String| !self.read.contains(*key) && !NOT_FOR_AGENTS.contains(&key.as_str());
        self.values.keys().filter(is_unread).cloned().collect()
    }
}

/// Returns a value as it would stand on a command line.
pub(in crate::agent) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn split_outside_brackets(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0_u32);
    for letter in text.chars() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

fn snake_case(key: &str) -> String {
    let mut snake = String::new();
    for letter in key.chars() {
        match letter {
            '-' => snake.push('_'),
            upper if upper.is_ascii_uppercase() => {
                if !snake.is_empty() && !snake.ends_with('_') {
                    snake.push('_');
                }
                snake.push(upper.to_ascii_lowercase());
            }
            other => snake.push(other),
        }
    }
    snake
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn options(value: Value) -> Options {
        Options::new(value.as_object().unwrap())
    }

    #[test]
    fn both_spellings_of_a_name_are_the_same_option() {
        for key in ["allowed_tools", "allowedTools", "allowed-tools"] {
            let mut options = options(json!({ key: "Read" }));
            assert_eq!(options.list(&["allowed_tools"]), ["Read"], "{key}");
        }
    }

    #[test]
    fn a_list_is_a_list_or_parts_between_commas() {
        for (given, parts) in [
            (json!("Read, Edit,,"), vec!["Read", "Edit"]),
            (json!(["Read", "Bash(git log, git diff)"]), vec!["Read", "Bash(git log, git diff)"]),
            (json!("Bash(git log, git diff),Read"), vec!["Bash(git log, git diff)", "Read"]),
            (json!(""), vec![]),
            (json!([]), vec![]),
            (json!(null), vec![]),
        ] {
            assert_eq!(options(json!({ "tools": given })).list(&["tools"]), parts, "{given}");
        }
    }

    #[test]
    fn texts_that_mean_yes_are_yes() {
        for (given, expected) in [
            (json!(true), Some(true)),
            (json!("true"), Some(true)),
            (json!("false"), Some(false)),
            (json!(0), Some(false)),
            (json!(null), None),
        ] {
            assert_eq!(options(json!({ "x": given })).flag(&["x"]), expected, "{given}");
        }
    }

    #[test]
    fn an_option_that_nobody_read_is_told() {
        let mut options = options(json!({ "model": "m", "colour": "red", "output_format": "x" }));
        assert_eq!(options.text(&["model"]).as_deref(), Some("m"));
        assert_eq!(options.unread(), ["colour"]);
    }
}
