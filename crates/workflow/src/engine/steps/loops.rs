//! What the two loops share: iterations, the way through the body, and the end.
//!
//! A step in the body may jump within the body, go on to the next step by naming the loop, or leave
//! the loop for another step. A failure that no step takes care of fails the loop.

use std::sync::Arc;

use quipu_event::payload::Status;
use serde_json::json;

use super::super::activity::{Activity, ActivityId, Doing, Ended, Entrance, Parent};
use super::super::effect::Effect;
use super::super::flow::Way;
use super::super::lifecycle::{error_text, failed};
use super::super::numbering::Numbering;
use super::super::scope::LoopView;
use super::super::work::Outcome;
use super::super::{Engine, Todo};
use super::text;
use crate::definition::{IterationLimit, LoopStep, Step, StepKind};
use crate::language::{Expression, Value};

/// The largest list of items, in bytes, that is written down: beyond it, their number.
const LARGEST_LIST: usize = 1024 * 1024;

/// The iterations of a loop.
#[derive(Debug)]
pub(in crate::engine) struct Turns {
    /// The numbers of the iteration that goes on.
    pub(in crate::engine) numbering: Numbering,
    base: u32,
    highest: u32,
    /// What it goes over; nothing in a `while`.
    items: Option<Vec<Value>>,
    limit: u64,
    index: u64,
    /// The step of the body that runs.
    cursor: usize,
    had_failure: bool,
    view: Option<Arc<LoopView>>,
}

/// Why a loop is over.
#[derive(Clone, Copy)]
enum Because {
    NoMoreItems,
    ConditionFalse,
    MaxIterations,
    BreakWhen,
    Exit,
    Failure,
    Stopped,
}

impl Engine {
    pub(in crate::engine) fn open_loop(&mut self, id: ActivityId, step: &Step) {
        let scope = self.scope(id);
        let items = match &step.kind {
            StepKind::ForEach(looped) => super::for_each::items(looped, &scope).map(Some),
            _ => Ok(None),
        };
        let limit = each_of(step).map_or(Ok(0), |each| limit_of(&each.max_iterations, &scope));
        let (items, limit) = match (items, limit) {
            (Ok(items), Ok(limit)) => (items, limit),
            (Err(problem), _) | (_, Err(problem)) => {
                let outcome = failed(format!("step `{}`: {problem}", step.name));
                return self.end_attempt(id, outcome, None);
            }
        };
        self.tell_items(id, items.as_deref(), limit);
        let parent = self.activities.get(id).parent;
        let base = self.numbering_around(parent).base_inside(&step.name);
        self.activities.get_mut(id).doing = Doing::Loop(Box::new(Turns {
            numbering: Numbering::from_base(base),
            base,
            highest: base.saturating_sub(1),
            items,
            limit,
            index: 0,
            cursor: 0,
            had_failure: false,
            view: None,
        }));
        self.set_alarm(id);
        self.queue.push_back(Todo::Turn(id));
    }

    /// Says what a loop goes over, and whether it will not see all of it.
    fn tell_items(&mut self, id: ActivityId, items: Option<&[Value]>, limit: u64) {
        let Some(items) = items else { return };
        let at = self.activities.get(id).occurrence();
        let count = items.len() as u64;
        let size: usize = items.iter().map(|item| item.to_string().len()).sum();
        let mut facts = json!({ "count": count });
        if size <= LARGEST_LIST {
            facts["items"] = json!(items);
        }
        self.emit(Effect::Note { at: Some(at.clone()), subtype: "loop_items", facts });
        if count > limit {
            let facts = json!({ "items": count, "max_iterations": limit });
            self.emit(Effect::Note { at: Some(at), subtype: "loop_truncated", facts });
        }
    }

    /// Goes on to the next iteration, or ends the loop.
    pub(in crate::engine) fn turn(&mut self, id: ActivityId) {
        let activity = self.activities.get_mut(id);
        let step = Arc::clone(&activity.step);
        let outer = activity.inner_loop.clone();
        if let Some(stopping) = activity.stopping {
            let outcome = activity.outcome_of_stopping(stopping);
            return self.end_loop(id, Because::Stopped, Some(outcome), None);
        }
        let Doing::Loop(turns) = &mut activity.doing else { return };
        let length = turns.items.as_ref().map(|items| (items.len() as u64).min(turns.limit));
        let index = turns.index;
        match length {
            Some(length) if index >= length => {
                return self.end_loop(id, Because::NoMoreItems, None, None);
            }
            _ => {}
        }
        let is_at_limit = length.is_none() && index >= turns.limit;
        let item = turns.items.as_ref().and_then(|items| items.get(index as usize)).cloned();
        let view = LoopView { item: item.unwrap_or_default(), index, length, outer };
        turns.view = Some(Arc::new(view));
        turns.cursor = 0;
        turns.numbering = Numbering::from_base(turns.base);
        match self.loop_goes_on(id, &step) {
            Ok(true) if is_at_limit => self.end_at_limit(id, &step),
            Ok(true) => {
                let at = self.activities.get(id).occurrence();
                self.emit(Effect::Turn { at, index, total: length });
                self.start_body_step(id, 0);
            }
            Ok(false) => self.end_loop(id, Because::ConditionFalse, None, None),
            Err(problem) => self.end_loop(id, Because::Failure, Some(failed(problem)), None),
        }
    }

