//! What a session file says besides the conversation: hooks, retries, compaction, progress.

use serde_json::json;

use super::talk::put_prompt;
use super::wire::{self, complaint, short};
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::value::{Fields, Value};

/// Puts a `system` record.
pub(super) fn system(out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>) {
    let kind = fields.text("subtype").unwrap_or_default();
    match &*kind {
        "compact_boundary" | "microcompact_boundary" => compaction(out, stamp, fields, &kind),
        "api_error" => api_error(out, stamp, fields),
        "turn_duration" => {
            let facts = json!({
                "duration_ms": fields.count("durationMs"),
                "messages": fields.count("messageCount"),
            });
            out.system(stamp, "turn_completed", facts);
        }
        "stop_hook_summary" => {
            let facts = json!({
                "event": "Stop",
                "count": fields.count("hookCount"),
                "errors": fields.items("hookErrors").len(),
                "prevented_continuation": fields.flag("preventedContinuation"),
            });
            out.system(stamp, "hook", facts);
        }
        "local_command" => {
            let text = fields.text("content").unwrap_or_default();
            let command = super::prompt::command_name(&text);
            out.system(stamp, "local_command", json!({ "command": command }));
        }
        _ => {
            let facts = json!({
                "topic": kind,
                "level": fields.text("level"),
                "message": fields.text("content").map(|text| short(&text)),
            });
            out.system(stamp, "notice", facts);
        }
    }
}

fn compaction(out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>, kind: &str) {
    let is_micro = kind == "microcompact_boundary";
    let key = if is_micro { "microcompactMetadata" } else { "compactMetadata" };
    let facts = fields.fields(key).unwrap_or_default();
    let facts = json!({
        "topic": is_micro.then_some("micro"),
        "trigger": facts.text("trigger"),
        "pre_tokens": facts.count("preTokens"),
        "post_tokens": facts.count("postTokens"),
        "saved_tokens": facts.count("tokensSaved"),
        "duration_ms": facts.count("durationMs"),
    });
    out.system(stamp, "compaction", facts);
}

/// Puts a call of the API that failed and is tried again.
fn api_error(out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>) {
    let error = fields.fields("error").unwrap_or_default();
    let message = error.text("formatted").or_else(|| error.text("message"));
    let facts = json!({
        "attempt": fields.count("retryAttempt"),
        "max_attempts": fields.count("maxRetries"),
        "delay_ms": fields.number("retryInMs").map(|delay| delay as u64),
        "status": error.count("status"),
        "message": message.map(|text| short(&text)),
    });
    out.system(stamp, "retry", facts);
}

/// Puts an `attachment` record: mostly what the agent tells the model beside the prompt.
pub(super) fn attachment(
    out: &mut Outbox<'_>,
    stamp: &Stamp,
    fields: &Fields<'_>,
    opening: &mut Opening,
) {
    let attachment = fields.fields("attachment").unwrap_or_default();
    let kind = attachment.text("type").unwrap_or_default();
    match &*kind {
        "queued_command" => queued(out, stamp, &attachment),
        "hook_success"
        | "hook_cancelled"
        | "hook_non_blocking_error"
        | "hook_blocking_error"
        | "hook_error_during_execution"
        | "hook_stopped_continuation"
        | "async_hook_response" => hook(out, stamp, &attachment, &kind),
        "model" => {
            let identity = attachment.fields("identity").unwrap_or_default();
            let model = &mut opening.agent.model;
            *model = model.take().or_else(|| identity.string("modelId"));
            out.system(stamp, "context", json!({ "topic": kind, "model": model }));
        }
        _ => out.system(stamp, "context", json!({ "topic": kind })),
    }
}

/// Puts what became of a hook.
fn hook(out: &mut Outbox<'_>, stamp: &Stamp, attachment: &Fields<'_>, kind: &str) {
    let exit_code = attachment.integer("exitCode");
    let is_failed = exit_code.unwrap_or(0) != 0 || kind.contains("error");
    let facts = json!({
        "event": attachment.text("hookEvent"),
        "name": attachment.text("hookName"),
        "topic": kind,
        "tool_id": attachment.text("toolUseID"),
        "exit_code": exit_code,
        "duration_ms": attachment.count("durationMs"),
        "stderr": complaint(attachment.text("stderr").filter(|_| is_failed)),
    });
    out.system(stamp, "hook", facts);
}

/// Puts what a person said while the agent was at work.
fn queued(out: &mut Outbox<'_>, stamp: &Stamp, attachment: &Fields<'_>) {
    if attachment.text("commandMode").as_deref() == Some("task-notification") {
        out.system(stamp, "context", json!({ "topic": "task_notification" }));
        return;
    }
    let said = attachment.get("prompt").map(wire::blocks).unwrap_or_default();
    put_prompt(out, stamp, &said);
}

/// Puts a `progress` record: that a tool, a hook or a subagent is at work.
pub(super) fn progress(out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>) {
    let data = fields.get("data").and_then(Value::fields).unwrap_or_default();
    let kind = data.text("type").unwrap_or_default();
    if kind == "hook_progress" {
        let facts = json!({ "event": data.text("hookEvent"), "name": data.text("hookName") });
        out.system(stamp, "hook", facts);
        return;
    }
    let facts = json!({
        "topic": kind,
        "tool_id": fields.text("parentToolUseID"),
        "agent_id": data.text("agentId"),
        "seconds": data.number("elapsedTimeSeconds"),
    });
    out.system(stamp, "progress", facts);
}
