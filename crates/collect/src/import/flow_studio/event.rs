//! One event of the log, or one receipt, in our words.

use quipu_event::payload::{ErrorReport, Message, Status, StepCompleted, Usage, UsageScope};
use quipu_event::{ContentBlock, Draft, EncodeError, Fidelity, Kind, StepPath, Timestamp};
use serde_json::Value;

use super::super::record::{number, owned, text, time};
use super::status_of;

/// A step of a flow.
pub(super) type Step = (String, String);

/// Returns what an event calls itself.
pub(super) fn kind_of(event: &Value) -> &str {
    text(event, &["kind", "event"]).unwrap_or_default()
}

/// Returns when it happened.
pub(super) fn when(event: &Value) -> Option<Timestamp> {
    time(event, "ts").or_else(|| time(event, "timestamp"))
}

/// Returns the step that it is of.
pub(super) fn step_of(event: &Value) -> Option<Step> {
    let step = owned(event, &["step_id"])?;
    Some((owned(event, &["flow_key"]).unwrap_or_default(), step))
}

/// Tells whether an event ends a flow.
pub(super) fn ends_flow(event: &Value) -> bool {
    let ends = [
        "run_completed",
        "run_failed",
        "run_stopped",
        "run_canceled",
        "run_cancelled",
        "flow_end",
        "flow_completed",
        "flow_failed",
    ];
    ends.contains(&kind_of(event)) && event["step_id"].as_str().is_none_or(str::is_empty)
}

/// Returns how a flow ended, and why.
pub(super) fn end_of(event: &Value) -> (Status, Option<String>) {
    let payload = &event["payload"];
    let by_kind = match kind_of(event) {
        "run_failed" | "flow_failed" => Status::Failed,
        "run_stopped" | "run_canceled" | "run_cancelled" => Status::Canceled,
        _ => Status::Succeeded,
    };
    let status = text(payload, &["status"]).map_or(by_kind, status_of);
    (status, owned(payload, &["error"]))
}

/// Drafts the end of a flow.
pub(super) fn flow_completed(
    flow: &str,
    (status, error): (Status, Option<String>),
    at: Option<Timestamp>,
) -> Result<Draft, EncodeError> {
    let completed = StepCompleted {
        name: flow.to_owned(),
        kind: "flow".to_owned(),
        status: Some(status),
        error,
        ..StepCompleted::default()
    };
    let draft = Draft::new(Kind::StepCompleted, &completed)?;
    Ok(Draft { timestamp: at, ..draft.at(StepPath::root().child(flow), 0) })
}

/// Drafts a message that only the log has.
pub(super) fn said(kind: &str, payload: &Value) -> Result<Draft, EncodeError> {
    let words = owned(payload, &["content", "text", "message"]).unwrap_or_default();
    if kind == "assistant_message" {
        let block = ContentBlock::text(Fidelity::AgentEmitted, words);
        return Draft::new(Kind::MessageAssistant, &Message::assistant(vec![block]));
    }
    let block = ContentBlock::text(Fidelity::Router, words);
    Draft::new(Kind::MessageUser, &Message::user(vec![block]))
}

/// Returns what went wrong.
pub(super) fn error(payload: &Value) -> ErrorReport {
    ErrorReport {
        code: owned(payload, &["code", "error_type"]).unwrap_or_else(|| "flow_error".to_owned()),
        category: "flow".to_owned(),
        message: owned(payload, &["error", "message"]).unwrap_or_else(|| payload.to_string()),
        ..ErrorReport::default()
    }
}

/// Returns what a receipt says of tokens; nothing where it says only noughts.
pub(super) fn usage_of(says: &Value) -> Option<Usage> {
    let tokens = &says["tokens"];
    let usage = Usage {
        model: owned(says, &["model"]),
        input_tokens: number(tokens, &["prompt"]),
        output_tokens: number(tokens, &["completion"]),
        scope: Some(UsageScope::Session),
        ..Usage::default()
    };
    (usage.tokens().total().unwrap_or_default() > 0).then_some(usage)
}
