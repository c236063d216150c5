//! What the live stream says besides the conversation: retries, hooks, tasks, permissions.

use quipu_event::Json;
use quipu_event::payload::{ErrorReport, RunCompleted, Status};
use serde_json::json;

use super::stream::Stream;
use super::tools::Tools;
use super::wire::{complaint, short};
use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

/// Puts a `system` record.
pub(super) fn system(out: &mut Outbox<'_>, stream: &mut Stream, fields: &Fields<'_>) {
    let kind = fields.text("subtype").unwrap_or_default();
    let stamp = Stamp::at(fields.time("timestamp"));
    match &*kind {
        "init" => stream.init(out, fields),
        "compact_boundary" => compaction(out, &stamp, fields),
        "api_retry" => retry(out, &stamp, fields),
        "hook_started" | "hook_progress" | "hook_response" => hook(out, &stamp, fields, &kind),
        "permission_denied" => permission_denied(out, &mut stream.talk.tools, fields),
        "task_started" => task_started(out, stream, fields),
        "task_notification" => task_ended(out, stream, fields),
        "task_progress" | "task_updated" => task_goes_on(out, &stamp, fields, &kind),
        "status" | "thinking_tokens" => {
            let facts = json!({
                "topic": kind,
                "status": fields.text("status"),
                "tokens": fields.count("estimated_tokens"),
            });
            out.system(&stamp, "progress", facts);
        }
        _ => out.system(&stamp, "notice", json!({ "topic": kind })),
    }
}

/// Puts a record of one of the smaller types, if it is one.
pub(super) fn other(out: &mut Outbox<'_>, stream: &mut Stream, kind: &str, fields: &Fields<'_>) {
    let stamp = Stamp::at(fields.time("timestamp"));
    match kind {
        "rate_limit_event" => rate_limit(out, &stamp, fields),
        "tool_progress" => {
            let facts = json!({
                "tool_id": fields.text("tool_use_id"),
                "name": fields.text("tool_name"),
                "seconds": fields.number("elapsed_time_seconds"),
            });
            out.system(&stamp, "progress", facts);
        }
        "conversation_reset" => {
            let facts = json!({ "session_id": fields.text("new_conversation_id") });
            out.system(&stamp, "session_started", facts);
        }
        "control_request" => control_request(out, stream, fields),
        "control_response" => control_response(out, stream, fields),
        "control_cancel_request" | "keep_alive" => {
            let facts = json!({ "topic": kind, "request_id": fields.text("request_id") });
            out.system(&stamp, "control", facts);
        }
        "tool_use_summary" | "auth_status" | "prompt_suggestion" => {
            out.system(&stamp, "notice", json!({ "topic": kind }));
        }
        "error" => {
            let error = fields.fields("error").unwrap_or_default();
            let message = error.text("message").or_else(|| fields.text("message"));
            let report = ErrorReport {
                code: error.string("type").unwrap_or_else(|| "error".to_owned()),
                category: "session".to_owned(),
                message: message.map(|text| short(&text)).unwrap_or_default(),
                ..ErrorReport::default()
            };
            out.error(&stamp, &report);
        }
        _ => {}
    }
}

/// Returns the end of a run as a `result` tells it.
pub(super) fn end_of(fields: &Fields<'_>) -> RunCompleted {
    let reason = fields.text("terminal_reason").unwrap_or_default();
    let subtype = fields.text("subtype").unwrap_or_default();
    let is_error = fields.flag("is_error").unwrap_or(false) || subtype != "success";
    let status = match is_error {
        _ if reason.starts_with("aborted") => Status::Canceled,
        true => Status::Failed,
        false => Status::Succeeded,
    };
    let output = fields.text("result").filter(|text| !text.is_empty());
    let first_error = fields.items("errors").first().and_then(|error| error.text());
    let error = first_error.or_else(|| output.clone()).unwrap_or_else(|| subtype.clone());
    let mut facts = json!({
        "output": output,
        "value": fields.json("structured_output"),
        "stop_reason": fields.text("stop_reason"),
        "turns": fields.count("num_turns"),
    });
    if let serde_json::Value::Object(facts) = &mut facts {
        facts.retain(|_, fact| !fact.is_null());
    }
    RunCompleted {
        error: is_error.then(|| short(&error)),
        status: Some(status),
        result: Json::encode(&facts).ok(),
        ..RunCompleted::default()
    }
}

/// Tells whether a tool's answer says beside it that the call was not allowed.
pub(super) fn is_refused(fields: &Fields<'_>) -> bool {
    fields.items("tool_result_meta").into_iter().any(|meta| {
        let meta = meta.fields().unwrap_or_default();
        let decision = meta.fields("permission_decision").unwrap_or_default().text("decision");
        decision.is_some_and(|decision| matches!(&*decision, "reject" | "deny"))
    })
}

/// Puts that a call was not allowed, once.
pub(super) fn permission_denied(out: &mut Outbox<'_>, tools: &mut Tools, fields: &Fields<'_>) {
    let call_id = fields.text("tool_use_id");
    if !tools.refuse(call_id.as_deref().unwrap_or_default()) {
        return;
    }
    let facts = json!({
        "tool_id": call_id,
        "name": fields.text("tool_name"),
        "message": fields.text("message").map(|text| short(&text)),
    });
    out.system(&Stamp::default(), "permission_denied", facts);
}

