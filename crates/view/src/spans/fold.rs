//! The fold itself: which spans an event begins, ends or belongs to.

use std::collections::{BTreeMap, BTreeSet};

use quipu_event::payload::{
    Message, RunCompleted, RunStarted, StepCompleted, StepStarted, System, TokenCounts, ToolCall,
    ToolResult, Usage,
};
use quipu_event::{Event, Kind, Payload, RunId, StepPath};

use super::lanes::{Lane, Lanes};
use super::open::{Open, lies_in};
use super::{Key, Sort, Span, Told, Work};
use crate::reading::{read, step_path};

/// Folds the events of one run into its spans.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    run: Option<Span>,
    /// How far the time of each source has come; it never goes back.
    clocks: BTreeMap<Option<Box<str>>, i64>,
    open: Open,
    lanes: Lanes,
    /// The runs whose call has a span already.
    called: BTreeSet<RunId>,
}

impl Spans {
    /// Takes the next event.
    pub(crate) fn add(&mut self, event: &Event) -> Vec<Told> {
        let mut told = Vec::new();
        let payload = read(event).payload;
        let time = self.time_of(event);
        if self.run.is_none() {
            let work = Work::Run { started: Box::default(), completed: Box::default() };
            let parent = event.parent_run_id.as_ref().map(|_| Key::Call(event.run_id.clone()));
            let mut run = span(event, Key::Run, parent, time, work);
            run.source = None;
            told.push(run.beginning());
            self.run = Some(run);
        }
        if let Payload::System(system) = &payload {
            self.announce(event, system, time, &mut told);
        }
        if let Some(source) = &event.source {
            self.meet(event, source.clone(), None, time, &mut told);
        }
        self.take(event, payload, time, &mut told);
        told
    }

    /// Ends whatever is still under way.
    pub(crate) fn finish(&mut self) -> Vec<Told> {
        let mut told = Vec::new();
        let Some(run) = self.run.take() else { return told };
        let latest = self.clocks.values().copied().max().unwrap_or(run.start);
        self.close_inside(&StepPath::root(), true, latest, &mut told);
        let Work::Run { completed, .. } = &run.work else { return told };
        let ended = completed.status.is_some();
        told.push(run.over(latest, ended));
        told
    }

    fn take(&mut self, event: &Event, payload: Payload, time: i64, told: &mut Vec<Told>) {
        let lane = lane(event);
        match payload {
            Payload::RunStarted(run) => self.start_run(*run),
            Payload::RunCompleted(run) => self.end_run(*run),
            Payload::StepStarted(step) => self.start_step(event, *step, time, told),
            Payload::StepCompleted(step) => self.end_step(event, *step, time, told),
            Payload::Message(message) if event.kind == Kind::MessageAssistant => {
                self.reply(event, message, time, told);
            }
            Payload::Message(_) => {
                told.push(Told::Happened(self.open.owner(&lane), time));
                told.extend(self.lanes.ask(lane, time).map(settled));
            }
            Payload::ToolCall(call) => self.call(event, *call, time, told),
            Payload::ToolResult(result) => self.answer(event, *result, time, told),
            Payload::Usage(usage) => self.count(&lane, &usage),
            _ => told.push(Told::Happened(self.open.owner(&lane), time)),
        }
    }

    /// Returns when an event happened, no earlier than the run or what its source did before.
    fn time_of(&mut self, event: &Event) -> i64 {
        let start = self.run.as_ref().map_or(i64::MIN, |run| run.start);
        // Steps are the engine's, whoever speaks in them.
        let of_step = event.kind.as_str().starts_with("step.");
        let source = event.source.clone().filter(|_| !of_step);
        let clock = self.clocks.entry(source).or_insert(start);
        *clock = event.timestamp.as_micros().max(*clock);
        *clock
    }

    fn start_run(&mut self, run: RunStarted) {
        if let Some(Span { work: Work::Run { started, .. }, .. }) = &mut self.run {
            **started = RunStarted { inputs: None, ..run };
        }
    }

    fn end_run(&mut self, run: RunCompleted) {
        if let Some(Span { work: Work::Run { completed, .. }, .. }) = &mut self.run {
            **completed = RunCompleted { result: None, ..run };
        }
    }

