//! The fold itself: which spans an event begins, ends or belongs to.

use std::collections::{BTreeMap, BTreeSet};

use quipu_event::payload::{RunCompleted, RunStarted, TokenCounts};
use quipu_event::{Event, Kind, Payload, RunId, StepPath};

use super::lanes::{Lane, Lanes};
use super::open::Open;
use super::{Key, Span, Told, Work};
use crate::reading::read;
use crate::session_cost::SessionCost;

/// Folds the events of one run into its spans.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    pub(super) run: Option<Span>,
    /// How far the time of each source has come; it never goes back.
    pub(super) clocks: BTreeMap<Option<Box<str>>, i64>,
    pub(super) open: Open,
    pub(super) lanes: Lanes,
    /// The runs whose call has a span already.
    pub(super) called: BTreeSet<RunId>,
    cost: SessionCost,
}

impl Spans {
    /// Takes the next event.
    pub(crate) fn add(&mut self, event: &Event) -> Vec<Told> {
        let mut told = Vec::new();
        let payload = read(event).payload;
        let time = self.time_of(event);
        self.cost.add(event);
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
        let Some(mut run) = self.run.take() else { return told };
        run.tokens.cost_usd = self.cost.untold().or(run.tokens.cost_usd);
        let latest = self.clocks.values().copied().max().unwrap_or(run.start);
        self.close_inside(&StepPath::root(), true, latest, &mut told);
        let Work::Run { completed, .. } = &run.work else { return told };
        let ended = completed.status.is_some();
        told.push(run.over(latest, ended));
        told
    }

    /// Returns how far the time of a source has come.
    pub(crate) fn clock(&self, source: &Option<Box<str>>) -> Option<i64> {
        self.clocks.get(source).copied()
    }

    /// Returns the cost that the run names at its end alone.
    pub(crate) fn untold_cost(&self) -> Option<f64> {
        self.cost.untold()
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
}

pub(super) fn span(event: &Event, key: Key, parent: Option<Key>, start: i64, work: Work) -> Span {
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

pub(super) fn lane(event: &Event) -> Lane {
    (event.source.clone(), event.path.clone())
}

/// A reply is over as soon as it is said.
pub(super) fn settled(reply: Span) -> Told {
    Told::Ended(Box::new(reply))
}

pub(super) fn micros(millis: Option<u64>) -> i64 {
    i64::try_from(millis.unwrap_or(0).saturating_mul(1000)).unwrap_or(i64::MAX)
}
