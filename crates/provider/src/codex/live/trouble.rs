//! What went wrong, in Codex's words.
//!
//! A message may itself be the JSON of the API's answer, and an error that is about to be tried
//! again is no error.

use quipu_event::Json;
use quipu_event::payload::ErrorReport;
use serde_json::json;

use crate::value::{Fields, Value};

/// An error as it is told.
pub(in crate::codex) struct Trouble {
    pub(in crate::codex) message: String,
    code: Option<String>,
    details: Option<Json>,
}

impl Trouble {
    /// Reads a bare message.
    pub(in crate::codex) fn of_message(message: &str) -> Self {
        let inside = message.starts_with('{').then(|| Value::parse(message).ok()).flatten();
        let answer = inside.and_then(Value::fields);
        let error = answer.as_ref().and_then(|answer| answer.fields("error"));
        match (inside, error) {
            (Some(inside), Some(error)) => Trouble {
                message: error.string("message").unwrap_or_else(|| message.to_owned()),
                code: error.string("type").or_else(|| error.string("code")),
                details: Some(inside.json()),
            },
            _ => Trouble { message: message.to_owned(), code: None, details: None },
        }
    }

    /// Reads an error object: a message, and what kind of error it is.
    pub(in crate::codex) fn of_object(error: &Fields<'_>) -> Self {
        let mut trouble = Self::of_message(&error.text("message").unwrap_or_default());
        let info = error.get("codexErrorInfo").or_else(|| error.get("codex_error_info"));
        if let Some(info) = info {
            trouble.code = kind_of(info).or(trouble.code);
            if info.is_object() {
                trouble.details = trouble.details.or_else(|| Some(info.json()));
            }
        }
        trouble
    }

    /// Makes the report.
    pub(in crate::codex) fn report(&self) -> ErrorReport {
        ErrorReport {
            category: if self.code.is_some() { "api" } else { "session" }.to_owned(),
            code: self.code.clone().unwrap_or_else(|| "agent_error".to_owned()),
            message: self.message.clone(),
            retryable: false,
            details: self.details.clone(),
        }
    }
}

/// Returns the facts of a notice that something is tried again, if `message` is one:
/// `Reconnecting... 1/5 (why)`.
pub(in crate::codex) fn retry_facts(message: &str) -> Option<serde_json::Value> {
    let rest = message.strip_prefix("Reconnecting")?.trim_start_matches(['.', '…', ' ']);
    let (tries, reason) = rest.split_once(' ').unwrap_or((rest, ""));
    let (attempt, limit) = tries.split_once('/').unwrap_or((tries, ""));
    let reason = reason.trim_start_matches('(').trim_end_matches(')');
    Some(json!({
        "attempt": attempt.parse::<u64>().ok(),
        "max_attempts": limit.parse::<u64>().ok(),
        "reason": (!reason.is_empty()).then_some(reason),
    }))
}

/// An error's kind is a word, or an object under the word.
fn kind_of(info: Value<'_>) -> Option<String> {
    let word = info.text().map(|word| word.into_owned());
    word.or_else(|| info.fields()?.iter().next().map(|(word, _)| word.to_owned()))
}
