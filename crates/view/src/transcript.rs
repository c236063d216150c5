//! The transcript itself as a layout: what is handed on is a storage of its own.
//!
//! Worth having because what is exported may be chosen and redacted on the way.

use quipu_event::{Event, encode_line};

use crate::files::{FileView, Losses, Shelf};

/// Writes `transcripts/<run-id>.jsonl`, one line per event, as they are. Nothing is lost.
#[derive(Debug, Default)]
pub struct TranscriptView {
    path: String,
    line: String,
    losses: Losses,
}

impl TranscriptView {
    /// Makes a view of one run.
    pub fn new() -> Self {
        TranscriptView::default()
    }
}

impl FileView for TranscriptView {
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        if self.path.is_empty() {
            self.path = format!("transcripts/{}.jsonl", event.run_id);
        }
        self.line.clear();
        encode_line(event, &mut self.line);
        shelf.append(&self.path, self.line.as_bytes());
    }

    fn finish(&mut self, _shelf: &mut dyn Shelf) {}

    fn losses(&self) -> &Losses {
        &self.losses
    }
}
