//! Tool calls and what came of them.

use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};

use super::{Entry, Part, Tone, json};
use crate::format::span;

pub(super) fn call(call: &ToolCall) -> Entry {
    let (inline, parts) = json::input_parts(&call.input);
    let mut entry = Entry::headed(call.name.clone()).toned(Tone::Action);
    if !inline.is_empty() {
        entry.append(&inline);
    }
    if let Some(provider) = call.provider.as_ref().filter(|provider| *provider != "agent") {
        entry.append(&format!("({provider})"));
    }
    entry.with_all(parts)
}

pub(super) fn result(result: ToolResult) -> Entry {
    let error = result.error.filter(|error| !error.is_empty());
    let went_wrong = error.is_some()
        || matches!(result.status, Some(ToolStatus::Failed | ToolStatus::Blocked))
        || json_says_error(&result.output);
    let status = match result.status {
        Some(status) => status.to_string(),
        None if went_wrong => "failed".to_owned(),
        None => "completed".to_owned(),
    };
    let mut entry = Entry::headed(format!("{} {status}", result.name).trim_start());
    if let Some(millis) = result.duration_ms {
        entry.append(&format!("in {}", span::duration(millis)));
    }
    entry
        .toned(if went_wrong { Tone::Bad } else { Tone::Good })
        .with(Part::output(error.unwrap_or_default()).labelled("error").toned(Tone::Bad))
        .with_all(json::answer_parts(&result.output))
}

/// AWF and the tool protocol say so beside the content.
fn json_says_error(output: &quipu_event::Json) -> bool {
    let said = |value: serde_json::Value, key: &str| value.get(key)?.as_bool();
    output.is_object()
        && output.decode::<serde_json::Value>().is_ok_and(|value| {
            said(value.clone(), "IsError").or_else(|| said(value, "isError")) == Some(true)
        })
}
