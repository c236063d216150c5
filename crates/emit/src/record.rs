//! The records themselves: the only place that speaks to `tracing`.

use std::fmt;

use quipu_view::entries::{Entries, Entry, TranscriptSummary};
use tracing::Level;

/// The target of every record.
pub const TARGET: &str = "quipu::transcript";

/// Tells whether anybody wants entries.
pub(crate) fn is_listened_to() -> bool {
    tracing::enabled!(target: TARGET, Level::DEBUG)
}

pub(crate) fn start(first: &Entry) {
    tracing::event!(
        target: TARGET,
        Level::DEBUG,
        event = "transcript.start",
        prompt_name = first.prompt_name,
        adapter = first.adapter,
        "transcript emission started"
    );
}

pub(crate) fn entry(entry: &Entry) {
    tracing::event!(
        target: TARGET,
        Level::DEBUG,
        event = "transcript.entry",
        prompt_name = entry.prompt_name,
        adapter = entry.adapter,
        entry_type = entry.entry_type.as_str(),
        sequence_number = entry.sequence_number,
        source = entry.source,
        // A record has a time of its own, which many subscribers call `timestamp`.
        transcript_timestamp = entry.spelled_timestamp(),
        session_id = entry.session_id.as_deref(),
        detail = entry.detail.as_ref().map(|detail| detail.as_str()),
        raw = entry.raw.as_deref(),
        "{}",
        entry.message()
    );
}

pub(crate) fn stop(entries: &Entries, summary: &TranscriptSummary) {
    let counts = |counts: serde_json::Result<String>| counts.unwrap_or_default();
    tracing::event!(
        target: TARGET,
        Level::DEBUG,
        event = "transcript.stop",
        prompt_name = entries.prompt_name(),
        adapter = entries.adapter(),
        total_entries = summary.total_entries,
        entries_by_source = counts(serde_json::to_string(&summary.entries_by_source)),
        entries_by_type = counts(serde_json::to_string(&summary.entries_by_type)),
        "transcript emission stopped"
    );
}

pub(crate) fn error(prompt_name: Option<&str>, error: impl fmt::Display) {
    tracing::event!(
        target: TARGET,
        Level::WARN,
        event = "transcript.error",
        prompt_name = prompt_name,
        error = error.to_string(),
        "transcript error"
    );
}
