//! A run as a debug bundle of WINK: its log, its transcript and what is known around them.
//!
//! The files stand under `<run-id>/debug_bundle/`, as they do inside the zip that WINK's own tools
//! open. Packing them is left to whoever has a disk. The log and the transcript leave while events
//! come in; only their running checksums are kept.

mod artifacts;
mod detail;
mod line;
mod readme;
mod records;
mod run;
mod wire;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::payload::{Message, ToolCall};
use quipu_event::{BlockContent, Event, Kind};

use crate::entries::{Entries, Entry, Taken, TranscriptSummary};
use crate::files::{FileView, Losses, Shelf};
use crate::plain;
use artifacts::Artifacts;
use run::Run;

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
    losses: Losses,
}

impl WinkView {
    /// Begins a run.
    pub fn new() -> Self {
        WinkView::default()
    }

    fn log_entries(&mut self, entries: Vec<Entry>, shelf: &mut dyn Shelf) {
        let Some(artifacts) = &mut self.artifacts else { return };
        for mut entry in entries {
            if self.summary.total_entries == 0 {
                artifacts.append(LOG, &plain::line(&records::start(&entry)), shelf);
            }
            self.summary.add(&entry);
            entry.detail = detail::in_words_of_adapter(&entry);
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
        let entries = self.entries.add(event);
        self.calls.note(event, entries.is_empty());
        self.log_entries(entries, shelf);
        if let (Some(record), Some(artifacts)) = (records::beside(event), &mut self.artifacts) {
            artifacts.append(LOG, &plain::line(&record), shelf);
        }
    }

    fn finish(&mut self, shelf: &mut dyn Shelf) {
        let mut late = Vec::new();
        self.entries.finish(|entry| {
            late.push(entry.clone());
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

/// Replies that say nothing but calls are carried by the calls, if those come.
#[derive(Default)]
struct AnnouncedCalls {
    /// Calls that came, by a hash: only whether they did matters.
    came: BTreeSet<u64>,
    /// The calls of each reply that became no entry of its own.
    awaited: Vec<u64>,
}

impl AnnouncedCalls {
    fn note(&mut self, event: &Event, became_nothing: bool) {
        match event.kind {
            Kind::ToolCall | Kind::ToolResult => {
                if let Ok(call) = event.payload.decode::<ToolCall>() {
                    self.came.insert(hash(&call.call_id));
                }
            }
            Kind::MessageAssistant if became_nothing => {
                let message = event.payload.decode::<Message>().unwrap_or_default();
                let first = message.blocks.iter().find_map(|block| match &block.content {
                    BlockContent::ToolUse { tool_id, .. }
                    | BlockContent::ToolResult { tool_id, .. } => Some(hash(tool_id)),
                    _ => None,
                });
                self.awaited.push(first.unwrap_or_default());
            }
            _ => {}
        }
    }

    fn count_lost(&mut self, losses: &mut Losses) {
        let lost = self.awaited.iter().filter(|call| !self.came.contains(call)).count();
        if lost > 0 {
            let name = Kind::MessageAssistant.as_str().to_owned();
            *losses.events.entry(name).or_default() += lost as u64;
        }
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