    fn loop_goes_on(&self, id: ActivityId, step: &Step) -> Result<bool, String> {
        match &step.kind {
            StepKind::While(looped) => self.ask_in_loop(id, &looped.condition),
            _ => Ok(true),
        }
    }

    /// Asks a condition as a step of the iteration would see it.
    fn ask_in_loop(&self, id: ActivityId, condition: &Expression) -> Result<bool, String> {
        let mut scope = self.scope(id);
        if let Doing::Loop(turns) = &self.activities.get(id).doing {
            scope.inner_loop = turns.view.as_ref();
        }
        condition.holds(&scope).map_err(|error| {
            format!("the condition `{}` has no answer: {error}", condition.source())
        })
    }

    fn start_body_step(&mut self, id: ActivityId, cursor: usize) {
        let activity = self.activities.get_mut(id);
        let step = Arc::clone(&activity.step);
        let (space, path) = (activity.space, activity.path.clone());
        let Doing::Loop(turns) = &mut activity.doing else { return };
        turns.cursor = cursor;
        let (index, view) = (turns.index, turns.view.clone());
        let Some(name) = each_of(&step).and_then(|each| each.body.get(cursor)) else {
            return self.end_iteration(id);
        };
        let Some(body_step) = self.plan.steps.get(name).cloned() else {
            let outcome = failed(format!("there is no step `{name}`"));
            return self.end_loop(id, Because::Failure, Some(outcome), None);
        };
        let path = path.iteration(index).child(name);
        let parent = Parent::Body(id);
        self.start(
            &body_step,
            Entrance { parent, path, iteration: index, space, inner_loop: view },
        );
    }

    /// Takes what a step of the body came to, and goes the way it chose.
    pub(in crate::engine) fn body_step_is_over(
        &mut self,
        id: ActivityId,
        child: &Activity,
        ended: &Ended,
        way: Way,
    ) {
        let activity = self.activities.get_mut(id);
        let step = Arc::clone(&activity.step);
        let is_stopping = activity.stopping.is_some();
        let Doing::Loop(turns) = &mut activity.doing else { return };
        let cursor = turns.cursor;
        turns.had_failure |= ended.status.is_failure();
        let failed_here = ended.status.is_failure() && !child.step.continue_on_error;
        let body = each_of(&step).map(|each| each.body.as_slice()).unwrap_or_default();
        let jump = match &way {
            Way::Goto(target) => body.iter().position(|name| name == target),
            _ => None,
        };
        let names_loop = matches!(&way, Way::Goto(target) if *target == step.name);
        let outcome =
            || failed(format!("step `{}` failed: {}", child.step.name, error_text(&ended.outcome)));
        match way {
            _ if is_stopping || ended.status == Status::Canceled => self.turn_or_end(id),
            _ if names_loop => self.start_body_step(id, cursor + 1),
            Way::Goto(_) if jump.is_some() => self.start_body_step(id, jump.unwrap_or(cursor + 1)),
            Way::Fail(_) => self.fail_or_break(id, outcome()),
            way if failed_here => self.end_loop(id, Because::Failure, Some(outcome()), Some(way)),
            Way::Nowhere => self.start_body_step(id, cursor + 1),
            way => self.end_loop(id, Because::Exit, None, Some(way)),
        }
    }

    /// A body step that was stopped stops the loop.
    fn turn_or_end(&mut self, id: ActivityId) {
        let activity = self.activities.get(id);
        let stopping = activity.stopping.unwrap_or(super::super::activity::Stopping::Canceled);
        let outcome = activity.outcome_of_stopping(stopping);
        self.end_loop(id, Because::Stopped, Some(outcome), None);
    }

    /// A failure that nothing takes care of fails the loop, unless it is what `break_when` waits for.
    fn fail_or_break(&mut self, id: ActivityId, outcome: Outcome) {
        if matches!(self.breaks(id), Ok(true)) {
            self.count_iteration(id);
            self.end_loop(id, Because::BreakWhen, None, None);
        } else {
            self.end_loop(id, Because::Failure, Some(outcome), None);
        }
    }

    fn breaks(&self, id: ActivityId) -> Result<bool, String> {
        let step = Arc::clone(&self.activities.get(id).step);
        let break_when = each_of(&step).and_then(|each| each.break_when.as_ref());
        break_when.map_or(Ok(false), |condition| self.ask_in_loop(id, condition))
    }

