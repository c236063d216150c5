//! Steps that have begun, and those that may be tried again.

use std::collections::HashMap;

use quipu_event::payload::Status;
use quipu_event::{Kind, StepPath, Timestamp};

/// The steps of a run between their beginnings and their ends.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenSteps {
    open: HashMap<StepPath, OpenStep>,
    /// How a step ended that did not succeed: the next attempt takes that back.
    failed: HashMap<StepPath, (usize, Status)>,
}

/// A step that has begun. It may be told twice, as `step.*` and as `step.call_workflow.*`, and is
/// then forgotten only after both ends.
#[derive(Clone, Debug)]
pub(super) struct OpenStep {
    /// Its place among the rows.
    pub(super) row: usize,
    pub(super) started: Timestamp,
    began_as: Kind,
    attempt: u32,
    ends_to_come: u8,
    has_ended: bool,
}

/// What an end means.
pub(super) enum Ending {
    /// A step ends that began at that time.
    Of(usize, Timestamp),
    /// It was told before.
    Again,
    /// It ends without having begun.
    Unbegun,
}

impl OpenSteps {
    /// Tells whether a beginning is only the second telling of one.
    pub(super) fn is_told(&mut self, path: &StepPath, kind: &Kind, attempt: u32) -> bool {
        let Some(open) = self.open.get_mut(path) else { return false };
        let is_told = !open.has_ended && open.began_as != *kind && open.attempt == attempt;
        if is_told {
            open.ends_to_come = 2;
        }
        is_told
    }

    pub(super) fn begin(
        &mut self,
        path: StepPath,
        row: usize,
        (kind, attempt): (Kind, u32),
        started: Timestamp,
    ) {
        let ends_to_come = 1;
        let has_ended = false;
        let step = OpenStep { row, started, began_as: kind, attempt, ends_to_come, has_ended };
        self.open.insert(path, step);
    }

    pub(super) fn end(&mut self, path: &StepPath) -> Ending {
        let Some(open) = self.open.get_mut(path) else { return Ending::Unbegun };
        open.ends_to_come = open.ends_to_come.saturating_sub(1);
        let ending = match std::mem::replace(&mut open.has_ended, true) {
            true => Ending::Again,
            false => Ending::Of(open.row, open.started),
        };
        if open.ends_to_come == 0 {
            self.open.remove(path);
        }
        ending
    }

    /// Returns the row of the step that is open at `path`.
    pub(super) fn row_at(&self, path: &StepPath) -> Option<usize> {
        self.open.get(path).map(|open| open.row)
    }

    pub(super) fn note_failure(&mut self, path: StepPath, row: usize, status: Status) {
        self.failed.insert(path, (row, status));
    }

    /// Returns the end that a new attempt at `path` takes back.
    pub(super) fn taken_back(&mut self, path: &StepPath) -> Option<(usize, Status)> {
        self.failed.remove(path)
    }
}