    fn start_step(&mut self, event: &Event, step: StepStarted, time: i64, told: &mut Vec<Told>) {
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

    fn end_step(&mut self, event: &Event, step: StepCompleted, time: i64, told: &mut Vec<Told>) {
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
    fn close_inside(&mut self, path: &StepPath, all: bool, time: i64, told: &mut Vec<Told>) {
        let is_inside = |span: &Span| all || lies_in(&span.path, path);
        let leaving = self.open.subagents.iter().filter(|(_, span)| is_inside(span));
        let leaving: BTreeSet<Box<str>> = leaving.map(|(source, _)| source.clone()).collect();
        // What a subagent does elsewhere ends with the subagent.
        let inside = |lane: &Lane| {
            all || lies_in(&lane.1, path)
                || lane.0.as_ref().is_some_and(|source| leaving.contains(source))
        };
        told.extend(self.lanes.close(&inside).into_iter().map(settled));
        let calls = self.open.close_calls(&inside);
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

    fn reply(&mut self, event: &Event, message: Message, time: i64, told: &mut Vec<Told>) {
        let lane = lane(event);
        let start = self.lanes.asked(&lane).or_else(|| self.open.owner_start(&lane));
        let start = start.unwrap_or(time).min(time);
        let key = Key::At(event.seq, Sort::Reply);
        let work = Work::Reply(Box::new(message));
        let mut reply = span(event, key, Some(self.open.owner(&lane)), start, work);
        reply.end = time;
        reply.ended = true;
        told.push(reply.beginning());
        told.extend(self.lanes.reply(lane, reply).map(settled));
    }

    fn call(&mut self, event: &Event, call: ToolCall, time: i64, told: &mut Vec<Told>) {
        let lane = lane(event);
        let name = (lane, call.call_id.clone());
        let work = Work::Tool { call: Box::new(call), result: Box::default() };
        let owner = self.open.owner(&name.0);
        let span = span(event, Key::At(event.seq, Sort::Tool), Some(owner), time, work);
        told.push(span.beginning());
        let over = self.open.add_call(name, span);
        told.extend(over.into_iter().map(|call| self.given_up(call, time)));
    }

    /// Ends a call that nobody answered: for a subagent's, its own time counts.
    fn given_up(&self, call: Span, time: i64) -> Told {
        let clock = call.source.as_ref().and_then(|_| self.clocks.get(&call.source));
        let end = clock.copied().unwrap_or(time);
        call.over(end, false)
    }

    fn answer(&mut self, event: &Event, answer: ToolResult, time: i64, told: &mut Vec<Told>) {
        let name = (lane(event), answer.call_id.clone());
        self.lanes.answer(name.0.clone(), time);
        if let Some(mut called) = self.open.calls.remove(&name) {
            if let Work::Tool { result, .. } = &mut called.work {
                **result = answer;
            }
            told.push(called.over(time, true));
            return;
        }
        let owner = self.open.owner(&name.0);
        if self.open.was_given_up(&name) {
            told.push(Told::Happened(owner, time));
            return;
        }
        let start = time.saturating_sub(micros(answer.duration_ms));
        let run = self.run.as_ref().map_or(start, |run| run.start);
        let start = start.max(self.open.owner_start(&name.0).unwrap_or(run));
        let call = ToolCall { name: answer.name.clone(), ..ToolCall::default() };
        let call = ToolCall { call_id: name.1, input: answer.input.clone(), ..call };
        let work = Work::Tool { call: Box::new(call), result: Box::new(answer) };
        let span = span(event, Key::At(event.seq, Sort::Tool), Some(owner), start, work);
        told.push(span.beginning());
        told.push(span.over(time, true));
    }

    fn count(&mut self, lane: &Lane, usage: &Usage) {
        let tokens = usage.tokens();
        if let Some(reply) = self.lanes.counted(lane, usage) {
            reply.tokens.add(&tokens);
            return;
        }
        let subagent = lane.0.as_ref().and_then(|source| self.open.subagents.get_mut(source));
        let Some(subagent) = subagent else {
            let at = self.open.step_around(&lane.1).map(|step| step.path.clone());
            let step = at.and_then(|path| self.open.steps.get_mut(&path));
            if let Some(owner) = step.or(self.run.as_mut()) {
                owner.tokens.add(&tokens);
            }
            return;
        };
        subagent.tokens.add(&tokens);
    }

    /// Takes what a main agent says of its subagents.
    fn announce(&mut self, event: &Event, system: &System, time: i64, told: &mut Vec<Told>) {
        let fact = |key: &str| system.facts.get(key).and_then(|value| value.as_str());
        let Some(id) = fact("agent_id") else { return };
        let source: Box<str> = format!("subagent:{id}").into();
        match system.subtype.as_str() {
            "subagent_started" => {
                let call = fact("tool_id").or(fact("call_id"));
                let parent = call.and_then(|id| self.open.call_with_id(id));
                let parent = parent.map(|call| call.key.clone());
                self.meet(event, source, Some((parent, fact("name"))), time, told);
            }
            "subagent_completed" => {
                if let Some(subagent) = self.open.subagents.get_mut(&source) {
                    subagent.ended = true;
                    subagent.end = time;
                }
            }
            _ => {}
        }
    }

    fn meet(
        &mut self,
        event: &Event,
        source: Box<str>,
        announced: Option<(Option<Key>, Option<&str>)>,
        time: i64,
        told: &mut Vec<Told>,
    ) {
        if self.open.subagents.contains_key(&source) {
            return;
        }
        let (parent, name) = announced.clone().unwrap_or_default();
        let owner = self.open.step_around(&event.path).map_or(Key::Run, |step| step.key.clone());
        let bare = source.strip_prefix("subagent:").unwrap_or(&source);
        let work = Work::Subagent { name: name.unwrap_or(bare).to_owned() };
        let sort = if announced.is_some() { Sort::Announced } else { Sort::Subagent };
        let key = Key::At(event.seq, sort);
        let mut subagent = span(event, key, Some(parent.unwrap_or(owner)), time, work);
        subagent.source = Some(source.clone());
        subagent.ended = false;
        told.push(subagent.beginning());
        let clock = self.clocks.entry(Some(source.clone())).or_insert(time);
        *clock = time.max(*clock);
        self.open.subagents.insert(source, subagent);
    }
}

fn span(event: &Event, key: Key, parent: Option<Key>, start: i64, work: Work) -> Span {
    Span {
        key,
        parent,
        work,
        source: event.source.clone(),
        path: event.path.clone(),
        seq: event.seq,
        start,
        end: start,
        ended: false,
        tokens: TokenCounts::default(),
    }
}

fn lane(event: &Event) -> Lane {
    (event.source.clone(), event.path.clone())
}

/// A reply is over as soon as it is said.
fn settled(reply: Span) -> Told {
    Told::Ended(Box::new(reply))
}

fn micros(millis: Option<u64>) -> i64 {
    i64::try_from(millis.unwrap_or(0).saturating_mul(1000)).unwrap_or(i64::MAX)
}
