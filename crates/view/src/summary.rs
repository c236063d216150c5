//! A run in numbers: how many of what, how long, how many tokens.
//!
//! Loop indices are dropped on the way in, and what is open is forgotten once it has ended, so a
//! summary stays small however long the run. It keeps no texts besides names.

mod merge;
mod steps;
mod tools;
mod wire;

use std::collections::BTreeMap;

use quipu_event::payload::{
    Agent, Counts, Message, RunCompleted, RunKind, Status, TokenCounts, Usage,
};
use quipu_event::{Event, Kind, Payload, RunId, Timestamp};

use crate::reading::{Shape, read};
use steps::OpenSteps;
use tools::OpenCalls;

pub use steps::StepTotals;
pub use tools::ToolTotals;

/// The numbers of a run, or of several runs added up.
///
/// What identifies a run is there only as long as all runs in the summary agree on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many runs it covers.
    pub runs: u64,
    /// Which run: that of the first event.
    pub run_id: Option<RunId>,
    /// The run that called it.
    pub parent_run_id: Option<RunId>,
    /// Its name.
    pub name: Option<String>,
    /// What sort of thing it is.
    pub kind: Option<RunKind>,
    /// How it ended; nothing while it has not.
    pub status: Option<Status>,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// When its first event happened.
    pub started: Option<Timestamp>,
    /// When its last event happened.
    pub latest: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// How many events there are.
    pub events: u64,
    /// The number of the first event.
    pub first_seq: Option<u64>,
    /// The number of the last event.
    pub last_seq: Option<u64>,
    /// Events by type.
    pub types: BTreeMap<String, u64>,
    /// Tool calls by tool.
    pub tools: BTreeMap<String, ToolTotals>,
    /// Steps by path without loop indices: `each_file.check`.
    pub steps: BTreeMap<String, StepTotals>,
    /// The iterations of the longest occurrence of each loop, by path without loop indices.
    pub loops: BTreeMap<String, u64>,
    /// Tokens by model; `unknown` where a `usage` event names none.
    pub models: BTreeMap<String, ModelTotals>,
    /// Messages by role.
    pub messages: BTreeMap<String, u64>,
    /// Blocks of messages by type.
    pub blocks: BTreeMap<String, u64>,
    /// How often each agent was at work: for a whole run, or for an attempt of a step.
    pub agents: BTreeMap<String, u64>,
    /// How many runs were called.
    pub child_runs: u64,
    /// `error` events.
    pub errors: u64,
    /// Records that nobody understood.
    pub unknown: u64,
    /// Payloads that do not have the shape of their type.
    pub undecoded: u64,
    /// Places where a secret was masked, as the run itself says at its end.
    pub masked: u64,
    whole_ms: Option<u64>,
    last_kind: Option<Kind>,
    open_calls: OpenCalls,
    open_steps: OpenSteps,
}

/// The tokens of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelTotals {
    /// How many `usage` events named it.
    pub events: u64,
    /// Their sum.
    pub tokens: TokenCounts,
}

impl Summary {
    /// Takes the next event.
    pub fn add(&mut self, event: &Event) {
        self.note_envelope(event);
        let reading = read(event);
        self.undecoded += u64::from(reading.shape == Shape::Undecoded);
        match reading.payload {
            Payload::RunCreated(run) => self.note_run(event, run.name, run.kind),
            Payload::RunStarted(run) => {
                self.note_agent(run.agent.as_ref());
                self.begin_again(event);
                self.note_run(event, run.name, run.kind);
            }
            Payload::RunCompleted(run) => self.end_run(event, *run),
            Payload::StepStarted(step) => self.begin_step(event, &step),
            Payload::StepCompleted(step) => self.end_step(event, &step),
            Payload::Message(message) => self.note_message(&event.kind, &message),
            Payload::ToolCall(call) => self.note_call(&event.path, *call),
            Payload::ToolResult(result) => self.note_result(&event.path, *result),
            Payload::Usage(usage) => self.note_usage(&usage),
            _ => {}
        }
    }

    /// Returns how long the whole run took, resumed or not ([`RunCompleted::whole_ms`]); without an
    /// end, from its first event to its last.
    ///
    /// For several runs, the sum.
    pub fn duration_ms(&self) -> Option<u64> {
        self.whole_ms.or_else(|| Some(self.latest?.millis_since(self.started?)))
    }

