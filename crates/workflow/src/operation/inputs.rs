//! An operation's inputs, read in the forms that templates leave them in: `"3"` is a number too.

use std::time::Duration;

use serde_json::Map;

use super::Failure;
use crate::language::Value;

/// The inputs of one operation.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    /// The operation, for messages.
    pub(super) operation: &'a str,
    values: &'a Map<String, Value>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(operation: &'a str, values: &'a Map<String, Value>) -> Self {
        Inputs { operation, values }
    }

    /// Returns an input as it stands. An empty one counts as none.
    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.values.get(name).filter(|value| !value.is_null())
    }

    /// Returns an input as text. Blank text counts as none.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        let text = match self.value(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Bool(truth)) => truth.to_string(),
            Some(other) => return Err(self.wrong(name, "a text", other)),
        };
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// Returns a text without which there is nothing to do.
    pub(super) fn required(&self, name: &str) -> Result<String, Failure> {
        self.text(name)?.ok_or_else(|| self.failure(format!("input `{name}` is missing")))
    }

    /// Returns an input as a whole number.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Failure> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::String(text) => text.trim().trim_start_matches('#').parse().ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| self.wrong(name, "a whole number", value))
    }

    /// Returns an input as true or false.
    pub(super) fn truth(&self, name: &str) -> Result<bool, Failure> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(truth)) => Ok(*truth),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(false),
            Some(value @ Value::String(text)) => {
                text.trim().parse().map_err(|_| self.wrong(name, "true or false", value))
            }
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    /// Returns an input as a list of texts: a list, a JSON list in a text, or parts between commas.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Failure> {
        let parsed;
        let list = match self.value(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Array(list)) => {
                    parsed = list;
                    &parsed
                }
                _ => {
                    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                    return Ok(parts.map(str::to_owned).collect());
                }
            },
            Some(other) => return Err(self.wrong(name, "a list", other)),
        };
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Ok(list.iter().map(text).collect())
    }

    /// Returns an input as a length of time: seconds, or a number with `ms`, `s`, `m` or `h`.
    pub(super) fn duration(&self, name: &str) -> Result<Option<Duration>, Failure> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let (digits, millis) = if let Some(digits) = text.strip_suffix("ms") {
            (digits, 1.0)
        } else if let Some(digits) = text.strip_suffix('s') {
            (digits, 1_000.0)
        } else if let Some(digits) = text.strip_suffix('m') {
            (digits, 60_000.0)
        } else if let Some(digits) = text.strip_suffix('h') {
            (digits, 3_600_000.0)
        } else {
            (text.as_str(), 1_000.0)
        };
        let seconds = digits.trim().parse::<f64>().map(|count| count * millis / 1_000.0);
        match seconds.map(Duration::try_from_secs_f64) {
            Ok(Ok(Duration::ZERO)) => Ok(None),
            Ok(Ok(duration)) => Ok(Some(duration)),
            _ => Err(self.failure(format!(
                "input `{name}` is {text:?}: expected seconds, or a duration such as 30s"
            ))),
        }
    }

    /// Makes a failure of this operation.
    pub(super) fn failure(&self, message: impl AsRef<str>) -> Failure {
        Failure::new(format!("{}: {}", self.operation, message.as_ref()))
    }

    fn wrong(&self, name: &str, expected: &str, found: &Value) -> Failure {
        let found = match found {
            Value::Object(_) => "an object".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            other => other.to_string(),
        };
        self.failure(format!("input `{name}` is {found}: expected {expected}"))
    }
}
