//! What one step cost, all its occurrences and attempts together or each for itself.

use std::collections::BTreeMap;

use quipu_event::payload::{Agent, Status};

use super::bill::Bill;

/// What one step cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReceipt {
    /// Where it stands; `[*]` for all iterations of a loop together.
    pub path: String,
    /// Which attempt, where each is asked for.
    pub attempt: Option<u32>,
    /// What kind of step, when its events say.
    pub kind: Option<String>,
    /// Whose agent did the work.
    pub agent: Option<String>,
    /// The model that the step says it uses.
    pub model: Option<String>,
    /// How often it was begun for the first time in its place.
    pub times: u64,
    /// How often it was tried.
    pub attempts: u64,
    /// How many occurrences ended how; the last attempt decides.
    pub ended: BTreeMap<Status, u64>,
    /// Why it did not succeed, the last time it did not.
    pub error: Option<String>,
    /// How long its attempts took, added up; nothing while none has ended.
    pub duration_ms: Option<u64>,
    /// What was used at this step, outside every step further in.
    pub bill: Bill,
}

impl StepReceipt {
    /// Returns how it ended, if it ended in one way only.
    pub fn status(&self) -> Option<&Status> {
        let mut ways = self.ended.keys();
        ways.next().filter(|_| ways.next().is_none() && self.open() == 0)
    }

    /// Returns how many occurrences have not ended.
    pub fn open(&self) -> u64 {
        self.times.saturating_sub(self.ended.values().sum())
    }

    pub(super) fn note_agent(&mut self, agent: Option<&Agent>) {
        let Some(agent) = agent else { return };
        if let Some(label) = agent.label() {
            self.agent.get_or_insert_with(|| label.to_owned());
        }
        if let Some(model) = &agent.model {
            self.model.get_or_insert_with(|| model.clone());
        }
    }

    pub(super) fn note_end(&mut self, status: Status, error: Option<String>, millis: Option<u64>) {
        if error.is_some() && status.is_failure() {
            self.error = error;
        }
        *self.ended.entry(status).or_default() += 1;
        if let Some(millis) = millis {
            let total = self.duration_ms.get_or_insert(0);
            *total = total.saturating_add(millis);
        }
    }

    /// Forgets an end that another attempt took back.
    pub(super) fn take_back(&mut self, status: &Status) {
        if let Some(count) = self.ended.get_mut(status) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.ended.remove(status);
            }
        }
        if !self.ended.keys().any(Status::is_failure) {
            self.error = None;
        }
    }
}
