//! What one turn came to.

use quipu_event::payload::TokenCounts;

use crate::engine::WorkStatus;
use crate::process::StopReason;

/// What one turn came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reply {
    /// How it ended.
    pub(super) status: WorkStatus,
    /// Why it did not succeed, for a person.
    pub(super) error: Option<String>,
    /// The answer.
    pub(super) text: String,
    /// The session it belongs to, to be continued.
    pub(super) session: Option<String>,
    /// The model that answered.
    pub(super) model: Option<String>,
    /// What it used up.
    pub(super) usage: TokenCounts,
    /// What the agent's program wrote to standard error, the end of it.
    pub(super) stderr: String,
    /// The program's exit code.
    pub(super) exit_code: Option<i64>,
}

impl Reply {
    /// Makes the reply of a turn that could not even begin.
    pub(super) fn failed(error: impl Into<String>) -> Self {
        Reply { status: WorkStatus::Failed, error: Some(error.into()), ..Reply::default() }
    }

    /// Says that it was stopped. How long it had is not known here.
    pub(super) fn stopped(self, reason: StopReason) -> Self {
        let (status, why) = match reason {
            StopReason::TimedOut => (WorkStatus::TimedOut, None),
            StopReason::Canceled | StopReason::Now => (WorkStatus::Canceled, Some("canceled")),
        };
        Reply { status, error: why.map(str::to_owned), ..self }
    }
}
