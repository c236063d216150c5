//! Which records are Claude Code's, and of which surface.

use crate::record::Record;
use crate::registry::Likeness;
use crate::value::Fields;

use super::metadata::is_metadata;

/// Types that only the stream has, whatever else is in the record.
const STREAM_TYPES: &[&str] = &[
    "stream_event",
    "rate_limit_event",
    "tool_use_summary",
    "control_request",
    "control_response",
    "control_cancel_request",
];

/// Any of these makes a `result` with a subtype one of the stream.
const RESULT_KEYS: [&str; 3] = ["duration_ms", "num_turns", "is_error"];

/// Tells whether a record is one of the live stream.
pub(super) fn stream(record: &Record<'_>) -> Likeness {
    match record.fields.fields("msg") {
        Some(message) if !record.fields.has("type") => stream_record(&message),
        _ => stream_record(&record.fields),
    }
}

fn stream_record(fields: &Fields<'_>) -> Likeness {
    let Some(kind) = fields.text("type") else { return Likeness::No };
    if fields.has("sessionId") {
        return Likeness::No;
    }
    let has_message = || fields.get("message").is_some_and(|message| message.is_object());
    let is_named = fields.has("session_id");
    let is_sure = match &*kind {
        "assistant" | "user" => is_named && has_message(),
        "system" => is_named && fields.has("subtype"),
        "result" => {
            fields.has("subtype") && RESULT_KEYS.iter().any(|key| is_named || fields.has(key))
        }
        "tool_progress" => is_named && fields.has("tool_use_id"),
        kind => STREAM_TYPES.contains(&kind),
    };
    match &*kind {
        _ if is_sure => Likeness::Sure,
        "assistant" | "user" if has_message() => Likeness::Maybe,
        _ => Likeness::No,
    }
}

/// Tells whether a record is one of a session file.
pub(super) fn session(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let Some(kind) = fields.text("type") else { return subagent_card(fields) };
    let is_named = fields.has("sessionId");
    match &*kind {
        "user" | "assistant" | "system" | "attachment" | "progress" if is_named => {
            if fields.has("uuid") { Likeness::Sure } else { Likeness::Maybe }
        }
        "summary" if fields.has("leafUuid") => Likeness::Sure,
        "file-history-snapshot" if fields.has("snapshot") => Likeness::Sure,
        kind if is_named && is_metadata(kind) => Likeness::Sure,
        _ => Likeness::No,
    }
}

/// Tells whether it is the card that lies beside a subagent's file.
fn subagent_card(fields: &Fields<'_>) -> Likeness {
    match fields.has("agentType") {
        true if fields.has("spawnDepth") || fields.has("toolUseId") => Likeness::Sure,
        true => Likeness::Maybe,
        false => Likeness::No,
    }
}
