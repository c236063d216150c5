//! Steps and loops, whatever the iteration.

use std::collections::HashMap;

use quipu_event::payload::{Status, StepCompleted, StepStarted};
use quipu_event::{Event, Kind, StepPath, Timestamp};

use super::{Summary, entry};
use crate::path::{Level, pieces, split_foreign};
use crate::reading::step_path;

/// All occurrences of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepTotals {
    /// What kind of step, when its events say.
    pub kind: Option<String>,
    /// How often it was begun for the first time in its place.
    pub occurrences: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    /// Attempts that ended.
    pub ended: u64,
    /// Attempts that ended in failure.
    pub failed: u64,
    /// How long its attempts took, added up.
    pub duration_ms: u64,
    /// How long the longest attempt took.
    pub max_duration_ms: u64,
}

/// Steps that have begun and not ended.
pub(super) type OpenSteps = HashMap<StepPath, OpenStep>;

/// A step that has begun. It may be told twice, as `step.*` and as `step.call_workflow.*`, and is
/// then forgotten only after both ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenStep {
    began_as: Kind,
    attempt: u32,
    started: Timestamp,
    ends_to_come: u8,
    has_ended: bool,
}

impl Summary {
    pub(super) fn begin_step(&mut self, event: &Event, step: &StepStarted) {
        let path = step_path(event, &step.name);
        let attempt = step.attempt.unwrap_or(1);
        self.child_runs += u64::from(event.kind == Kind::CallWorkflowStarted);
        if let Some(open) = self.open_steps.get_mut(&path)
            && open.is_also_told_by(&event.kind, attempt)
        {
            open.ends_to_come = 2;
            return;
        }
        self.note_agent(step.agent.as_ref());
        let totals = self.step_totals(&path, &step.kind);
        if attempt > 1 {
            totals.retries += 1;
        } else {
            totals.occurrences += 1;
        }
        let open = OpenStep {
            began_as: event.kind.clone(),
            attempt,
            started: event.timestamp,
            ends_to_come: 1,
            has_ended: false,
        };
        self.open_steps.insert(path, open);
    }

    pub(super) fn end_step(&mut self, event: &Event, step: &StepCompleted) {
        let path = step_path(event, &step.name);
        let mut elapsed = None;
        let mut begun = 0;
        if let Some(open) = self.open_steps.get_mut(&path) {
            open.ends_to_come -= 1;
            let told_before = std::mem::replace(&mut open.has_ended, true);
            elapsed = Some(event.timestamp.millis_since(open.started));
            begun = 1;
            if open.ends_to_come == 0 {
                self.open_steps.remove(&path);
            }
            if told_before {
                return;
            }
        }
        let totals = self.step_totals(&path, &step.kind);
        let duration = step.duration_ms.or(elapsed).unwrap_or(0);
        // A beginning that was lost is made up for, so that ends never outnumber beginnings.
        totals.occurrences += 1 - begun;
        totals.ended += 1;
        totals.failed += u64::from(step.status.as_ref().is_some_and(Status::is_failure));
        totals.duration_ms = totals.duration_ms.saturating_add(duration);
        totals.max_duration_ms = totals.max_duration_ms.max(duration);
    }

    /// Returns the totals of the step at `path`, and notes how far its loops have come.
    fn step_totals(&mut self, path: &StepPath, kind: &str) -> &mut StepTotals {
        let mut place = String::new();
        let mut inside_step = false;
        let (indices, name) = split_foreign(path.as_str()).unwrap_or((Vec::new(), path.as_str()));
        let foreign = indices.into_iter().map(Level::Iteration);
        for level in foreign.chain(pieces(name).into_iter().map(|piece| piece.level)) {
            match level {
                Level::Step(name) => go_into(&mut place, name),
                Level::Iteration(index) => {
                    if !inside_step {
                        // Some writers number a loop without naming it.
                        go_into(&mut place, "loop");
                    }
                    let longest = entry(&mut self.loops, &place);
                    *longest = (*longest).max(index.saturating_add(1));
                }
            }
            inside_step = matches!(level, Level::Step(_));
        }
        let totals = entry(&mut self.steps, &place);
        if totals.kind.is_none() && !kind.is_empty() {
            totals.kind = Some(kind.to_owned());
        }
        totals
    }
}

impl OpenStep {
    fn is_also_told_by(&self, kind: &Kind, attempt: u32) -> bool {
        !self.has_ended && self.began_as != *kind && self.attempt == attempt
    }
}

fn go_into(place: &mut String, name: &str) {
    if !place.is_empty() {
        place.push('.');
    }
    place.push_str(name);
}
