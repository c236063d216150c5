//! The beginning and the end of a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::usage::TokenCounts;
use crate::json::Json;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// What sort of thing a run is.
    RunKind {
        /// A workflow of steps.
        Workflow = "workflow",
        /// An agent's own session.
        Session = "session",
        /// A program that was run or that recorded itself.
        Exec = "exec",
    }
}

vocabulary! {
    /// How a run or a step ended.
    Status {
        /// It did what it was to do.
        Succeeded = "succeeded",
        /// It did not.
        Failed = "failed",
        /// Somebody stopped it.
        Canceled = "canceled",
        /// It never got to say: its recorder died.
        Aborted = "aborted",
        /// It was not needed.
        Skipped = "skipped",
        /// It was not allowed.
        Blocked = "blocked",
    }
}

impl Status {
    /// Tells whether the thing did not do what it was to do.
    pub fn is_failure(&self) -> bool {
        matches!(self, Status::Failed | Status::Canceled | Status::Aborted | Status::Blocked)
    }

    /// Returns how something ended: as it was told or, as by writers without a status, by its error.
    pub fn told(status: Option<&Status>, error: Option<&str>) -> Status {
        let is_error = error.is_some_and(|error| !error.is_empty());
        let by_error = if is_error { Status::Failed } else { Status::Succeeded };
        status.cloned().unwrap_or(by_error)
    }
}

/// Payload of `run.created`: accepted, not yet running.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunCreated {
    /// The run's name.
    pub name: String,
    /// What sort of thing it is.
    pub kind: RunKind,
}

/// Payload of `run.started`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunStarted {
    /// The run's name.
    pub name: String,
    /// What sort of thing it is.
    pub kind: RunKind,
    /// The version of the transcript format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<u32>,
    /// The version of what runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The file that defines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<Definition>,
    /// What it was given, secrets masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Json>,
    /// Where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The agent's own name for its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The task it serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The agent, when there is one for the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// Free labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
}

/// The version of the format that this crate writes.
pub(super) const FORMAT_VERSION: u32 = 1;

impl RunStarted {
    /// Makes the payload of a run that starts now, in the format version this crate writes.
    pub fn new(name: impl Into<String>, kind: RunKind) -> Self {
        RunStarted { name: name.into(), kind, format: Some(FORMAT_VERSION), ..Self::default() }
    }
}

/// Payload of `run.completed`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunCompleted {
    /// The run's name.
    pub name: String,
    /// What sort of thing it is.
    pub kind: RunKind,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Why it did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Json>,
    /// How long it took, from its first line on: a run that was resumed counts as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The sum over its `usage` events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenCounts>,
    /// How many of what it left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}

impl RunCompleted {
    /// Returns how long the whole run took whose first line is of `first` and that ends so at `at`.
    ///
    /// That is the time from its first line to this end, pauses included, so that when it began and
    /// how long it took tell when it was over, and so that the first and the last line are enough to
    /// know. What the end says counts where it says more. Some writers say at the end of a run that
    /// was resumed how long its last part took; that is always less.
    ///
    /// An `aborted` end counts as it says: most are written when somebody comes back to a run, and a
    /// month in which nobody did does not make it a month long.
    pub fn whole_ms(&self, first: Timestamp, at: Timestamp) -> u64 {
        let between = at.millis_since(first);
        match self.duration_ms {
            Some(told) if self.status == Some(Status::Aborted) => told,
            Some(told) => told.max(between),
            None => between,
        }
    }
}

/// How many of what a run left, so that a list of runs need not read them whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Counts {
    /// Lines, this one included.
    pub events: u64,
    /// Steps that ended.
    pub steps: u64,
    /// Messages.
    pub messages: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// `error` events.
    pub errors: u64,
    /// Records that nobody understood.
    pub unknown: u64,
    /// Places where a secret was masked.
    pub masked: u64,
    /// How often each agent was at work, by provider.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, u64>,
}

/// The file that defines a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Definition {
    /// Its path.
    pub path: String,
    /// The hash of what it said.
    pub sha256: String,
}

/// Who did the work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Agent {
    /// Whose agent: `claude`, `codex`, `gemini` …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// How it was spoken to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// Which model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Which version of its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cli_version: Option<String>,
}

impl Agent {
    /// Returns the shortest name people would know it by.
    pub fn label(&self) -> Option<&str> {
        self.provider.as_deref().or(self.model.as_deref()).or(self.adapter.as_deref())
    }
}

impl Default for RunKind {
    /// A run that does not say is taken for a workflow: that is all the first writers recorded.
    fn default() -> Self {
        RunKind::Workflow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_took_as_long_as_from_its_first_line_to_its_end() {
        let cases = [
            ("nothing is told", None, None, 60_000),
            ("a last part is told", Some(Status::Succeeded), Some(1_500), 60_000),
            ("more is told than the times say", Some(Status::Failed), Some(61_000), 61_000),
            ("nobody came back for a while", Some(Status::Aborted), Some(1_500), 1_500),
            ("nobody knows when it stopped", Some(Status::Aborted), None, 60_000),
        ];
        let (first, at) = (Timestamp::from_micros(1_000_000), Timestamp::from_micros(61_000_000));
        for (case, status, duration_ms, expected) in cases {
            let end = RunCompleted { status, duration_ms, ..RunCompleted::default() };
            assert_eq!(end.whole_ms(first, at), expected, "{case}");
        }
    }
}
