//! Values for a workflow's inputs: made what they should be, and checked.
//!
//! Opens no file: whether one is there is asked of the caller.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Map;

use super::suggest::one_of;
use super::{InputDeclaration, InputType};
use crate::language::Value;

/// A value that a run is given.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenValue {
    /// As text, from a command line or a file: it becomes what the input takes.
    Text(String),
    /// As it is.
    Value(Value),
}

/// What is wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("input `{input}` {message}; expected {expected}")]
pub struct InputProblem {
    /// The input.
    pub input: String,
    /// What is wrong, as the rest of a sentence about it.
    pub message: String,
    /// What was expected.
    pub expected: String,
}

/// Checks what a run is given, and returns the value of each input.
///
/// An input that is optional, has no default and was not given is left out: a text that uses it
/// fails. Values that no input takes are kept. All problems are told at once.
pub fn check_inputs(
    declared: &[InputDeclaration],
    mut given: BTreeMap<String, GivenValue>,
    file_exists: &dyn Fn(&Path) -> bool,
) -> Result<Map<String, Value>, Vec<InputProblem>> {
    let mut values = Map::new();
    let mut problems = Vec::new();
    for input in declared {
        if !given.contains_key(&input.name) && stands_for_none(input) {
            values.insert(input.name.clone(), Value::from(""));
            continue;
        }
        let value = match given.remove(&input.name) {
            Some(GivenValue::Text(text)) if input.required && text.is_empty() => {
                Err(wrong(input, "is empty", type_words(input)))
            }
            Some(GivenValue::Text(text)) => coerce_text(input, &text),
            Some(GivenValue::Value(value)) => coerce(input, value),
            None => match &input.default {
                Some(default) => coerce(input, default.clone()),
                None if input.required => Err(wrong(input, "is missing", type_words(input))),
                None => continue,
            },
        };
        match value {
            Ok(value) => {
                problems.extend(check_value(input, &value, Some(file_exists)));
                values.insert(input.name.clone(), value);
            }
            Err(problem) => problems.push(problem),
        }
    }
    for (name, value) in given {
        let value = match value {
            GivenValue::Text(text) => Value::String(text),
            GivenValue::Value(value) => value,
        };
        values.insert(name, value);
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

/// Tells what is wrong with an input's own default.
pub(super) fn check_default(input: &InputDeclaration) -> Vec<InputProblem> {
    let Some(default) = &input.default else { return Vec::new() };
    if stands_for_none(input) {
        return Vec::new();
    }
    match coerce(input, default.clone()) {
        Ok(value) => check_value(input, &value, None),
        Err(problem) => vec![problem],
    }
}

/// Optional inputs often have an empty text for "none": it is not held to the rules.
fn stands_for_none(input: &InputDeclaration) -> bool {
    !input.required && input.default.as_ref().and_then(Value::as_str) == Some("")
}

fn coerce(input: &InputDeclaration, value: Value) -> Result<Value, InputProblem> {
    match (input.input_type, value) {
        (InputType::Any, value) => Ok(value),
        (InputType::String, value @ Value::String(_)) => Ok(value),
        (InputType::String, value @ (Value::Number(_) | Value::Bool(_))) => {
            Ok(Value::String(value.to_string()))
        }
        (InputType::Integer, Value::Number(number)) if number.as_f64().is_some_and(is_whole) => {
            Ok(number.as_i64().map_or(Value::Number(number), Value::from))
        }
        (InputType::Number, value @ Value::Number(_))
        | (InputType::Boolean, value @ Value::Bool(_))
        | (InputType::Array, value @ Value::Array(_)) => Ok(value),
        (InputType::Integer | InputType::Number | InputType::Boolean, Value::String(text))
        | (InputType::Array, Value::String(text)) => coerce_text(input, &text),
        (_, value) => Err(wrong(input, &format!("is {}", shown(&value)), type_words(input))),
    }
}

fn coerce_text(input: &InputDeclaration, text: &str) -> Result<Value, InputProblem> {
    let trimmed = text.trim();
    let value = match input.input_type {
        InputType::Any | InputType::String => Some(Value::from(text)),
        InputType::Integer => trimmed.parse::<i64>().ok().map(Value::from),
        InputType::Number => number(trimmed),
        InputType::Boolean => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(true.into()),
            "false" | "0" | "no" | "off" => Some(false.into()),
            _ => None,
        },
        InputType::Array => array(trimmed),
    };
    value.ok_or_else(|| wrong(input, &format!("is {text:?}"), type_words(input)))
}

fn number(text: &str) -> Option<Value> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    serde_json::Number::from_f64(text.parse().ok()?).map(Value::Number)
}

