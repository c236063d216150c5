//! What came of a tool call.
//!
//! For Copilot a command that exits with an error has been run with success; the exit code beside
//! it tells that the command itself failed.

use std::collections::HashSet;

use quipu_event::Json;
use quipu_event::payload::{ToolResult, ToolStatus};

use crate::value::{Fields, Value};

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
    let exit_code = exit_code(data).filter(|code| *code != 0);
    let status = match has_failed || exit_code.is_some() {
        true if is_denied => ToolStatus::Blocked,
        true => ToolStatus::Failed,
        false => ToolStatus::Completed,
    };
    let error = failure.string("message").or_else(|| data.string("error"));
    let error = error.filter(|_| has_failed);
    Some(ToolResult {
        call_id,
        output: output(data),
        error: error.or_else(|| exit_code.map(|code| format!("exit code {code}"))),
        status: Some(status),
        ..ToolResult::default()
    })
}

/// Returns the exit code of a command: told beside the result, in its parts, or in its last line.
fn exit_code(data: &Fields<'_>) -> Option<i64> {
    let beside = || data.fields("shellExecution")?.integer("exitCode");
    let result = data.fields("result").unwrap_or_default();
    let inside = || {
        let parts = result.items("contents").into_iter().filter_map(Value::fields);
        let codes: Vec<_> = parts.filter_map(|part| part.integer("exitCode")).collect();
        codes.iter().find(|code| **code != 0).or(codes.first()).copied()
    };
    beside().or_else(inside).or_else(|| code_of_last_line(&result.text("content")?))
}

/// Reads `<exited with exit code 1>` or `<shellId: 0 completed with exit code 1>`.
pub(super) fn code_of_last_line(text: &str) -> Option<i64> {
    let line = text.trim_end().lines().next_back()?;
    let (how, code) = line.strip_prefix('<')?.strip_suffix('>')?.rsplit_once(" with exit code ")?;
    let is_shells = how.starts_with("shellId: ") && how.ends_with(" completed");
    code.parse().ok().filter(|_| how == "exited" || is_shells)
}

/// Returns what the model saw, or whatever there is.
fn output(data: &Fields<'_>) -> Json {
    let Some(result) = data.get("result") else { return Json::null() };
    let content = result.fields().and_then(|result| result.json("content"));
    content.unwrap_or_else(|| result.json())
}
