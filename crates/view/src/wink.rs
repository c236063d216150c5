//! A run as a debug bundle of WINK: its log, its transcript and what is known around them.
//!
//! The files stand under `<run-id>/debug_bundle/`, as they do inside the zip that WINK's own tools
//! open. Packing them is left to whoever has a disk. The log and the transcript leave while events
//! come in; only their running checksums are kept.

mod artifacts;
mod calls;
mod detail;
mod line;
mod native;
mod readme;
mod records;
mod run;
mod told;
mod wire;

use quipu_event::Event;

use crate::entries::{Entries, Entry, EntryType, Taken, TranscriptSummary};
use crate::files::{FileView, Losses, Shelf};
use crate::plain;
use artifacts::Artifacts;
use calls::{AnnouncedCalls, CallIds};
use detail::Source;
use run::Run;
use told::LastTold;

/// The folder that holds the whole bundle inside its zip.
const ROOT: &str = "debug_bundle";
/// Every record of the run.
const LOG: &str = "logs/app.jsonl";
/// Those of them that are entries.
const TRANSCRIPT: &str = "transcript.jsonl";

/// Folds a run into the files of a debug bundle.
#[derive(Default)]
pub struct WinkView {
    entries: Entries,
    summary: TranscriptSummary,
    run: Run,
    artifacts: Option<Artifacts>,
    calls: AnnouncedCalls,
    call_ids: CallIds,
    told: LastTold,
    losses: Losses,
}

impl WinkView {
    /// Begins a run.
    pub fn new() -> Self {
        WinkView::default()
    }

    /// Returns the entries that `event` becomes, in the words of their adapters.
    fn entries_of(&mut self, event: &Event, call_id: Option<&str>) -> Vec<Entry> {
        let imported_from = self.run.imported_from();
        let is_from_wink = imported_from == Some("wink");
        let mut told = if is_from_wink { self.told.by(event) } else { None };
        let is_told = told.is_some();
        let mut entries: Vec<Entry> = Vec::new();
        self.entries.hand_out(event, |entry| {
            // What WINK told as one entry stays one.
            if is_told && !entries.is_empty() {
                return Taken::No;
            }
            entries.push(entry.clone());
            Taken::Yes
        });
        let has_thoughts = entries.iter().any(|entry| entry.entry_type == EntryType::Thinking);
        let is_message = |entry: &Entry| entry.entry_type == EntryType::AssistantMessage;
        let is_one = entries.iter().filter(|entry| is_message(entry)).count() == 1;
        for entry in &mut entries {
            if let Some(told) = told.take() {
                told.fill(entry);
                continue;
            }
            if is_from_wink {
                self.told.label(event, entry);
            }
            // The records of another recorder are not the agent's own.
            let record = match imported_from {
                None => native::behind(event, entry, is_one),
                Some(_) => None,
            };
            let source = Source { record: record.as_ref(), has_thoughts, call_id };
            entry.detail = detail::in_words_of_adapter(entry, &source);
        }
        entries
    }

    fn log_entries(&mut self, entries: Vec<Entry>, shelf: &mut dyn Shelf) {
        let Some(artifacts) = &mut self.artifacts else { return };
        for entry in entries {
            if self.summary.total_entries == 0 {
                artifacts.append(LOG, &plain::line(&records::start(&entry)), shelf);
            }
            self.summary.add(&entry);
            let line = plain::line(&records::entry(&entry));
            artifacts.append(LOG, &line, shelf);
            artifacts.append(TRANSCRIPT, &line, shelf);
        }
    }
}

impl FileView for WinkView {
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        self.artifacts.get_or_insert_with(|| Artifacts::of(&event.run_id));
        self.run.add(event);
        let call_id = self.call_ids.of(event);
        let call_id = call_id.as_deref();
        let entries = self.entries_of(event, call_id);
        self.calls.note(event, entries.is_empty());
        self.log_entries(entries, shelf);
        let beside = records::beside(event, call_id);
        if let (Some(record), Some(artifacts)) = (beside, &mut self.artifacts) {
            artifacts.append(LOG, &plain::line(&record), shelf);
        }
    }

    fn finish(&mut self, shelf: &mut dyn Shelf) {
        let mut late = Vec::new();
        self.entries.finish(|entry| {
            let detail = detail::in_words_of_adapter(entry, &Source::default());
            late.push(Entry { detail, ..entry.clone() });
            Taken::Yes
        });
        self.log_entries(late, shelf);
        let Some(mut artifacts) = self.artifacts.take() else { return };
        if let Some(record) = records::stop(&self.summary) {
            artifacts.append(LOG, &plain::line(&record), shelf);
        }
        self.run.put_down(&self.summary, &mut artifacts, shelf);
        artifacts.close(&self.run.manifest(&self.summary), shelf);
        self.calls.count_lost(&mut self.losses);
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }
}
