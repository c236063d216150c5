//! How many of what a run holds, for its last line.

use std::collections::BTreeMap;

use quipu_event::payload::{Agent, Counts, Payload, TokenCounts};
use quipu_event::{Json, Kind};

/// A count of events as they come.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    counts: Counts,
    usage: TokenCounts,
}

impl Tally {
    /// Takes in the next event.
    pub(super) fn add(&mut self, kind: &Kind, payload: &Json) {
        self.counts.events += 1;
        match kind {
            Kind::MessageUser | Kind::MessageAssistant => self.counts.messages += 1,
            Kind::ToolCall => self.counts.tool_calls += 1,
            Kind::Error => self.counts.errors += 1,
            Kind::Unknown => self.counts.unknown += 1,
            Kind::StepCompleted | Kind::CallWorkflowCompleted => self.counts.steps += 1,
            Kind::Usage | Kind::RunStarted | Kind::StepStarted => self.look(kind, payload),
            _ => {}
        }
    }

    fn look(&mut self, kind: &Kind, payload: &Json) {
        match Payload::decode(kind, payload) {
            Ok(Payload::Usage(usage)) => self.usage.add(&usage.tokens()),
            Ok(Payload::RunStarted(started)) => note(&mut self.counts.agents, started.agent),
            Ok(Payload::StepStarted(started)) => note(&mut self.counts.agents, started.agent),
            _ => {}
        }
    }

    /// Returns the counts of a run that ends with the next line.
    pub(super) fn counts(&self, masked: u64) -> Counts {
        Counts { events: self.counts.events + 1, masked, ..self.counts.clone() }
    }

    /// Returns the sum over all usage, if there was any.
    pub(super) fn usage(&self) -> Option<TokenCounts> {
        (!self.usage.is_empty()).then_some(self.usage)
    }

    /// Returns how many events there were.
    pub(super) fn events(&self) -> u64 {
        self.counts.events
    }
}

fn note(agents: &mut BTreeMap<String, u64>, agent: Option<Agent>) {
    if let Some(label) = agent.as_ref().and_then(Agent::label) {
        *agents.entry(label.to_owned()).or_default() += 1;
    }
}
