//! The life of an activity: attempts, hooks around them, and the end that the one around it hears of.

use std::sync::Arc;

use quipu_event::payload::Status;
use serde_json::json;

use super::activity::{Activity, ActivityId, Doing, Ended, Parent, Stopping, Told};
use super::effect::{Effect, Next, StepBegin, StepEnd};
use super::flow::Way;
use super::hooks::When;
use super::values::{Failure, StepValue};
use super::work::{Outcome, Work, WorkStatus};
use super::{Engine, Owner, Todo, retry, steps};
use crate::definition::{Step, StepKind};

impl Engine {
    /// Begins the next attempt, or takes what came of it from history.
    pub(super) fn enter(&mut self, id: ActivityId) {
        if let Some(stopping) = self.activities.get(id).stopping {
            return self.leave_unbegun(id, stopping);
        }
        if let Some(outcome) = self.take_number(id) {
            return self.recall(id, outcome);
        }
        let step = Arc::clone(&self.activities.get(id).step);
        let prepared =
            steps::prepare(&step, &self.scope(id), self.activities.get(id).child.clone());
        let activity = self.activities.get_mut(id);
        activity.tries += 1;
        let (at, tries) = (activity.occurrence(), activity.tries);
        let (work, problem) = match prepared {
            Ok(work) => (work.map(Box::new), None),
            Err(problem) => (None, Some(problem)),
        };
        self.emit(Effect::Begin(StepBegin {
            at,
            name: step.name.clone(),
            kind: step.kind.word().to_owned(),
            work: work.clone(),
            timeout: steps::timeout_of(&step),
            env: step.env.keys().cloned().collect(),
        }));
        match problem {
            Some(problem) => self.end_attempt(id, failed(problem), None),
            None if tries == 1 => {
                self.activities.get_mut(id).doing = Doing::Before { hook: 0, work };
                self.next_hook_before(id);
            }
            None => self.launch(id, work),
        }
    }

    /// Ends an activity that was stopped before it, or its next attempt, began: nothing is told.
    fn leave_unbegun(&mut self, id: ActivityId, stopping: Stopping) {
        let activity = self.activities.get_mut(id);
        let outcome = activity.outcome_of_stopping(stopping);
        let ended = Ended { status: Status::Canceled, outcome, way_out: None, told: Told::Already };
        activity.doing = Doing::Over(Box::new(ended));
        self.queue.push_back(Todo::Close(id));
    }

    /// Gives the attempt its number. Numbers that history used are passed over; if what they came
    /// to is known, that is returned.
    fn take_number(&mut self, id: ActivityId) -> Option<Outcome> {
        loop {
            let activity = self.activities.get(id);
            let (parent, step, path) =
                (activity.parent, Arc::clone(&activity.step), activity.path.clone());
            let attempt = self.numbering_around(parent).next(&step.name);
            self.activities.get_mut(id).attempt = attempt;
            let past = self.setup.history.get(path.as_str(), attempt)?;
            if let Some(outcome) = &past.outcome {
                return Some(outcome.clone());
            }
            self.activities.get_mut(id).child = past.child.clone();
        }
    }

    /// Goes on as if the attempt had just come to what history says.
    fn recall(&mut self, id: ActivityId, outcome: Outcome) {
        self.restore_inside(id);
        self.activities.get_mut(id).tries += 1;
        let way_out = steps::way_out_of(&self.activities.get(id).step, &outcome);
        let ended = Ended { status: status_of(&outcome), outcome, way_out, told: Told::Already };
        self.remember(id, &ended);
        if self.is_tried_again(id, &ended.outcome) {
            self.queue.push_back(Todo::Enter(id));
            return;
        }
        self.activities.get_mut(id).doing = Doing::Over(Box::new(ended));
        self.queue.push_back(Todo::Close(id));
    }

    /// Brings back the values that steps inside a finished loop or parallel step had. What came
    /// after it belongs to a later attempt, which may not be over.
    fn restore_inside(&mut self, id: ActivityId) {
        let activity = self.activities.get(id);
        if !activity.step.kind.is_container() {
            return;
        }
        let (parent, name, space) = (activity.parent, activity.step.name.clone(), activity.space);
        let past = self.setup.history.get(activity.path.as_str(), activity.attempt);
        let end = past.map_or(u64::MAX, |past| past.seq);
        let mut highest = 0;
        for (attempt, past) in self.setup.history.inside(activity.path.as_str()) {
            if past.seq > end {
                continue;
            }
            highest = highest.max(attempt);
            let Some(outcome) = past.outcome.clone() else { continue };
            let value = StepValue { status: status_of(&outcome), attempt, outcome };
            self.values.set(space, &past.name, value);
        }
        self.numbering_around(parent).note_inside(&name, highest);
    }

