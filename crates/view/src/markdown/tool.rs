//! Tool calls and their results.

use quipu_event::Event;
use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};

use super::opening::{add_duration, add_foreign, close, open};
use super::speech::quoted;
use super::{Length, value};

/// Appends a call.
pub(crate) fn call(out: &mut String, event: &Event, call: &ToolCall, length: Length) {
    open(out, "→", name_of(&call.name));
    if let Some(provider) = call.provider.as_deref().filter(|provider| *provider != "agent") {
        add_foreign(out, provider);
    }
    close(out, event);
    value::facts(out, &call.input, length);
}

/// Appends a result. What the tool was given stands with its call.
pub(crate) fn result(out: &mut String, event: &Event, result: &ToolResult, length: Length) {
    let status = result.status.as_ref();
    let word =
        if status.is_none_or(|status| *status == ToolStatus::Completed) { "←" } else { "✗" };
    open(out, word, name_of(&result.name));
    add_foreign(out, status.map_or("", ToolStatus::as_str));
    add_duration(out, result.duration_ms);
    close(out, event);
    if let Some(error) = result.error.as_deref().filter(|error| !error.is_empty()) {
        quoted(out, error);
    }
    value::answer(out, &result.output, length);
}

fn name_of(name: &str) -> &str {
    if name.trim().is_empty() { "a tool without a name" } else { name }
}