fn compaction(out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>) {
    let facts = fields.fields("compact_metadata").unwrap_or_default();
    let facts = json!({
        "trigger": facts.text("trigger"),
        "pre_tokens": facts.count("pre_tokens"),
        "post_tokens": facts.count("post_tokens"),
        "duration_ms": facts.count("duration_ms"),
    });
    out.system(stamp, "compaction", facts);
}

fn retry(out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>) {
    let facts = json!({
        "attempt": fields.count("attempt"),
        "max_attempts": fields.count("max_retries"),
        "delay_ms": fields.number("retry_delay_ms").map(|delay| delay as u64),
        "status": fields.count("error_status"),
        "message": fields.text("error"),
    });
    out.system(stamp, "retry", facts);
}

fn hook(out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>, kind: &str) {
    let exit_code = fields.integer("exit_code");
    let outcome = fields.text("outcome");
    let is_failed = exit_code.unwrap_or(0) != 0 || outcome.as_deref() == Some("error");
    let facts = json!({
        "event": fields.text("hook_event"),
        "name": fields.text("hook_name"),
        "topic": kind,
        "exit_code": exit_code,
        "outcome": outcome,
        "stderr": complaint(fields.text("stderr").filter(|_| is_failed)),
    });
    out.system(stamp, "hook", facts);
}

fn rate_limit(out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>) {
    let info = fields.fields("rate_limit_info").unwrap_or_default();
    let facts = json!({
        "status": info.text("status"),
        "topic": info.text("rateLimitType"),
        "resets_at": info.count("resetsAt"),
        "utilization": info.number("utilization"),
    });
    out.system(stamp, "rate_limit", facts);
}

/// Puts the start of a subagent, or of another task in the background.
fn task_started(out: &mut Outbox<'_>, stream: &mut Stream, fields: &Fields<'_>) {
    let task_id = fields.text("task_id").unwrap_or_default();
    let call_id = fields.text("tool_use_id");
    let name = fields.text("subagent_type");
    let is_agent = name.is_some() || fields.text("task_type").as_deref() == Some("local_agent");
    if !is_agent {
        let facts = json!({
            "topic": "task_started",
            "task_id": task_id,
            "tool_id": call_id,
            "name": fields.text("task_type"),
        });
        out.system(&Stamp::default(), "progress", facts);
        return;
    }
    let subagents = &mut stream.talk.tools.subagents;
    if let Some(call_id) = &call_id {
        subagents.name(call_id, &task_id);
    }
    subagents.start(out, None, &task_id, call_id.as_deref(), name.as_deref());
}

/// Puts the end of a subagent, or of another task in the background.
fn task_ended(out: &mut Outbox<'_>, stream: &mut Stream, fields: &Fields<'_>) {
    let task_id = fields.text("task_id").unwrap_or_default();
    let usage = fields.fields("usage").unwrap_or_default();
    let subagents = &mut stream.talk.tools.subagents;
    let facts = json!({
        "agent_id": task_id,
        "tool_id": fields.text("tool_use_id"),
        "status": fields.text("status"),
        "duration_ms": usage.count("duration_ms"),
        "tokens": usage.count("total_tokens"),
        "tool_calls": usage.count("tool_uses"),
    });
    if subagents.knows(&task_id) && subagents.end(out, None, &task_id, facts) {
        return;
    }
    task_goes_on(out, &Stamp::default(), fields, "task_notification");
}

fn task_goes_on(out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>, kind: &str) {
    let patch = fields.fields("patch").unwrap_or_default();
    let facts = json!({
        "topic": kind,
        "task_id": fields.text("task_id"),
        "tool_id": fields.text("tool_use_id"),
        "status": fields.text("status").or_else(|| patch.text("status")),
        "name": fields.text("last_tool_name"),
    });
    out.system(stamp, "progress", facts);
}

/// Puts what the agent or its SDK asks of the other.
fn control_request(out: &mut Outbox<'_>, stream: &mut Stream, fields: &Fields<'_>) {
    let request = fields.fields("request").unwrap_or_default();
    let kind = request.text("subtype").unwrap_or_default();
    let request_id = fields.text("request_id");
    let call_id = request.text("tool_use_id");
    if let (Some(request_id), Some(call_id)) = (&request_id, &call_id) {
        stream.asked.insert(request_id.clone().into_owned(), call_id.clone().into_owned());
    }
    let subtype = if kind == "can_use_tool" { "permission_requested" } else { "control" };
    let facts = json!({
        "topic": kind,
        "request_id": request_id,
        "tool_id": call_id,
        "name": request.text("tool_name"),
    });
    out.system(&Stamp::default(), subtype, facts);
}

/// Puts the answer to such a request; a refusal is remembered for the tool's own answer.
fn control_response(out: &mut Outbox<'_>, stream: &mut Stream, fields: &Fields<'_>) {
    let response = fields.fields("response").unwrap_or_default();
    let request_id = response.text("request_id");
    let call_id = request_id.as_deref().and_then(|id| stream.asked.remove(id));
    let answer = response.fields("response").unwrap_or_default();
    let is_denial = answer.text("behavior").as_deref() == Some("deny");
    if let Some(call_id) = call_id.as_deref().filter(|_| is_denial)
        && stream.talk.tools.refuse(call_id)
    {
        let message = answer.text("message").map(|text| short(&text));
        let facts = json!({ "tool_id": call_id, "message": message });
        out.system(&Stamp::default(), "permission_denied", facts);
        return;
    }
    let facts = json!({
        "topic": "response",
        "request_id": request_id,
        "tool_id": call_id,
        "status": response.text("subtype"),
        "decision": answer.text("behavior"),
    });
    out.system(&Stamp::default(), "control", facts);
}
