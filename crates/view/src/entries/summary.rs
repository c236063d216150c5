//! A transcript in numbers, as a fold over its entries.

use std::collections::BTreeMap;

use quipu_event::Timestamp;

use super::Entry;

/// How many entries of which type and source there are, and from when to when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptSummary {
    /// How many entries.
    pub total_entries: u64,
    /// The same by type.
    pub entries_by_type: BTreeMap<&'static str, u64>,
    /// The same by source.
    pub entries_by_source: BTreeMap<String, u64>,
    /// The sources, in the order in which they first spoke.
    pub sources: Vec<String>,
    /// The adapter of the first entry.
    pub adapter: String,
    /// The prompt of the first entry.
    pub prompt_name: String,
    /// The earliest timestamp.
    pub first_timestamp: Option<Timestamp>,
    /// The latest timestamp.
    pub last_timestamp: Option<Timestamp>,
}

impl TranscriptSummary {
    /// Takes the next entry.
    pub fn add(&mut self, entry: &Entry) {
        if self.total_entries == 0 {
            self.adapter.clone_from(&entry.adapter);
            self.prompt_name.clone_from(&entry.prompt_name);
        }
        self.total_entries += 1;
        *self.entries_by_type.entry(entry.entry_type.as_str()).or_default() += 1;
        match self.entries_by_source.get_mut(&entry.source) {
            Some(count) => *count += 1,
            None => {
                self.entries_by_source.insert(entry.source.clone(), 1);
                self.sources.push(entry.source.clone());
            }
        }
        let moment = entry.timestamp;
        self.first_timestamp = Some(self.first_timestamp.map_or(moment, |first| first.min(moment)));
        self.last_timestamp = Some(self.last_timestamp.map_or(moment, |last| last.max(moment)));
    }
}

impl<'a> Extend<&'a Entry> for TranscriptSummary {
    fn extend<T: IntoIterator<Item = &'a Entry>>(&mut self, entries: T) {
        entries.into_iter().for_each(|entry| self.add(entry));
    }
}
