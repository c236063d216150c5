//! A run as entries of a structured log: one small vocabulary for every agent and for workflows.
//!
//! Each event becomes no entry, one or several. What an entry is called, its number and its source
//! depend on the events alone, so that a log written live and one made later from the transcript
//! hold the same entries.

mod detail;
mod entry;
mod fields;
mod identity;
mod reconstruct;
mod split;
mod summary;
mod wire;

use std::collections::{BTreeMap, VecDeque};

use quipu_event::payload::ToolCall;
use quipu_event::{Event, Kind, Timestamp};

use identity::Identity;
use split::{Piece, Pieces};

pub use entry::{Entry, EntryType, MAIN};
pub(crate) use fields::Fields;
pub use reconstruct::reconstruct;
pub use summary::TranscriptSummary;
pub use wire::LogRecord;
pub(crate) use wire::spelled;

/// So many foreign records wait for the tool call that they belong to.
const WAITING: usize = 256;

/// What entries are to say beside what the events do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryOptions {
    /// Takes the place of the run's name.
    pub prompt_name: Option<String>,
    /// Takes the place of the name of the run's agent.
    pub adapter: Option<String>,
    /// Whether entries carry the foreign record that they were made from.
    pub emit_raw: bool,
}

impl Default for EntryOptions {
    fn default() -> Self {
        EntryOptions { prompt_name: None, adapter: None, emit_raw: true }
    }
}

/// Whether an entry has reached whom it was handed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It has.
    Yes,
    /// It has not: the next entry of its source gets its number.
    No,
}

/// Folds the events of one run into entries.
///
/// The envelope of an entry is always complete: a run that never says its name is called by its
/// id, and one without an agent of its own has the adapter `quipu`.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    options: EntryOptions,
    identity: Option<Identity>,
    /// Events that came before it was known whose run this is.
    held: Vec<Event>,
    session_id: Option<String>,
    sources: BTreeMap<String, Source>,
    /// Foreign records of messages that were nothing but tool calls, by the first call.
    records: VecDeque<(String, String)>,
}

/// How far one source has come.
#[derive(Clone, Copy, Debug)]
struct Source {
    last: u64,
    latest: Timestamp,
}

impl Entries {
    /// Begins a run.
    pub fn new(options: EntryOptions) -> Self {
        Entries { options, ..Entries::default() }
    }

    /// Takes the next event and returns the entries it becomes.
    pub fn add(&mut self, event: &Event) -> Vec<Entry> {
        let mut entries = Vec::new();
        self.hand_out(event, |entry| {
            entries.push(entry.clone());
            Taken::Yes
        });
        entries
    }

    /// Takes the next event and hands out the entries it becomes, one after the other.
    ///
    /// An entry that is not taken uses up no number.
    pub fn hand_out(&mut self, event: &Event, mut take: impl FnMut(&Entry) -> Taken) {
        if self.identity.is_none() {
            self.identity = Identity::of(&self.held, event, &self.options);
            if self.identity.is_none() {
                self.held.push(event.clone());
                return;
            }
        }
        for held in std::mem::take(&mut self.held) {
            self.map(&held, &mut take);
        }
        self.map(event, &mut take);
    }

    /// Hands out what still waits to learn whose run it is of, once nothing more comes.
    pub fn finish(&mut self, mut take: impl FnMut(&Entry) -> Taken) {
        let Some(last) = self.held.pop() else { return };
        self.identity = Some(Identity::settle(&self.held, &last, &self.options));
        self.hand_out(&last, &mut take);
    }

    /// Returns the run's name, once it is known.
    pub fn prompt_name(&self) -> Option<&str> {
        self.identity.as_ref().map(|identity| identity.prompt_name.as_str())
    }

    /// Returns the name of the run's adapter, once it is known.
    pub fn adapter(&self) -> Option<&str> {
        self.identity.as_ref().map(|identity| identity.adapter.as_str())
    }

    fn map(&mut self, event: &Event, take: &mut impl FnMut(&Entry) -> Taken) {
        if let Some(session_id) = identity::session_id(event) {
            self.session_id = Some(session_id);
        }
        let mut raw = self.raw_of(event);
        match split::pieces(event) {
            Pieces::Said(pieces) => {
                for piece in pieces {
                    self.number(event, &piece, raw.take(), take);
                }
            }
            Pieces::OnlyCalls { first_call } => {
                // The calls say it all; the record goes with the first of them.
                if let Some(raw) = raw {
                    self.records.push_back((first_call, raw));
                    if self.records.len() > WAITING {
                        self.records.pop_front();
                    }
                }
            }
        }
    }

    fn number(
        &mut self,
        event: &Event,
        piece: &Piece,
        raw: Option<String>,
        take: &mut impl FnMut(&Entry) -> Taken,
    ) {
        let Some(Identity { prompt_name, adapter }) = &self.identity else { return };
        let name = entry::source_of(event, adapter);
        let start = Source { last: 0, latest: event.timestamp };
        let mut source = self.sources.get(&name).copied().unwrap_or(start);
        // A clock that was set back, or a foreign record that came late, does not turn time around.
        source.latest = source.latest.max(event.timestamp);
        source.last += 1;
        let detail = detail::detail(event, piece, &name, source.latest);
        let entry = Entry {
            prompt_name: prompt_name.clone(),
            adapter: adapter.clone(),
            entry_type: piece.entry_type,
            sequence_number: source.last,
            source: name,
            timestamp: source.latest,
            session_id: self.session_id.clone(),
            detail: Some(detail),
            raw,
        };
        if take(&entry) == Taken::Yes {
            self.sources.insert(entry.source, source);
        }
    }

    /// Returns the foreign record of an event, if it has one and it is wanted.
    fn raw_of(&mut self, event: &Event) -> Option<String> {
        if !self.options.emit_raw {
            return None;
        }
        if let Some(bytes) = event.raw.as_ref().and_then(|raw| raw.bytes()) {
            return Some(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            });
        }
        if event.kind != Kind::ToolCall || self.records.is_empty() {
            return None;
        }
        let call_id = event.payload.decode::<ToolCall>().ok()?.call_id;
        let at = self.records.iter().position(|(first_call, _)| *first_call == call_id)?;
        self.records.remove(at).map(|(_, raw)| raw)
    }
}
