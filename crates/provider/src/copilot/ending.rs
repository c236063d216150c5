//! How a run ended, as far as its events tell.

use quipu_event::Json;
use quipu_event::payload::{RunCompleted, Status};
use serde_json::{Map, Value};

use crate::record::Record;
use crate::value::Fields;

use super::notes;

/// What speaks for one end or another.
#[derive(Default)]
pub(super) struct Ending {
    /// What `result` said of the exit code, if there was one.
    exit_code: Option<Option<i64>>,
    /// How the session was shut down, if it was.
    shutdown: Option<String>,
    /// Whether somebody stopped the agent and it did not go on.
    is_interrupted: bool,
    /// What went wrong last, if the agent did not go on.
    error: Option<String>,
    facts: Map<String, Value>,
}

const SHUTDOWN_FACTS: &[(&str, &str)] = &[
    ("shutdownType", "shutdown"),
    ("totalPremiumRequests", "premium_requests"),
    ("totalApiDurationMs", "api_duration_ms"),
    ("totalNanoAiu", "nano_aiu"),
];
const RESULT_FACTS: &[(&str, &str)] = &[
    ("premiumRequests", "premium_requests"),
    ("totalApiDurationMs", "api_duration_ms"),
    ("sessionDurationMs", "session_duration_ms"),
];
const CHANGE_FACTS: &[(&str, &str)] =
    &[("linesAdded", "lines_added"), ("linesRemoved", "lines_removed")];
/// One AI unit is a billion nano units and costs a cent: the one figure here that the agent does not
/// name itself. What it named stands beside it as `nano_aiu`.
const NANO_AIU_PER_USD: f64 = 1e11;

impl Ending {
    /// The agent goes on.
    pub(super) fn go_on(&mut self) {
        self.is_interrupted = false;
        self.error = None;
        self.shutdown = None;
    }

    /// Somebody stopped the agent.
    pub(super) fn interrupt(&mut self) {
        self.is_interrupted = true;
    }

    /// Something went wrong for good.
    pub(super) fn fail(&mut self, message: String) {
        self.error = Some(message);
    }

    /// Takes the last line of the stream.
    pub(super) fn take_result(&mut self, record: &Record<'_>) {
        let fields = &record.fields;
        self.exit_code = Some(fields.integer("exitCode"));
        let usage = fields.fields("usage").unwrap_or_default();
        self.facts.extend(notes::facts(
            fields,
            &[("sessionId", "session_id"), ("exitCode", "exit_code")],
        ));
        self.facts.extend(notes::facts(&usage, RESULT_FACTS));
        self.take_changes(&usage);
    }

    /// Takes a shutdown; what it sums up for the whole session replaces what an earlier one said.
    pub(super) fn take_shutdown(&mut self, data: &Fields<'_>) {
        self.shutdown = Some(data.string("shutdownType").unwrap_or_default());
        self.facts.extend(notes::facts(data, SHUTDOWN_FACTS));
        if let Some(nano) = data.number("totalNanoAiu").filter(|nano| *nano > 0.0) {
            self.facts.insert("cost_usd".to_owned(), (nano / NANO_AIU_PER_USD).into());
        }
        self.take_changes(data);
    }

    fn take_changes(&mut self, fields: &Fields<'_>) {
        let changes = fields.fields("codeChanges").unwrap_or_default();
        self.facts.extend(notes::facts(&changes, CHANGE_FACTS));
    }

    /// Tells how it ended.
    pub(super) fn complete(&mut self, is_stream: bool, is_dangling: bool) -> RunCompleted {
        let has_end = if is_stream { self.exit_code.is_some() } else { self.shutdown.is_some() };
        let exit_failed = self.exit_code.flatten().is_some_and(|code| code != 0);
        let status = if self.is_interrupted {
            Status::Canceled
        } else if exit_failed || self.error.is_some() || self.shutdown.as_deref() == Some("error") {
            Status::Failed
        } else if !has_end && (is_stream || is_dangling) {
            Status::Aborted
        } else {
            Status::Succeeded
        };
        let result =
            (!self.facts.is_empty()).then(|| Json::encode(&self.facts).unwrap_or_default());
        let error = self.error.take().filter(|_| status == Status::Failed);
        RunCompleted { status: Some(status), error, result, ..RunCompleted::default() }
    }
}