    /// Starts the work itself.
    pub(super) fn launch(&mut self, id: ActivityId, work: Option<Box<Work>>) {
        let activity = self.activities.get(id);
        let step = Arc::clone(&activity.step);
        let at = activity.occurrence();
        match (&step.kind, work) {
            (StepKind::Parallel(parallel), _) => self.open_parallel(id, &step, parallel),
            (StepKind::ForEach(_) | StepKind::While(_), _) => self.open_loop(id, &step),
            (StepKind::Terminal(terminal), _) => self.reach_terminal(id, terminal),
            (_, Some(work)) => {
                let timeout = steps::timeout_of(&step);
                self.perform(Owner::Activity(id), at, *work, timeout);
                self.activities.get_mut(id).doing = Doing::Work;
            }
            (_, None) => self.end_attempt(id, failed("there is nothing to do".to_owned()), None),
        }
    }

    /// Takes what came of a piece of work that the activity waited for.
    pub(super) fn task_is_over(&mut self, id: ActivityId, outcome: Outcome) {
        match std::mem::replace(&mut self.activities.get_mut(id).doing, Doing::Nothing) {
            Doing::Before { hook, work } => {
                self.tell_hook(id, When::Before, &outcome);
                self.activities.get_mut(id).doing = Doing::Before { hook: hook + 1, work };
                self.next_hook_before(id);
            }
            Doing::After { hook, ended } => {
                self.tell_hook(id, When::After, &outcome);
                self.activities.get_mut(id).doing = Doing::After { hook: hook + 1, ended };
                self.next_hook_after(id);
            }
            Doing::Waiting => self.queue.push_back(Todo::Enter(id)),
            Doing::Work => self.end_attempt(id, outcome, None),
            // Containers wait for no work of their own.
            other => self.activities.get_mut(id).doing = other,
        }
    }

    /// Ends an attempt: another one follows, or the hooks and the end.
    pub(super) fn end_attempt(&mut self, id: ActivityId, outcome: Outcome, way_out: Option<Way>) {
        self.silence_alarm(id);
        let ended = Ended { status: status_of(&outcome), outcome, way_out, told: Told::NotYet };
        self.remember(id, &ended);
        if self.is_tried_again(id, &ended.outcome) {
            return self.wait_for_next_attempt(id, &ended);
        }
        let is_stopping = self.activities.get(id).stopping.is_some();
        self.activities.get_mut(id).doing = Doing::After { hook: 0, ended: Box::new(ended) };
        if is_stopping { self.leave_hooks(id) } else { self.next_hook_after(id) }
    }

    fn is_tried_again(&self, id: ActivityId, outcome: &Outcome) -> bool {
        let activity = self.activities.get(id);
        let Some(policy) = &activity.step.retry else { return false };
        activity.stopping.is_none() && retry::is_retried(policy, activity.tries, outcome)
    }

    fn wait_for_next_attempt(&mut self, id: ActivityId, ended: &Ended) {
        let activity = self.activities.get(id);
        let (at, tries, step) = (activity.occurrence(), activity.tries, Arc::clone(&activity.step));
        let Some(policy) = &step.retry else { return };
        let seed = (self.setup.run_id.as_str(), at.path.as_str(), at.attempt);
        let delay = retry::delay(policy, tries, seed);
        let next = Next { goto: Some(step.name.clone()), because: "retry", when: None };
        self.tell_end(id, ended, Some(next));
        let facts = json!({
            "step": step.name, "attempt": tries + 1, "of": policy.max_attempts,
            "delay_ms": u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
            "error": ended.outcome.error,
        });
        self.emit(Effect::Note { at: Some(at.clone()), subtype: "retry", facts });
        self.perform(Owner::Activity(id), at, Work::Wait(delay), None);
        self.activities.get_mut(id).doing = Doing::Waiting;
    }

