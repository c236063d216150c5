//! The records of the log: entries, the beginning and the end, and what WINK's tables look for.

use quipu_event::payload::{Status, ToolStatus};
use quipu_event::{Event, Json, Payload};

use super::wire::{Context, encode};
use crate::entries::{Entry, LogRecord, TranscriptSummary};
use crate::reading::read;

/// Who logged it.
const LOGGER: &str = "quipu::transcript";

/// Returns the record of an entry.
pub(super) fn entry(entry: &Entry) -> Json {
    entry.to_record(LOGGER)
}

/// Returns the record that stands before the first entry.
pub(super) fn start(first: &Entry) -> Json {
    let Entry { prompt_name, adapter, timestamp, .. } = first;
    let context = encode(&Context::Start { prompt_name, adapter });
    let message = "transcript emission started";
    record(*timestamp, "DEBUG", "transcript.start", message, &context)
}

/// Returns the record that stands behind the last entry; nothing if there was none.
pub(super) fn stop(summary: &TranscriptSummary) -> Option<Json> {
    let context = encode(&Context::Stop {
        prompt_name: &summary.prompt_name,
        adapter: &summary.adapter,
        total_entries: summary.total_entries,
        entries_by_source: &summary.entries_by_source,
        entries_by_type: &summary.entries_by_type,
    });
    let message = "transcript emission stopped";
    Some(record(summary.last_timestamp?, "DEBUG", "transcript.stop", message, &context))
}

/// Returns the record that an event leaves beside its entry: a finished call, a failure.
///
/// WINK reads calls and errors from such records, and not from entries. `call_id` is what the call is
/// called here, if that is not its own id.
pub(super) fn beside(event: &Event, call_id: Option<&str>) -> Option<Json> {
    let failure = |code: &str, name: &str, message: &str| {
        let path = event.path.as_str();
        let context = encode(&Context::Failure { code, path, event_seq: event.seq });
        record(event.timestamp, "ERROR", name, message, &context)
    };
    match read(event).payload {
        Payload::ToolResult(call) => {
            let success = call.status == Some(ToolStatus::Completed);
            let context = encode(&Context::Call {
                tool_name: &call.name,
                call_id: call_id.unwrap_or(&call.call_id),
                success,
                duration_ms: call.duration_ms,
                arguments: &call.input,
                value: &call.output,
                error_code: call.error.as_deref().filter(|_| !success),
            });
            let message = format!("tool call complete: {}", call.name);
            Some(record(event.timestamp, "DEBUG", "tool_call.complete", &message, &context))
        }
        Payload::StepCompleted(step) if step.status.as_ref().is_some_and(Status::is_failure) => {
            let status = step.status.as_ref().map_or("failed", |status| status.as_str());
            let message = step.error.as_deref().unwrap_or(status);
            Some(failure(status, "step.failed", &format!("{}: {message}", step.name)))
        }
        Payload::Error(error) => Some(failure(&error.code, "error", &error.message)),
        _ => None,
    }
}

fn record(
    timestamp: quipu_event::Timestamp,
    level: &str,
    event: &str,
    message: &str,
    context: &Json,
) -> Json {
    LogRecord { timestamp, level, logger: LOGGER, event, message, context }.to_json()
}
