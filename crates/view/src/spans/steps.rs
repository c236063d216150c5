//! Steps as spans, and what ends with a step.

use std::collections::BTreeSet;

use quipu_event::payload::{StepCompleted, StepStarted};
use quipu_event::{Event, StepPath};

use super::fold::{Spans, micros, settled, span};
use super::lanes::Lane;
use super::open::lies_in;
use super::{Key, Sort, Span, Told, Work};
use crate::reading::step_path;

impl Spans {
    pub(super) fn start_step(
        &mut self,
        event: &Event,
        step: StepStarted,
        time: i64,
        told: &mut Vec<Told>,
    ) {
        let path = step_path(event, &step.name);
        if self.open.steps.contains_key(&path) {
            self.close_inside(&path, false, time, told);
        }
        let span = self.step_span(event, &path, step, time);
        told.push(span.beginning());
        told.extend(self.lanes.make_room().into_iter().map(settled));
        told.extend(self.lanes.ask((None, path.clone()), time).map(settled));
        self.open.steps.insert(path, span);
    }

    pub(super) fn end_step(
        &mut self,
        event: &Event,
        step: StepCompleted,
        time: i64,
        told: &mut Vec<Told>,
    ) {
        let path = step_path(event, &step.name);
        let begun = self.open.steps.remove(&path);
        let mut span = begun.unwrap_or_else(|| {
            let outer = self.open.step_outside(&path).or(self.run.as_ref());
            let earliest = outer.map_or(time, |outer| outer.start);
            let start = time.saturating_sub(micros(step.duration_ms)).max(earliest);
            let started = StepStarted {
                name: step.name.clone(),
                kind: step.kind.clone(),
                attempt: step.attempt,
                ..StepStarted::default()
            };
            let span = self.step_span(event, &path, started, start);
            told.push(span.beginning());
            span
        });
        self.close_inside(&path, false, time, told);
        if let Work::Step { completed, child, .. } = &mut span.work {
            **completed = StepCompleted { result: None, ..step };
            *child = child.take().or_else(|| event.child_run_id.clone());
        }
        told.push(span.over(time, true));
    }

    fn step_span(&mut self, event: &Event, path: &StepPath, step: StepStarted, at: i64) -> Span {
        let parent = self.open.step_outside(path).map_or(Key::Run, |outer| outer.key.clone());
        let fresh = event.child_run_id.clone().filter(|child| self.called.insert(child.clone()));
        let key = fresh.map_or(Key::At(event.seq, Sort::Step), Key::Call);
        let started = Box::new(StepStarted { blocks: None, ..step });
        let child = event.child_run_id.clone();
        let work = Work::Step { started, completed: Box::default(), child };
        Span { path: path.clone(), source: None, ..span(event, key, Some(parent), at, work) }
    }

    /// Ends whatever is under way at `path` and further in, subagents only at the end of the step.
    pub(super) fn close_inside(
        &mut self,
        path: &StepPath,
        all: bool,
        time: i64,
        told: &mut Vec<Told>,
    ) {
        let is_inside = |span: &Span| all || lies_in(&span.path, path);
        let leaving = self.open.subagents.iter().filter(|(_, span)| is_inside(span));
        let leaving: BTreeSet<Box<str>> = leaving.map(|(source, _)| source.clone()).collect();
        // What a subagent does elsewhere ends with the subagent.
        let inside = |lane: &Lane| {
            all || lies_in(&lane.1, path)
                || lane.0.as_ref().is_some_and(|source| leaving.contains(source))
        };
        told.extend(self.lanes.close(inside).into_iter().map(settled));
        let calls = self.open.close_calls(inside);
        told.extend(calls.into_iter().map(|call| self.given_up(call, time)));
        for (source, subagent) in self.open.subagents.extract_if(.., |_, span| is_inside(span)) {
            let clock = self.clocks.get(&Some(source)).copied().unwrap_or(time);
            let ended = subagent.ended;
            let end = clock.max(subagent.end);
            told.push(subagent.over(end, ended));
        }
        let steps = self.open.steps.extract_if(.., |inner, _| all || lies_in(inner, path));
        let steps: Vec<Span> = steps.map(|(_, step)| step).collect();
        // The innermost first, so that whoever nests them meets no open one inside a closed one.
        told.extend(steps.into_iter().rev().map(|step| step.over(time, false)));
    }
}