    /// Lets later steps see what this one came to.
    fn remember(&mut self, id: ActivityId, ended: &Ended) {
        let activity = self.activities.get(id);
        let (space, name, attempt) = (activity.space, activity.step.name.clone(), activity.attempt);
        let outcome = &ended.outcome;
        // A terminal step tells of a failure; it is none of its own.
        let is_terminal = matches!(activity.step.kind, StepKind::Terminal(_));
        if ended.status.is_failure() && (!is_terminal || ended.way_out.is_none()) {
            let failure = Failure {
                step: name.clone(),
                message: error_text(outcome),
                exit_code: outcome.code(),
                kind: kind_of_failure(outcome),
            };
            self.values.set_failure(space, failure);
        }
        let value = StepValue { status: ended.status.clone(), attempt, outcome: outcome.clone() };
        self.values.set(space, &name, value);
    }

    /// Tells that an attempt is over.
    fn tell_end(&mut self, id: ActivityId, ended: &Ended, next: Option<Next>) {
        let activity = self.activities.get(id);
        let effect = Effect::End(StepEnd {
            at: activity.occurrence(),
            name: activity.step.name.clone(),
            kind: activity.step.kind.word().to_owned(),
            status: ended.status.clone(),
            error: ended.status.is_failure().then(|| error_text(&ended.outcome)),
            outcome: ended.outcome.clone(),
            next,
        });
        self.emit(effect);
    }

    /// Ends an activity and lets the one around it know.
    pub(super) fn close(&mut self, id: ActivityId) {
        let doing = std::mem::replace(&mut self.activities.get_mut(id).doing, Doing::Nothing);
        let Doing::Over(ended) = doing else { return };
        let (way, next) = self.choose_way(id, &ended);
        if ended.told == Told::NotYet {
            self.tell_end(id, &ended, Some(next));
        }
        let Some(activity) = self.activities.remove(id) else { return };
        match activity.parent {
            Parent::Run => self.root_step_is_over(way),
            Parent::Branch(outer, index) => {
                self.branch_is_over(outer, index, (id, &activity), &ended);
            }
            Parent::Body(outer) => self.body_step_is_over(outer, &activity, &ended, way),
        }
    }
}

impl StepKind {
    /// Tells whether steps of this kind have other steps inside them.
    pub(super) fn is_container(&self) -> bool {
        matches!(self, StepKind::Parallel(_) | StepKind::ForEach(_) | StepKind::While(_))
    }
}

impl Activity {
    /// Returns what an activity that had to stop came to.
    pub(super) fn outcome_of_stopping(&self, stopping: Stopping) -> Outcome {
        match stopping {
            Stopping::Canceled => Outcome {
                status: WorkStatus::Canceled,
                error: Some("canceled".to_owned()),
                ..Outcome::default()
            },
            Stopping::TimedOut => timed_out(&self.step),
        }
    }
}

fn timed_out(step: &Step) -> Outcome {
    let after = step.timeout.map(|timeout| format!(" after {timeout:?}")).unwrap_or_default();
    Outcome {
        status: WorkStatus::TimedOut,
        error: Some(format!("timed out{after}")),
        ..Outcome::default()
    }
}

/// Makes the outcome of work that could not even begin, or that failed inside the engine.
pub(super) fn failed(error: String) -> Outcome {
    Outcome { status: WorkStatus::Failed, error: Some(error), ..Outcome::default() }
}

pub(super) fn status_of(outcome: &Outcome) -> Status {
    match outcome.status {
        WorkStatus::Succeeded => Status::Succeeded,
        WorkStatus::Failed | WorkStatus::TimedOut => Status::Failed,
        WorkStatus::Canceled => Status::Canceled,
    }
}

pub(super) fn error_text(outcome: &Outcome) -> String {
    match (&outcome.error, outcome.exit_code, outcome.status) {
        (Some(error), _, _) => error.clone(),
        (None, Some(code), WorkStatus::Failed) => format!("exit code {code}"),
        (None, _, WorkStatus::TimedOut) => "timed out".to_owned(),
        (None, _, WorkStatus::Canceled) => "canceled".to_owned(),
        (None, ..) => "failed".to_owned(),
    }
}

fn kind_of_failure(outcome: &Outcome) -> &'static str {
    match outcome.status {
        WorkStatus::TimedOut => "timeout",
        WorkStatus::Canceled => "canceled",
        _ => "execution",
    }
}
