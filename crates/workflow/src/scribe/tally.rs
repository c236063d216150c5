//! What a run has left so far, counted as it is told.

use quipu_event::payload::{Counts, StepStarted, TokenCounts, Usage};
use quipu_event::{Json, Kind};

/// Counts of events, and the sum of what was used up.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(super) counts: Counts,
    pub(super) usage: TokenCounts,
}

impl Tally {
    /// Counts one event.
    pub(crate) fn add(&mut self, kind: &Kind, payload: &Json) {
        let counts = &mut self.counts;
        counts.events += 1;
        match kind {
            Kind::StepCompleted | Kind::CallWorkflowCompleted => counts.steps += 1,
            Kind::MessageUser | Kind::MessageAssistant => counts.messages += 1,
            Kind::ToolCall => counts.tool_calls += 1,
            Kind::Error => counts.errors += 1,
            Kind::Unknown => counts.unknown += 1,
            Kind::StepStarted => {
                let agent = payload.decode::<StepStarted>().ok().and_then(|started| started.agent);
                if let Some(provider) = agent.and_then(|agent| agent.provider) {
                    *counts.agents.entry(provider).or_default() += 1;
                }
            }
            Kind::Usage => {
                if let Ok(usage) = payload.decode::<Usage>() {
                    self.usage.add(&usage.tokens());
                }
            }
            _ => {}
        }
    }

    /// Counts places where a secret was masked.
    pub(crate) fn masked(&mut self, places: u64) {
        self.counts.masked += places;
    }
}