fn array(text: &str) -> Option<Value> {
    if text.starts_with('[') {
        return serde_json::from_str(text).ok().filter(Value::is_array);
    }
    if text.is_empty() {
        return Some(Value::Array(Vec::new()));
    }
    Some(text.split(',').map(|part| Value::from(part.trim())).collect())
}

/// Holds a value to the rules of its input. Files are looked for only if someone can.
fn check_value(
    input: &InputDeclaration,
    value: &Value,
    file_exists: Option<&dyn Fn(&Path) -> bool>,
) -> Vec<InputProblem> {
    let rules = &input.validation;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut problems = Vec::new();
    let mut say = |message: String, expected: String| {
        problems.push(wrong(input, &message, expected));
    };
    if let Some(pattern) = rules.pattern.as_ref().filter(|pattern| !pattern.is_match(&text)) {
        say(format!("is {text:?}"), format!("something that matches `{pattern}`"));
    }
    if let Some(allowed) = &rules.allowed
        && !allowed.iter().any(|one| one == value || plain(one) == text)
    {
        let allowed: Vec<String> = allowed.iter().map(plain).collect();
        say(format!("is {text:?}"), one_of(allowed.iter().map(String::as_str)));
    }
    let figure = value.as_f64().or_else(|| text.trim().parse().ok());
    if rules.min.is_some() || rules.max.is_some() {
        match figure {
            None => say(format!("is {text:?}"), "a number".to_owned()),
            Some(figure) => {
                if let Some(min) = rules.min.filter(|min| figure < *min) {
                    say(format!("is {figure}"), format!("at least {min}"));
                }
                if let Some(max) = rules.max.filter(|max| figure > *max) {
                    say(format!("is {figure}"), format!("at most {max}"));
                }
            }
        }
    }
    if rules.file_exists && file_exists.is_some_and(|exists| !exists(Path::new(&text))) {
        say(format!("is {text:?}, and there is no such file"), "the path of a file".to_owned());
    }
    if !rules.file_extension.is_empty() && !has_extension(&text, &rules.file_extension) {
        let known = one_of(rules.file_extension.iter().map(String::as_str));
        say(format!("is {text:?}"), format!("a file name that ends in {known}"));
    }
    problems
}

fn has_extension(name: &str, allowed: &[String]) -> bool {
    let name = name.to_ascii_lowercase();
    allowed.iter().any(|end| {
        let end = end.trim_start_matches('.').to_ascii_lowercase();
        name.strip_suffix(&end).is_some_and(|stem| stem.ends_with('.'))
    })
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is_whole(number: f64) -> bool {
    number.fract() == 0.0
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 {
        return text;
    }
    text.chars().take(59).chain(['…']).collect()
}

fn type_words(input: &InputDeclaration) -> String {
    match input.input_type {
        InputType::Any => "a value",
        InputType::String => "a text",
        InputType::Integer => "a whole number",
        InputType::Number => "a number",
        InputType::Boolean => "`true` or `false`",
        InputType::Array => "a list: JSON, or parts between commas",
    }
    .to_owned()
}

fn wrong(input: &InputDeclaration, message: &str, expected: String) -> InputProblem {
    InputProblem { input: input.name.clone(), message: message.to_owned(), expected }
}
