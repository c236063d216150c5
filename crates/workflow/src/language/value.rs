//! What a value is as text, as a truth and beside another: the rules both languages share.
//!
//! In a comparison of a text with a number or a truth, the text counts as one if it reads as one
//! (spaces around it do not matter). Two texts are always compared as texts.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Number;

use super::Value;

/// Returns the text of a value: null is empty, lists and objects are compact JSON.
pub(super) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        Value::Number(number) => Cow::Owned(number_text(number)),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => Cow::Owned(value.to_string()),
    }
}

/// Tells whether a value holds as it is: not null, false, 0, or empty.
pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// Returns the number that a value is or reads as.
pub(super) fn as_number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => read_number(text),
        _ => None,
    }
}

/// Returns the truth that a text reads as.
pub(super) fn read_truth(text: &str) -> Option<bool> {
    let text = text.trim();
    [("true", true), ("false", false)]
        .into_iter()
        .find(|(name, _)| text.eq_ignore_ascii_case(name))
        .map(|(_, truth)| truth)
}

/// Returns the number that a text reads as: `3`, `-2.5`, `1e3`, but not `inf`.
pub(super) fn read_number(text: &str) -> Option<Number> {
    let text = text.trim();
    if !text.bytes().next_back()?.is_ascii_digit() && !text.ends_with('.') {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

/// Tells whether two values are equal.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            order_numbers(left, right) == Some(Ordering::Equal)
        }
        (Value::String(text), Value::Number(number))
        | (Value::Number(number), Value::String(text)) => read_number(text)
            .is_some_and(|read| order_numbers(&read, number) == Some(Ordering::Equal)),
        (Value::String(text), Value::Bool(truth)) | (Value::Bool(truth), Value::String(text)) => {
            read_truth(text) == Some(*truth)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        _ => left == right,
    }
}

/// Returns which of two values comes first, if they can be put in order.
pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(_) | Value::String(_), Value::Number(_) | Value::String(_)) => {
            order_numbers(&as_number(left)?, &as_number(right)?)
        }
        _ => None,
    }
}

/// Returns how a value is called in a message: "a number".
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Returns a number as a value: whole when it is whole, null when it is no number at all.
pub(super) fn number_value(number: f64) -> Value {
    // Past 2^53 a float cannot tell neighbours apart, so it is kept as the float it is.
    if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn number_text(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
            format!("{float:.0}")
        }
        _ => number.to_string(),
    }
}

fn order_numbers(left: &Number, right: &Number) -> Option<Ordering> {
    if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) {
        return Some(left.cmp(&right));
    }
    left.as_f64()?.partial_cmp(&right.as_f64()?)
}
