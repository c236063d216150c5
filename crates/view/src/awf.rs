//! A run as AWF writes it: its transcript in the ten types that AWF knows, and its audit trail.
//!
//! Everything that AWF's strict decoder refuses is left out, and so is every field that it would
//! pass over. What is left is numbered anew, since AWF promises numbers without gaps.

mod audit;
mod line;
mod wire;

use quipu_event::{Event, Kind, RunId};

use crate::files::{FileView, Losses, Shelf};
use crate::plain;
use audit::Audit;

/// Where AWF keeps what runs leave.
const STORAGE: &str = "storage";

/// The audit trail, which all runs of a storage share.
pub const AWF_TRAIL: &str = "storage/audit.jsonl";

/// Folds a run into a transcript and entries of an audit trail that AWF can read.
#[derive(Default)]
pub struct AwfView {
    /// The run that the file is named after.
    run_id: Option<RunId>,
    /// How many lines there are.
    seq: u64,
    audit: Audit,
    losses: Losses,
}

impl AwfView {
    /// Begins a run.
    pub fn new() -> Self {
        AwfView::default()
    }
}

impl FileView for AwfView {
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        let run_id = self.run_id.get_or_insert_with(|| event.run_id.clone());
        if !is_canonical(&event.kind) {
            self.losses.leave_out(event);
            return;
        }
        self.seq += 1;
        let path = format!("{STORAGE}/transcripts/{run_id}.jsonl");
        shelf.append(&path, &plain::line(&line::line(self.seq, event)));
        // Some writers put a child run's events among its caller's.
        if event.run_id != *run_id {
            return;
        }
        if let Some(entry) = self.audit.add(event) {
            shelf.append(AWF_TRAIL, &plain::line(&entry));
        }
    }

    fn finish(&mut self, _: &mut dyn Shelf) {}

    fn losses(&self) -> &Losses {
        &self.losses
    }
}

/// Tells whether AWF knows the type.
fn is_canonical(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::RunStarted
            | Kind::RunCompleted
            | Kind::StepStarted
            | Kind::StepCompleted
            | Kind::CallWorkflowStarted
            | Kind::CallWorkflowCompleted
            | Kind::MessageUser
            | Kind::MessageAssistant
            | Kind::ToolCall
            | Kind::ToolResult
    )
}
