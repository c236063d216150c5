//! A terminal step: the run ends here, with a message and a status.

use super::super::Engine;
use super::super::activity::ActivityId;
use super::super::flow::Way;
use super::super::lifecycle::failed;
use super::super::work::Outcome;
use super::text;
use crate::definition::{Step, TerminalStatus, TerminalStep};

impl Engine {
    /// Ends the run at a terminal step, which comes to what it says the run came to.
    pub(in crate::engine) fn reach_terminal(&mut self, id: ActivityId, terminal: &TerminalStep) {
        let scope = self.scope(id);
        let message = terminal.message.as_ref().map(|message| text(message, &scope)).transpose();
        let step = std::sync::Arc::clone(&self.activities.get(id).step);
        let said = match message {
            Ok(message) => message.unwrap_or_default(),
            Err(problem) => {
                let outcome = failed(format!("step `{}`: message: {problem}", step.name));
                return self.end_attempt(id, outcome, None);
            }
        };
        let outcome = match terminal.status {
            TerminalStatus::Success => Outcome { output: said, ..Outcome::default() },
            TerminalStatus::Failure => {
                let error = if said.is_empty() {
                    format!("the run reached the failure state `{}`", step.name)
                } else {
                    said.clone()
                };
                Outcome { output: said, ..failed(error) }
            }
        };
        let way = way_of(&step, terminal, &outcome);
        self.end_attempt(id, outcome, Some(way));
    }
}

/// Returns how the run ends at a terminal step that said what `outcome` has.
pub(super) fn way_of(step: &Step, terminal: &TerminalStep, outcome: &Outcome) -> Way {
    Way::EndRun {
        succeeded: terminal.status == TerminalStatus::Success,
        message: (!outcome.output.is_empty()).then(|| outcome.output.clone()),
        terminal: Some(step.name.clone()),
        exit_status: terminal.exit_status,
    }
}
