//! Where the run stands: `run.json`, written anew whenever that changes.

use quipu_event::Timestamp;
use quipu_event::payload::{RunCompleted, RunStarted, Status};

use super::ledger::Ledger;
use super::wire::{self, RunDocument};
use crate::Shelf;

/// What `run.json` says.
pub(super) struct State {
    pub(super) name: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) status: &'static str,
    created: Timestamp,
    pub(super) started: Option<Timestamp>,
    pub(super) completed: Option<Timestamp>,
    pub(super) updated: Timestamp,
    pub(super) duration_ms: Option<u64>,
    pub(super) error: Option<String>,
    pub(super) tool_calls: u64,
}

impl State {
    /// Begins with what the run's first event says.
    pub(super) fn new(first: Timestamp) -> State {
        State {
            name: None,
            kind: None,
            status: "pending",
            created: first,
            started: None,
            completed: None,
            updated: first,
            duration_ms: None,
            error: None,
            tool_calls: 0,
        }
    }

    /// Takes note that the run is accepted or begins.
    pub(super) fn name(&mut self, name: &str, kind: &str) {
        if !name.is_empty() {
            self.name = Some(name.to_owned());
        }
        self.kind = Some(kind.to_owned());
    }

    pub(super) fn start(&mut self, at: Timestamp, run: &RunStarted) {
        self.name(&run.name, run.kind.as_str());
        self.started.get_or_insert(at);
        // A run that is taken up again runs again.
        (self.status, self.completed, self.error) = ("running", None, None);
        self.duration_ms = None;
    }

    pub(super) fn complete(&mut self, at: Timestamp, run: &RunCompleted) {
        self.status = match run.status {
            Some(Status::Canceled) => "cancelled",
            Some(Status::Failed | Status::Aborted | Status::Blocked) => "failed",
            _ => "completed",
        };
        if self.name.is_none() && !run.name.is_empty() {
            self.name = Some(run.name.clone());
        }
        self.completed = Some(at);
        self.error = run.error.clone().filter(|error| !error.is_empty());
        self.duration_ms = Some(run.whole_ms(self.started.unwrap_or(self.created), at));
    }

    /// Something happened: the run is under way even if nobody said that it started.
    pub(super) fn go_on(&mut self, at: Timestamp, is_work: bool) {
        self.updated = self.updated.max(at);
        if is_work && self.status == "pending" {
            self.status = "running";
        }
    }

    pub(super) fn write(&self, ledger: &Ledger, shelf: &mut dyn Shelf) {
        let names = &ledger.identity;
        let document = wire::document(&RunDocument {
            run_id: &names.run_id,
            session_id: &names.session_id,
            task_id: &names.task_id,
            parent_run_id: names.parent_run_id.as_deref(),
            name: self.name.as_deref(),
            kind: self.kind.as_deref(),
            status: self.status,
            created_at: self.created,
            started_at: self.started,
            completed_at: self.completed,
            updated_at: self.updated,
            duration_ms: self.duration_ms,
            error: self.error.as_deref(),
            last_sequence: ledger.sequence,
            tool_calls: self.tool_calls,
            errors: ledger.errors,
        });
        shelf.put(&format!("{}/run.json", ledger.folder), &document);
    }
}
