//! The lines and the document as they are written. The order of keys is part of the layout.

use quipu_event::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

/// A line of `events.jsonl`.
#[derive(Serialize)]
pub(super) struct EventLine<'a> {
    pub(super) event_id: &'a str,
    pub(super) sequence: u64,
    pub(super) run_id: &'a str,
    pub(super) session_id: &'a str,
    pub(super) task_id: &'a str,
    #[serde(rename = "type")]
    pub(super) kind: &'a str,
    pub(super) timestamp: Timestamp,
    pub(super) actor: &'a str,
    pub(super) severity: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) correlation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_event_id: Option<&'a str>,
    pub(super) summary: &'a str,
    pub(super) data: &'a Map<String, Value>,
}

/// A line of `logs/tools.jsonl`: a call and its result in one.
#[derive(Serialize)]
pub(super) struct ToolLine<'a> {
    pub(super) call_id: &'a str,
    pub(super) tool_name: &'a str,
    pub(super) action: &'a str,
    pub(super) started_at: Timestamp,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) duration_ms: Option<u64>,
    pub(super) status: &'a str,
    pub(super) args_summary: &'a Map<String, Value>,
    pub(super) result_summary: Option<&'a str>,
    pub(super) artifacts: &'a [String],
    pub(super) error: Option<&'a Failure>,
    pub(super) event_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) step: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<&'a str>,
}

/// What went wrong, wherever the layout says so.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Failure {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) category: &'static str,
    pub(super) retryable: bool,
    pub(super) details: Option<Value>,
}

/// A line of `logs/errors.jsonl`.
#[derive(Serialize)]
pub(super) struct ErrorLine<'a> {
    pub(super) event_id: &'a str,
    pub(super) sequence: u64,
    pub(super) run_id: &'a str,
    pub(super) session_id: &'a str,
    pub(super) task_id: &'a str,
    pub(super) timestamp: Timestamp,
    #[serde(rename = "type")]
    pub(super) kind: &'a str,
    pub(super) severity: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) correlation_id: Option<&'a str>,
    #[serde(flatten)]
    pub(super) failure: &'a Failure,
}

/// `run.json`: where the run stands.
#[derive(Serialize)]
pub(super) struct RunDocument<'a> {
    pub(super) run_id: &'a str,
    pub(super) session_id: &'a str,
    pub(super) task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_run_id: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) kind: Option<&'a str>,
    pub(super) status: &'a str,
    pub(super) created_at: Timestamp,
    pub(super) started_at: Option<Timestamp>,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) updated_at: Timestamp,
    pub(super) duration_ms: Option<u64>,
    pub(super) error: Option<&'a str>,
    pub(super) last_sequence: u64,
    pub(super) tool_calls: u64,
    pub(super) errors: u64,
}

/// Returns a value as one line.
pub(super) fn line(value: &impl Serialize) -> Vec<u8> {
    // Every key is text and nothing nests deeper than what was read, so there is nothing to fail.
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Returns a value as a document that people read too.
pub(super) fn document(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
