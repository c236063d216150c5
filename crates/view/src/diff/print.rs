//! Numbers that two things share only if they say the same.

use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::Json;
use serde_json::Value;

use super::words::Words;

/// The numbers of what a thing says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Print {
    /// Of what its text tells.
    told: u64,
    /// Of what stands beside the text.
    pub(super) beside: u64,
}

impl Print {
    pub(super) fn of(words: &Words) -> Self {
        Print { told: print(&words.facts), beside: print(&words.beside) }
    }
}

/// Returns a number that two things share only if they are the same.
pub(super) fn print<T: Hash + ?Sized>(thing: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

/// Returns a value in which the order of keys does not matter; illegible JSON stands as text.
pub(super) fn value_of(json: &Json) -> Value {
    json.decode().unwrap_or_else(|_| Value::String(json.as_str().to_owned()))
}

/// Returns a value without what differs between any two runs.
pub(super) fn lasting(json: &Json) -> Value {
    let mut value = value_of(json);
    keep_lasting(&mut value);
    value
}

fn keep_lasting(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| is_lasting(key));
            fields.values_mut().for_each(keep_lasting);
        }
        Value::Array(items) => items.iter_mut().for_each(keep_lasting),
        _ => {}
    }
}

/// Tells whether two runs that do the same have the same under this key.
fn is_lasting(key: &str) -> bool {
    const PASSING: [&str; 10] = [
        "timestamp",
        "call_id",
        "tool_id",
        "message_id",
        "session",
        "session_id",
        "run_id",
        "child_run_id",
        "uuid",
        "cost_usd",
    ];
    !key.ends_with("_ms") && !PASSING.contains(&key)
}
