//! Entries back from the records of a log, whoever wrote it.

use quipu_event::{Json, Timestamp};
use serde::Deserialize;

use super::{Entry, EntryType};

/// Returns the entries among `records`, by source and by number.
///
/// Records of other sorts are passed over, and so are entries without a complete envelope. A type
/// that is not in the vocabulary is `unknown`.
pub fn reconstruct<'a>(records: impl IntoIterator<Item = &'a Json>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = records.into_iter().filter_map(entry_of).collect();
    entries.sort_by(|one, other| {
        (&one.source, one.sequence_number).cmp(&(&other.source, other.sequence_number))
    });
    entries
}

fn entry_of(record: &Json) -> Option<Entry> {
    let Record { event, context } = record.decode().ok()?;
    if event != "transcript.entry" {
        return None;
    }
    let context: Context = context.decode().ok()?;
    let entry_type = EntryType::ALL.into_iter().find(|sort| sort.as_str() == context.entry_type);
    Some(Entry {
        prompt_name: context.prompt_name,
        adapter: context.adapter,
        entry_type: entry_type.unwrap_or(EntryType::Unknown),
        sequence_number: context.sequence_number,
        source: context.source,
        timestamp: Timestamp::parse(&context.timestamp).ok()?,
        session_id: context.session_id,
        detail: context.detail,
        raw: context.raw,
    })
}

#[derive(Deserialize)]
struct Record {
    event: String,
    context: Json,
}

#[derive(Deserialize)]
struct Context {
    prompt_name: String,
    adapter: String,
    entry_type: String,
    sequence_number: u64,
    source: String,
    timestamp: String,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    detail: Option<Json>,
    #[serde(default)]
    raw: Option<String>,
}