    /// Returns the tokens of all models, or nothing if none were given.
    pub fn usage(&self) -> Option<TokenCounts> {
        let mut total = TokenCounts::default();
        self.models.values().for_each(|model| total.add(&model.tokens));
        (!total.is_empty()).then_some(total)
    }

    /// Returns the counts that a `run.completed` carries.
    ///
    /// If that line has not been added yet, it is counted as if it were the next.
    pub fn counts(&self) -> Counts {
        let completion = u64::from(self.last_kind != Some(Kind::RunCompleted));
        Counts {
            events: self.events + completion,
            steps: self.steps.values().map(|step| step.ended).sum(),
            messages: self.messages.values().sum(),
            tool_calls: self.tools.values().map(|tool| tool.calls).sum(),
            errors: self.errors,
            unknown: self.unknown,
            masked: self.masked,
            agents: self.agents.clone(),
        }
    }

    fn note_envelope(&mut self, event: &Event) {
        if self.runs == 0 {
            self.runs = 1;
            self.run_id = Some(event.run_id.clone());
            self.started = Some(event.timestamp);
            self.first_seq = Some(event.seq);
        }
        if self.parent_run_id.is_none() && self.is_own(event) {
            self.parent_run_id.clone_from(&event.parent_run_id);
        }
        self.latest = Some(event.timestamp);
        self.last_seq = Some(event.seq);
        self.events += 1;
        increment(&mut self.types, event.kind.as_str());
        self.errors += u64::from(event.kind == Kind::Error);
        self.unknown += u64::from(event.kind == Kind::Unknown);
        self.last_kind = Some(event.kind.clone());
    }

    /// Tells whether the event is of the run itself: some writers put a child run's events among
    /// its caller's.
    fn is_own(&self, event: &Event) -> bool {
        self.run_id.as_ref() == Some(&event.run_id)
    }

    fn note_run(&mut self, event: &Event, name: String, kind: RunKind) {
        if !self.is_own(event) {
            return;
        }
        if self.name.is_none() && !name.is_empty() {
            self.name = Some(name);
        }
        if event.kind != Kind::RunCompleted || self.name.is_some() {
            self.kind.get_or_insert(kind);
        }
    }

    /// A run that is taken up again has not ended.
    fn begin_again(&mut self, event: &Event) {
        if self.is_own(event) {
            (self.status, self.error) = (None, None);
            (self.ended, self.whole_ms) = (None, None);
        }
    }

    fn end_run(&mut self, event: &Event, run: RunCompleted) {
        if self.is_own(event) {
            let first = self.started.unwrap_or(event.timestamp);
            self.whole_ms = Some(run.whole_ms(first, event.timestamp));
            self.status = run.status;
            self.error = run.error;
            self.ended = Some(event.timestamp);
            self.masked = run.counts.map_or(0, |counts| counts.masked);
        }
        self.note_run(event, run.name, run.kind);
    }

    fn note_agent(&mut self, agent: Option<&Agent>) {
        if let Some(label) = agent.and_then(Agent::label) {
            increment(&mut self.agents, label);
        }
    }

    fn note_message(&mut self, kind: &Kind, message: &Message) {
        // The type is the contract; the role inside only repeats it.
        let role = if *kind == Kind::MessageUser { "user" } else { "assistant" };
        increment(&mut self.messages, role);
        for block in &message.blocks {
            increment(&mut self.blocks, block.content.block_type());
        }
    }

    fn note_usage(&mut self, usage: &Usage) {
        let model = usage.model.as_deref().unwrap_or("unknown");
        let totals = entry(&mut self.models, model);
        totals.events += 1;
        totals.tokens.add(&usage.tokens());
    }
}

/// Returns what stands under `key`, made if need be, without copying a key that is there.
fn entry<'a, T: Default>(totals: &'a mut BTreeMap<String, T>, key: &str) -> &'a mut T {
    if !totals.contains_key(key) {
        totals.insert(key.to_owned(), T::default());
    }
    totals.get_mut(key).expect("the line above made sure of it")
}

fn increment(counts: &mut BTreeMap<String, u64>, key: &str) {
    *entry(counts, key) += 1;
}
