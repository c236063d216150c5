//! What came of a tool call.

use std::collections::HashSet;

use quipu_event::Json;
use quipu_event::payload::{ToolResult, ToolStatus};

use crate::value::Fields;

/// Makes the result that a `tool.execution_complete` tells of.
///
/// `denied` holds the calls that a permission was refused for.
pub(super) fn result(data: &Fields<'_>, denied: &HashSet<String>) -> Option<ToolResult> {
    let call_id = data.string("toolCallId")?;
    let failure = data.fields("error").unwrap_or_default();
    let code = failure.text("code").unwrap_or_default();
    let has_failed = match data.flag("success") {
        Some(success) => !success,
        None => data.has("error"),
    };
    let is_denied = denied.contains(&call_id) || matches!(&*code, "denied" | "rejected");
    let status = match has_failed {
        true if is_denied => ToolStatus::Blocked,
        true => ToolStatus::Failed,
        false => ToolStatus::Completed,
    };
    let error = failure.string("message").or_else(|| data.string("error"));
    Some(ToolResult {
        call_id,
        output: output(data),
        error: error.filter(|_| has_failed),
        status: Some(status),
        ..ToolResult::default()
    })
}

/// Returns what the model saw, or whatever there is.
fn output(data: &Fields<'_>) -> Json {
    let Some(result) = data.get("result") else { return Json::null() };
    let content = result.fields().and_then(|result| result.json("content"));
    content.unwrap_or_else(|| result.json())
}
