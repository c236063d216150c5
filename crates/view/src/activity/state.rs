//! How an activity stands at a given moment.

use quipu_event::Timestamp;
use quipu_event::payload::Status;

use super::{Activity, Phase};

/// So long after the end of a turn nobody is waited for yet: hooks may take the agent further.
const SETTLED_MS: u64 = 2_000;
/// An agent that has spoken and been silent for so long has said what it had to say.
const QUIET_MS: u64 = 10_000;
/// Whoever has been silent for so long without a reason does nothing.
const IDLE_MS: u64 = 5 * 60_000;

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Somebody is at work.
    Working,
    /// A person is waited for: it is their turn, or they were asked something.
    Waiting,
    /// Nothing has happened for long.
    Idle,
    /// It has ended.
    Ended(Status),
    /// It has no end, and nobody is there to write one.
    Interrupted,
}

/// Whether somebody writes the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Somebody does.
    There,
    /// Nobody does.
    Gone,
}

impl State {
    /// Returns the word for it.
    pub fn word(&self) -> &str {
        match self {
            State::Working => "working",
            State::Waiting => "waiting",
            State::Idle => "idle",
            State::Ended(Status::Succeeded) => "ended",
            State::Ended(status) => status.as_str(),
            State::Interrupted => "interrupted",
        }
    }
}

impl Activity {
    /// Returns how the run stands at `now`.
    pub fn state(&self, now: Timestamp, writer: Writer) -> State {
        let silence = self.latest.map_or(0, |latest| now.millis_since(latest));
        if let Phase::Ended(status) = &self.phase {
            return State::Ended(status.clone());
        }
        // Nobody need write down what an agent writes for itself.
        if writer == Writer::Gone && !self.is_collected {
            return State::Interrupted;
        }
        if self.open.question().is_some() {
            return State::Waiting;
        }
        let is_at_work = self.open.last_call().is_some() || self.open.last_step().is_some();
        match self.phase {
            _ if is_at_work => State::Working,
            _ if silence >= IDLE_MS => State::Idle,
            Phase::TurnEnded if silence >= SETTLED_MS => State::Waiting,
            Phase::Spoke if silence >= QUIET_MS => State::Waiting,
            _ => State::Working,
        }
    }
}
