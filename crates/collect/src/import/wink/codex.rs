//! Calls and answers as the Codex app server notifies of them.

use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use serde_json::{Value, json};

use super::super::record::{self, owned, text, value};

/// Returns the call that a notification tells of.
pub(super) fn call(notification: &Value, made_id: String) -> ToolCall {
    let (name, call_id, input) = names(notification, made_id);
    ToolCall { name, call_id, input: record::json(Some(&input)), ..ToolCall::default() }
}

/// Returns the answer that a notification, or the reply to a request, tells of.
pub(super) fn result(detail: &Value, made_id: String) -> ToolResult {
    let notification = &detail["notification"];
    let (name, call_id, input) = names(notification, made_id);
    let item = &notification["item"];
    let reply = &detail["result"];
    let output = if reply.is_object() {
        value(reply, &["contentItems"]).unwrap_or(reply)
    } else {
        value(item, &["aggregatedOutput", "result", "output", "changes"]).unwrap_or(&Value::Null)
    };
    let failed = reply["success"] == false
        || matches!(text(item, &["status"]), Some("failed" | "declined"))
        || item["exitCode"].as_i64().is_some_and(|code| code != 0);
    let declined = text(item, &["status"]) == Some("declined");
    ToolResult {
        name,
        call_id,
        input: record::json(Some(&input)),
        output: record::json(Some(output)),
        error: owned(item, &["error"]).or_else(|| owned(&item["error"], &["message"])),
        status: Some(match (declined, failed) {
            (true, _) => ToolStatus::Blocked,
            (_, true) => ToolStatus::Failed,
            _ => ToolStatus::Completed,
        }),
        duration_ms: record::number(item, &["durationMs"]),
        ..ToolResult::default()
    }
}

/// Returns name, id and arguments.
fn names(notification: &Value, made_id: String) -> (String, String, Value) {
    let item = &notification["item"];
    if !item.is_object() {
        let name = owned(notification, &["tool"]).unwrap_or_default();
        let id = owned(notification, &["callId"]).unwrap_or(made_id);
        return (name, id, value(notification, &["arguments"]).cloned().unwrap_or_default());
    }
    let kind = owned(item, &["type"]).unwrap_or_default();
    let id = owned(item, &["id"]).unwrap_or(made_id);
    let input = match kind.as_str() {
        "commandExecution" => json!({ "command": item["command"], "cwd": item["cwd"] }),
        "fileChange" => json!({ "changes": item["changes"] }),
        "webSearch" => json!({ "query": item["query"] }),
        _ => value(item, &["arguments", "input"]).cloned().unwrap_or_default(),
    };
    let name = owned(item, &["tool", "name"]).unwrap_or(kind);
    (name, id, input)
}