    fn count_iteration(&mut self, id: ActivityId) {
        if let Doing::Loop(turns) = &mut self.activities.get_mut(id).doing {
            turns.highest = turns.highest.max(turns.numbering.highest());
            turns.index += 1;
        }
    }

    fn end_iteration(&mut self, id: ActivityId) {
        let breaks = self.breaks(id);
        self.count_iteration(id);
        match breaks {
            Ok(true) => self.end_loop(id, Because::BreakWhen, None, None),
            Ok(false) => self.queue.push_back(Todo::Turn(id)),
            Err(problem) => self.end_loop(id, Because::Failure, Some(failed(problem)), None),
        }
    }

    /// A `while` that reaches its limit after failures, with no word on what follows, has not done
    /// what it was to do.
    fn end_at_limit(&mut self, id: ActivityId, step: &Step) {
        let Doing::Loop(turns) = &self.activities.get(id).doing else { return };
        let on_complete = each_of(step).and_then(|each| each.on_complete.as_ref());
        let gave_up = turns.had_failure && on_complete.is_none();
        let outcome = gave_up.then(|| {
            failed(format!("the loop reached its {} iterations with failures in them", turns.limit))
        });
        self.end_loop(id, Because::MaxIterations, outcome, None);
    }

    fn end_loop(
        &mut self,
        id: ActivityId,
        because: Because,
        outcome: Option<Outcome>,
        way: Option<Way>,
    ) {
        let activity = self.activities.get_mut(id);
        let Doing::Loop(turns) = std::mem::replace(&mut activity.doing, Doing::Nothing) else {
            return;
        };
        let (parent, name) = (activity.parent, activity.step.name.clone());
        let mut outcome = outcome.unwrap_or_else(|| Outcome {
            output: format!("completed {} iterations", turns.index),
            ..Outcome::default()
        });
        outcome.value = Some(describe(&turns, because, way.as_ref()));
        let highest = turns.highest.max(turns.numbering.highest());
        self.numbering_around(parent).note_inside(&name, highest);
        self.end_attempt(id, outcome, way);
    }
}

fn each_of(step: &Step) -> Option<&LoopStep> {
    match &step.kind {
        StepKind::ForEach(looped) => Some(&looped.each),
        StepKind::While(looped) => Some(&looped.each),
        _ => None,
    }
}

/// Works out how many iterations there may be.
fn limit_of(
    limit: &IterationLimit,
    scope: &super::super::scope::StepScope<'_>,
) -> Result<u64, String> {
    let template = match limit {
        IterationLimit::Count(count) => return Ok(*count),
        IterationLimit::Template(template) => template,
    };
    let filled = text(template, scope)?;
    let filled = filled.trim();
    let number = filled.parse::<u64>().ok().or_else(|| {
        let value = Expression::parse(filled).ok()?.evaluate(scope).ok()?;
        value.as_u64().or_else(|| {
            value
                .as_f64()
                .filter(|number| number.fract() == 0.0 && *number >= 1.0)
                .map(|number| number as u64)
        })
    });
    match number {
        Some(number) if number >= 1 => Ok(number),
        _ => Err(format!("max_iterations `{filled}` is not a whole number from 1 on")),
    }
}

/// Says what a loop did, for people and for a run that is resumed.
fn describe(turns: &Turns, because: Because, way: Option<&Way>) -> Value {
    let ended_by = match because {
        Because::NoMoreItems => "items",
        Because::ConditionFalse => "condition",
        Because::MaxIterations => "max_iterations",
        Because::BreakWhen => "break_when",
        Because::Exit => "exit",
        Because::Failure => "failure",
        Because::Stopped => "stopped",
    };
    let mut value = json!({ "iterations": turns.index, "ended_by": ended_by });
    match way {
        Some(Way::Goto(target)) => value["goto"] = json!(target),
        Some(Way::EndRun { succeeded, message, terminal, exit_status }) => {
            value["end"] = json!({
                "succeeded": succeeded, "message": message, "terminal": terminal,
                "exit_status": exit_status,
            });
        }
        _ => {}
    }
    value
}

/// Reads back what [`describe`] wrote about the way out.
pub(super) fn recorded_way_out(outcome: &Outcome) -> Option<Way> {
    let value = outcome.value.as_ref()?;
    if let Some(target) = value["goto"].as_str() {
        return Some(Way::Goto(target.to_owned()));
    }
    let end = value.get("end")?;
    let words = |key: &str| end[key].as_str().map(str::to_owned);
    Some(Way::EndRun {
        succeeded: end["succeeded"].as_bool()?,
        message: words("message"),
        terminal: words("terminal"),
        exit_status: end["exit_status"].as_u64().and_then(|status| u8::try_from(status).ok()),
    })
}
