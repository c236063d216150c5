//! The beginning and the end of a run, whatever the order in which its facts arrive.
//!
//! Agents name session, model, directory and version in different records. `run.started` stands
//! first and waits until it is said to be whole; everything else waits behind it.

use quipu_event::Timestamp;
use quipu_event::payload::{Agent, RunCompleted, RunKind, RunStarted};

use crate::outbox::{Outbox, Scraps, Slot, Stamp};

/// A run as its records tell of it.
pub(crate) struct Opening {
    /// What is known of its beginning.
    pub(crate) started: RunStarted,
    /// Who does the work.
    pub(crate) agent: Agent,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    state: State,
}

enum State {
    /// No record has been seen.
    Unborn,
    /// Its place is kept.
    Open(Slot, Scraps),
    /// `run.started` has been put.
    Put,
}

impl Opening {
    /// Makes the run of an agent of `provider`, spoken to through `adapter`.
    pub(crate) fn new(provider: &str, adapter: &str) -> Self {
        let agent = Agent {
            provider: Some(provider.to_owned()),
            adapter: Some(adapter.to_owned()),
            ..Agent::default()
        };
        let started = RunStarted::new(provider, RunKind::Session);
        Opening { started, agent, first: None, last: None, state: State::Unborn }
    }

    /// Keeps the first place in the order, from the first record on, and notes its time.
    pub(crate) fn begin(&mut self, time: Option<Timestamp>) {
        self.first = self.first.or(time);
        self.last = self.last.max(time);
        if matches!(self.state, State::Unborn) {
            self.state = State::Open(Slot::FIRST, Scraps::default());
        }
    }

    /// Keeps the bytes of the record at hand with `run.started`, if that is not put yet.
    pub(crate) fn absorb(&mut self, out: &mut Outbox<'_>) {
        if let State::Open(_, scraps) = &mut self.state {
            out.absorb(scraps);
        }
    }

    /// Tells whether `run.started` has been put.
    pub(crate) fn is_put(&self) -> bool {
        matches!(self.state, State::Put)
    }

    /// Puts `run.started` with what is known, once.
    pub(crate) fn put(&mut self, out: &mut Outbox<'_>) {
        if matches!(self.state, State::Unborn) {
            return;
        }
        let State::Open(slot, scraps) = std::mem::replace(&mut self.state, State::Put) else {
            return;
        };
        let started = RunStarted { agent: Some(self.agent.clone()), ..self.started.clone() };
        out.fill(slot, scraps, |out| out.run_started(&Stamp::at(self.first), &started));
    }

    /// Puts `run.completed`, and `run.started` before it if that is still to be put.
    ///
    /// The duration is the time between the first and the last record unless `end` knows better.
    /// Nothing is put for an input without records.
    pub(crate) fn complete(&mut self, out: &mut Outbox<'_>, end: RunCompleted) {
        if matches!(self.state, State::Unborn) {
            return;
        }
        self.put(out);
        // One time alone says nothing about how long it took.
        let between =
            || (self.first < self.last).then(|| Some(self.last?.millis_since(self.first?)))?;
        let end = RunCompleted {
            name: self.started.name.clone(),
            kind: self.started.kind.clone(),
            duration_ms: end.duration_ms.or_else(between),
            ..end
        };
        out.run_completed(&Stamp::at(self.last), &end);
    }
}
