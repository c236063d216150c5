//! Entries as JSON: the context of a log record, the record around it, and the summary.
//!
//! The order of keys is part of the format; people read these lines too.

use std::collections::BTreeMap;

use quipu_event::{Json, Timestamp};
use serde::Serialize;

use super::{Entry, TranscriptSummary};

/// A log record: what stands around the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRecord<'a> {
    /// When it was logged.
    pub timestamp: Timestamp,
    /// `DEBUG` or `WARNING`.
    pub level: &'a str,
    /// Who logged it.
    pub logger: &'a str,
    /// What sort of record it is: `transcript.entry` …
    pub event: &'a str,
    /// The same for people.
    pub message: &'a str,
    /// Everything else.
    pub context: &'a Json,
}

impl LogRecord<'_> {
    /// Returns the record as JSON, on one line.
    pub fn to_json(&self) -> Json {
        encode(&RecordWire {
            timestamp: spelled(self.timestamp),
            level: self.level,
            logger: self.logger,
            event: self.event,
            message: self.message,
            context: self.context,
        })
    }
}

impl Entry {
    /// Returns the entry as JSON: the context of its log record.
    pub fn to_json(&self) -> Json {
        encode(&EntryWire {
            prompt_name: &self.prompt_name,
            adapter: &self.adapter,
            entry_type: self.entry_type.as_str(),
            sequence_number: self.sequence_number,
            source: &self.source,
            timestamp: spelled(self.timestamp),
            session_id: self.session_id.as_deref(),
            detail: self.detail.as_ref(),
            raw: self.raw.as_deref(),
        })
    }

    /// Returns the log record of the entry, logged by `logger` when the entry happened.
    pub fn to_record(&self, logger: &str) -> Json {
        LogRecord {
            timestamp: self.timestamp,
            level: "DEBUG",
            logger,
            event: "transcript.entry",
            message: &self.message(),
            context: &self.to_json(),
        }
        .to_json()
    }

    /// Returns what a log says of the entry to people.
    pub fn message(&self) -> String {
        format!("transcript entry: {}", self.entry_type.as_str())
    }

    /// Returns the timestamp as it stands in the entry's JSON.
    pub fn spelled_timestamp(&self) -> String {
        spelled(self.timestamp)
    }
}

impl TranscriptSummary {
    /// Returns the summary as JSON.
    pub fn to_json(&self) -> Json {
        encode(&SummaryWire {
            total_entries: self.total_entries,
            entries_by_type: &self.entries_by_type,
            entries_by_source: &self.entries_by_source,
            sources: &self.sources,
            adapter: &self.adapter,
            prompt_name: &self.prompt_name,
            first_timestamp: self.first_timestamp.map(spelled),
            last_timestamp: self.last_timestamp.map(spelled),
        })
    }
}

#[derive(Serialize)]
struct RecordWire<'a> {
    timestamp: String,
    level: &'a str,
    logger: &'a str,
    event: &'a str,
    message: &'a str,
    context: &'a Json,
}

#[derive(Serialize)]
struct EntryWire<'a> {
    prompt_name: &'a str,
    adapter: &'a str,
    entry_type: &'a str,
    sequence_number: u64,
    source: &'a str,
    timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<&'a str>,
}

#[derive(Serialize)]
struct SummaryWire<'a> {
    total_entries: u64,
    entries_by_type: &'a BTreeMap<&'static str, u64>,
    entries_by_source: &'a BTreeMap<String, u64>,
    sources: &'a [String],
    adapter: &'a str,
    prompt_name: &'a str,
    first_timestamp: Option<String>,
    last_timestamp: Option<String>,
}

/// Returns a moment with an offset in numbers, which is all that some readers of ISO 8601 know.
pub(crate) fn spelled(timestamp: Timestamp) -> String {
    let text = Timestamp::from_micros(timestamp.as_micros()).to_string();
    text.strip_suffix('Z').map_or_else(|| text.clone(), |text| format!("{text}+00:00"))
}

fn encode(value: &impl Serialize) -> Json {
    // Every key is text, so there is nothing to fail.
    serde_json::to_string(value).map_or_else(|_| Json::null(), |text| Json::from_valid(&text))
}
