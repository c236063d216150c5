//! How a run or a step stands: a word, a sign and a colour.

use anstyle::Style;
use quipu_event::Payload;
use quipu_event::payload::Status;
use quipu_journal::{RunListing, RunState};

use super::style;

/// How a run can stand.
pub(crate) const STANDINGS: [&str; 8] =
    ["running", "interrupted", "succeeded", "failed", "canceled", "aborted", "skipped", "blocked"];

/// How something stands, as a person would say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It ended.
    Ended(Status),
    /// It goes on.
    Running,
    /// It did not end, and nobody is there to end it.
    Interrupted,
}

impl Standing {
    /// Says how a run stands whose end, if it has one, says `status`.
    pub(crate) fn of_run(state: &RunState, status: Option<Status>) -> Self {
        match (state, status) {
            (RunState::Ended, Some(status)) => Standing::Ended(status),
            // Other writers leave the status out when all went well.
            (RunState::Ended, None) => Standing::Ended(Status::Succeeded),
            (RunState::Live(_), _) => Standing::Running,
            (RunState::Interrupted, _) => Standing::Interrupted,
        }
    }

    /// Says how a run stands whose last event is all that is known of its end.
    pub(crate) fn of_listing(run: &RunListing) -> Self {
        let payload = run.last.as_ref().and_then(|last| last.decode_payload().ok());
        let (status, error) = match payload {
            Some(Payload::RunCompleted(run)) => (run.status, run.error),
            // A writer that does not mark the end of a run ends it with that of a step.
            Some(Payload::StepCompleted(step)) => (step.status, step.error),
            _ => (None, None),
        };
        let failed = error.is_some_and(|error| !error.is_empty()).then_some(Status::Failed);
        Standing::of_run(&run.state, status.or(failed))
    }

    /// Says how something stands that has not ended, in a run that is in `state`.
    pub(crate) fn of_open(state: &RunState) -> Self {
        match state {
            RunState::Live(_) => Standing::Running,
            RunState::Ended | RunState::Interrupted => Standing::Interrupted,
        }
    }

    /// Returns the word for it.
    pub(crate) fn word(&self) -> &str {
        match self {
            Standing::Ended(status) => status.as_str(),
            Standing::Running => "running",
            Standing::Interrupted => "interrupted",
        }
    }

    /// Returns the sign for it.
    pub(crate) fn sign(&self) -> &'static str {
        match self {
            Standing::Ended(Status::Succeeded) => "✓",
            Standing::Ended(Status::Skipped) => "○",
            Standing::Ended(status) if status.is_failure() => "✗",
            Standing::Ended(_) => "?",
            Standing::Running => "●",
            Standing::Interrupted => "!",
        }
    }

    /// Returns the colour for it.
    pub(crate) fn style(&self) -> Style {
        match self {
            Standing::Ended(Status::Succeeded) => style::GOOD,
            Standing::Ended(Status::Skipped) => style::DIM,
            Standing::Ended(status) if status.is_failure() => style::BAD,
            Standing::Running => style::BUSY,
            Standing::Ended(_) | Standing::Interrupted => style::ODD,
        }
    }
}
