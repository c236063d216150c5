//! Flow Studio's layout: a folder a run, with its steps' transcripts and receipts, and one log.
//!
//! A run that was imported from there is put back byte for byte from what the import kept; any
//! other is told anew. Whoever asks for a run that called others gets each in a folder of its own.

mod calls;
mod conversation;
mod execution;
mod log;
mod names;
mod notes;
mod pairs;
mod restore;
mod said;
mod slots;
mod steps;
mod tell;
mod wire;

use quipu_event::{Event, Kind};
use serde_json::Value;

use crate::files::{FileView, Losses, Shelf};
use restore::Restoring;
use tell::Telling;

/// A run as Flow Studio keeps it, below a folder that has the run's id.
///
/// | file | holds |
/// |---|---|
/// | `<run>/<flow>/llm/<step>-<agent>-<engine>.jsonl` | what was said in the step, and its tools |
/// | `<run>/<flow>/receipts/<step>-<agent>.json` | how the step ended, and what it took |
/// | `<run>/<flow>/llm_earlier/`, `receipts_earlier/` | earlier executions of the same step |
/// | `<run>/events.jsonl`, `<run>/meta.json` | the run |
#[derive(Default)]
pub struct FlowStudioView {
    work: Option<Work>,
    losses: Losses,
}

enum Work {
    Restore(Restoring),
    Tell(Box<Telling>),
}

impl FlowStudioView {
    /// Makes a view of one run.
    pub fn new() -> Self {
        Self::default()
    }
}

impl FileView for FlowStudioView {
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        let work = self.work.get_or_insert_with(|| {
            if is_from_flow_studio(event) {
                Work::Restore(Restoring::new(event.run_id.as_str()))
            } else {
                Work::Tell(Box::new(Telling::new(event)))
            }
        });
        let is_carried = match work {
            Work::Restore(restoring) => restoring.add(event, shelf),
            Work::Tell(telling) => telling.add(event, shelf),
        };
        if !is_carried {
            self.losses.leave_out(event);
        }
    }

    fn finish(&mut self, shelf: &mut dyn Shelf) {
        match &mut self.work {
            Some(Work::Restore(restoring)) => restoring.finish(shelf),
            Some(Work::Tell(telling)) => telling.finish(shelf),
            None => {}
        }
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }
}

/// Tells whether the run that begins with `event` was imported from this very layout.
fn is_from_flow_studio(event: &Event) -> bool {
    let begins = matches!(event.kind, Kind::RunCreated | Kind::RunStarted);
    let payload = begins.then(|| event.payload.decode::<Value>().ok()).flatten();
    payload.is_some_and(|payload| payload["labels"]["imported_from"] == "flow-studio")
}
