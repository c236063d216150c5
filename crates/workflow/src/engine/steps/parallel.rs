//! A parallel step: its branches, how many at a time, and when the matter is decided.

use std::collections::VecDeque;
use std::sync::Arc;

use quipu_event::payload::Status;
use serde_json::json;

use super::super::Engine;
use super::super::activity::{Activity, ActivityId, Doing, Ended, Entrance, Parent, Stopping};
use super::super::lifecycle::{error_text, failed};
use super::super::numbering::Numbering;
use super::super::values::SpaceId;
use super::super::work::Outcome;
use crate::definition::{ParallelStep, Step, Strategy};
use crate::language::Value;

/// The branches of a parallel step.
#[derive(Debug)]
pub(in crate::engine) struct Branches {
    pub(in crate::engine) numbering: Numbering,
    strategy: Strategy,
    names: Vec<String>,
    /// Those that have not begun, by index.
    ahead: VecDeque<usize>,
    running: Vec<ActivityId>,
    limit: usize,
    /// What each branch learned; merged in this order at the end.
    spaces: Vec<Option<SpaceId>>,
    ends: Vec<Option<Status>>,
    problems: Vec<String>,
    succeeded: usize,
}

impl Engine {
    pub(in crate::engine) fn open_parallel(
        &mut self,
        id: ActivityId,
        step: &Step,
        parallel: &ParallelStep,
    ) {
        let parent = self.activities.get(id).parent;
        let base = self.numbering_around(parent).base_inside(&step.name);
        let count = parallel.branches.len();
        self.activities.get_mut(id).doing = Doing::Parallel(Box::new(Branches {
            numbering: Numbering::from_base(base),
            strategy: parallel.strategy,
            names: parallel.branches.clone(),
            ahead: (0..count).collect(),
            running: Vec::new(),
            limit: parallel.max_concurrent.filter(|limit| *limit > 0).unwrap_or(usize::MAX),
            spaces: vec![None; count],
            ends: vec![None; count],
            problems: Vec::new(),
            succeeded: 0,
        }));
        self.set_alarm(id);
        self.start_branches(id);
    }

    /// Begins as many branches as may run; ends the step when none is left.
    fn start_branches(&mut self, id: ActivityId) {
        while let Some(index) = self.next_branch(id) {
            self.start_branch(id, index);
        }
        let Doing::Parallel(branches) = &self.activities.get(id).doing else { return };
        if branches.running.is_empty() {
            self.end_parallel(id);
        }
    }

    fn next_branch(&mut self, id: ActivityId) -> Option<usize> {
        let activity = self.activities.get_mut(id);
        let is_stopping = activity.stopping.is_some();
        let Doing::Parallel(branches) = &mut activity.doing else { return None };
        if is_stopping || branches.is_decided() || branches.running.len() >= branches.limit {
            return None;
        }
        branches.ahead.pop_front()
    }

    fn start_branch(&mut self, id: ActivityId, index: usize) {
        let activity = self.activities.get(id);
        let Doing::Parallel(branches) = &activity.doing else { return };
        let name = branches.names[index].clone();
        let (path, iteration) = (activity.path.child(&name), activity.iteration);
        let (outer, inner_loop) = (activity.space, activity.inner_loop.clone());
        let Some(step) = self.plan.steps.get(&name).cloned() else {
            let outcome = failed(format!("there is no step `{name}`"));
            if let Doing::Parallel(branches) = &mut self.activities.get_mut(id).doing {
                branches.note_end(index, Status::Failed, &outcome);
            }
            return;
        };
        let space = self.values.open(outer);
        let parent = Parent::Branch(id, index);
        let child = self.start(&step, Entrance { parent, path, iteration, space, inner_loop });
        if let Doing::Parallel(branches) = &mut self.activities.get_mut(id).doing {
            branches.running.push(child);
            branches.spaces[index] = Some(space);
        }
    }

    /// Takes what a branch came to.
    pub(in crate::engine) fn branch_is_over(
        &mut self,
        id: ActivityId,
        index: usize,
        (branch, was): (ActivityId, &Activity),
        ended: &Ended,
    ) {
        let forgiven = was.step.continue_on_error && ended.status == Status::Failed;
        let status = if forgiven { Status::Succeeded } else { ended.status.clone() };
        let Doing::Parallel(branches) = &mut self.activities.get_mut(id).doing else { return };
        branches.running.retain(|running| *running != branch);
        branches.note_end(index, status, &ended.outcome);
        if branches.is_decided() {
            self.stop_inside(id, Stopping::Canceled);
        }
        self.start_branches(id);
    }

    fn end_parallel(&mut self, id: ActivityId) {
        let activity = self.activities.get_mut(id);
        let Doing::Parallel(branches) = std::mem::replace(&mut activity.doing, Doing::Nothing)
        else {
            return;
        };
        let (stopping, parent, step) =
            (activity.stopping, activity.parent, Arc::clone(&activity.step));
        let mut outcome = match stopping {
            Some(stopping) => activity.outcome_of_stopping(stopping),
            None => branches.outcome(),
        };
        outcome.value = Some(branches.summary());
        for space in branches.spaces.iter().flatten() {
            self.values.merge(*space);
        }
        self.numbering_around(parent).note_inside(&step.name, branches.numbering.highest());
        self.end_attempt(id, outcome, None);
    }
}

impl Branches {
    fn note_end(&mut self, index: usize, status: Status, outcome: &Outcome) {
        match status {
            Status::Failed => {
                self.problems.push(format!(
                    "branch `{}`: {}",
                    self.names[index],
                    error_text(outcome)
                ));
            }
            Status::Succeeded => self.succeeded += 1,
            _ => {}
        }
        self.ends[index] = Some(status);
    }

    /// Tells whether what the branches that are left do changes nothing any more.
    fn is_decided(&self) -> bool {
        match self.strategy {
            Strategy::AllSucceed => !self.problems.is_empty(),
            Strategy::AnySucceed => self.succeeded > 0,
            Strategy::BestEffort => false,
        }
    }

    fn outcome(&self) -> Outcome {
        let succeeded = match self.strategy {
            Strategy::AllSucceed => self.problems.is_empty(),
            Strategy::AnySucceed => self.succeeded > 0 || self.names.is_empty(),
            Strategy::BestEffort => true,
        };
        if succeeded { Outcome::default() } else { failed(self.problems.join("; ")) }
    }

    /// How each branch ended.
    fn summary(&self) -> Value {
        let word = |end: &Option<Status>| match end {
            Some(status) => json!(status),
            None => json!(Status::Skipped),
        };
        let branches =
            self.names.iter().zip(&self.ends).map(|(name, end)| (name.clone(), word(end)));
        json!({ "branches": branches.collect::<serde_json::Map<_, _>>() })
    }
}
