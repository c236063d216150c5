//! Where what happens is told: to the transcript, and to whoever watches.
//!
//! Secrets are masked here, once, so that both see the same.

mod tally;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quipu_event::payload::{Counts, TokenCounts};
use quipu_event::{Draft, RunId};
use quipu_journal::{Mask, Recorder};

use crate::display::{Display, DisplayEvent, Projector};
use crate::driver::Secrets;
pub(crate) use tally::Tally;

/// Takes what happens in one run.
///
/// A scribe never fails towards the work: a transcript that cannot be written is reported once,
/// by the scribe, and the work goes on.
pub trait Scribe: Send + Sync {
    /// Records an event. Whoever watches sees what follows from it; nobody shows it twice.
    fn record(&self, draft: Draft);

    /// Shows something that is no event of its own: a piece of a text still in the making.
    fn show(&self, event: DisplayEvent);
}

/// The scribe of one run of a workflow.
pub struct RunScribe {
    recorder: Option<Recorder>,
    display: Arc<dyn Display>,
    secrets: Arc<Secrets>,
    telling: Mutex<Telling>,
    troubled: AtomicBool,
}

/// What a scribe remembers from one event to the next.
struct Telling {
    projector: Projector,
    tally: Tally,
}

impl RunScribe {
    /// Makes the scribe of the run `run`. Without a recorder nothing is written, and everything is shown.
    pub(crate) fn new(
        run: RunId,
        recorder: Option<Recorder>,
        display: Arc<dyn Display>,
        secrets: Arc<Secrets>,
        tally: Tally,
    ) -> RunScribe {
        let telling = Mutex::new(Telling { projector: Projector::new(run), tally });
        RunScribe { recorder, display, secrets, telling, troubled: AtomicBool::new(false) }
    }

    /// Returns what the run has left so far, one more line included, and what it used up.
    pub(crate) fn so_far(&self) -> (Counts, TokenCounts) {
        let telling = self.telling();
        let mut counts = telling.tally.counts.clone();
        counts.events += 1;
        (counts, telling.tally.usage)
    }

    /// Returns where the transcript is.
    pub(crate) fn transcript(&self) -> Option<&Path> {
        self.recorder.as_ref().map(Recorder::path)
    }

    /// Tells whether everything was recorded so far.
    pub(crate) fn is_sound(&self) -> bool {
        self.recorder.is_some() && !self.troubled.load(Ordering::Relaxed)
    }

    /// Ends recording.
    pub(crate) fn close(&self) {
        if let Some(Err(cause)) = self.recorder.as_ref().map(Recorder::close) {
            self.trouble(&cause);
        }
    }

    fn telling(&self) -> MutexGuard<'_, Telling> {
        // What a panic left behind is at worst a count that is off by one.
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trouble(&self, cause: &dyn std::error::Error) {
        if self.troubled.swap(true, Ordering::Relaxed) {
            return;
        }
        tracing::warn!(%cause, "the transcript is not complete");
        let text = format!("the transcript is not complete: {cause}");
        self.display.show(&DisplayEvent::Log { at: None, level: "warn", text });
    }
}

impl Scribe for RunScribe {
    fn record(&self, draft: Draft) {
        let (draft, masked) = self.secrets.mask(draft);
        let seen = {
            let mut telling = self.telling();
            telling.tally.masked(masked);
            telling.tally.add(&draft.kind, &draft.payload);
            telling.projector.project(&draft)
        };
        if let Some(Err(cause)) = self.recorder.as_ref().map(|recorder| recorder.record(draft)) {
            self.trouble(&cause);
        }
        for event in &seen {
            self.display.show(event);
        }
    }

    fn show(&self, event: DisplayEvent) {
        let event = self.masked(event);
        self.telling().projector.note(&event);
        self.display.show(&event);
    }
}

impl RunScribe {
    fn masked(&self, mut event: DisplayEvent) -> DisplayEvent {
        if let DisplayEvent::Output { text, .. }
        | DisplayEvent::Text { text, .. }
        | DisplayEvent::Thinking { text, .. }
        | DisplayEvent::Log { text, .. } = &mut event
        {
            *text = self.secrets.mask_text(text).into_owned();
        }
        event
    }
}

#[cfg(test)]
mod tests;
