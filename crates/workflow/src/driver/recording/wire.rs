//! What a step came to, as it stands in a transcript line, and back.
//!
//! A run is resumed from these lines alone, so everything in an [`Outcome`] survives the way there
//! and back.

use std::collections::BTreeMap;

use quipu_event::payload::{StepCompleted, StepStarted};
use quipu_event::{EncodeError, Json, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::engine::{Next, Outcome, WorkStatus};
use crate::language::Value;

/// The payload of a start, with what our own steps tell beside it.
#[derive(Serialize)]
pub(super) struct StartedWire<'a> {
    #[serde(flatten)]
    pub(super) started: StepStarted,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) operation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) workflow: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inputs: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeout_ms: Option<u64>,
    /// The names of variables, never their values.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) env: &'a [String],
}

/// A step's result: the keys of `StepResult`, and what a resumed run needs beside them.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ResultWire {
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    json: Option<Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    named: BTreeMap<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    child_run_id: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<u8>,
    /// How the work ended, where that differs from how the step did: `timed_out`.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<WorkStatusWire>,
    /// What the work says went wrong, where that differs from what the step says.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    error: Option<Option<String>>,
    /// The line feeds at the end of `stdout` that are no part of a command's output.
    #[serde(skip_serializing_if = "is_zero")]
    output_tail: usize,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WorkStatusWire {
    Succeeded,
    Failed,
    TimedOut,
    Canceled,
}

#[derive(Serialize)]
struct NextWire<'a> {
    goto: Option<&'a str>,
    because: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<&'a str>,
}

/// Puts what came of a step into its payload. `of_command`: whether a command's output is what it is.
pub(super) fn put_outcome(
    payload: &mut StepCompleted,
    outcome: &Outcome,
    of_command: bool,
) -> Result<(), EncodeError> {
    let said = format!("{}{}", outcome.output, outcome.output_tail);
    let mut wire = ResultWire {
        stderr: (of_command || !outcome.stderr.is_empty()).then(|| outcome.stderr.clone()),
        exit_code: outcome.exit_code,
        value: outcome.value.clone(),
        json: outcome.json.clone(),
        named: outcome.named.clone(),
        session: outcome.session.clone(),
        model: outcome.model.clone(),
        truncated: outcome.truncated,
        child_run_id: outcome.child.clone(),
        exit_status: outcome.exit_status,
        output_tail: outcome.output_tail.len(),
        ..ResultWire::default()
    };
    if of_command {
        wire.stdout = Some(said);
    } else if !said.is_empty() {
        wire.output = Some(said);
    }
    let status = WorkStatusWire::from(outcome.status);
    wire.ended = (implied(payload) != Some(status)).then_some(status);
    wire.error = (payload.error != outcome.error).then(|| outcome.error.clone());
    let result = Json::encode(&wire)?;
    payload.result = (result.as_str() != "{}").then_some(result);
    payload.usage = outcome.usage;
    Ok(())
}

/// Returns what came of a step, from its payload. What other writers left is read as far as it goes.
pub(in crate::driver) fn outcome_of(payload: &StepCompleted) -> Outcome {
    let wire: ResultWire =
        payload.result.as_ref().and_then(|json| json.decode().ok()).unwrap_or_default();
    let ended = wire.ended.or_else(|| implied(payload)).unwrap_or(WorkStatusWire::Failed);
    let mut output = wire.stdout.or(wire.output).unwrap_or_default();
    let at = output.len().saturating_sub(wire.output_tail);
    let output_tail = match output.is_char_boundary(at) {
        true => output.split_off(at),
        false => String::new(),
    };
    Outcome {
        status: ended.into(),
        error: wire.error.unwrap_or_else(|| payload.error.clone()),
        output,
        output_tail,
        stderr: wire.stderr.unwrap_or_default(),
        exit_code: wire.exit_code,
        value: wire.value,
        json: wire.json,
        named: wire.named,
        session: wire.session,
        model: wire.model,
        usage: payload.usage,
        truncated: wire.truncated,
        child: wire.child_run_id,
        exit_status: wire.exit_status,
    }
}

/// Returns the way taken, as it stands in a line.
pub(super) fn next_json(next: &Next) -> Result<Json, EncodeError> {
    Json::encode(&NextWire {
        goto: next.goto.as_deref(),
        because: next.because,
        when: next.when.as_deref(),
    })
}

/// How work ended when the line says nothing but how its step did.
fn implied(payload: &StepCompleted) -> Option<WorkStatusWire> {
    use quipu_event::payload::Status;
    match payload.status {
        Some(Status::Succeeded) => Some(WorkStatusWire::Succeeded),
        Some(Status::Failed) => Some(WorkStatusWire::Failed),
        Some(Status::Canceled) => Some(WorkStatusWire::Canceled),
        _ => None,
    }
}

impl From<WorkStatus> for WorkStatusWire {
    fn from(status: WorkStatus) -> WorkStatusWire {
        match status {
            WorkStatus::Succeeded => WorkStatusWire::Succeeded,
            WorkStatus::Failed => WorkStatusWire::Failed,
            WorkStatus::TimedOut => WorkStatusWire::TimedOut,
            WorkStatus::Canceled => WorkStatusWire::Canceled,
        }
    }
}

impl From<WorkStatusWire> for WorkStatus {
    fn from(status: WorkStatusWire) -> WorkStatus {
        match status {
            WorkStatusWire::Succeeded => WorkStatus::Succeeded,
            WorkStatusWire::Failed => WorkStatus::Failed,
            WorkStatusWire::TimedOut => WorkStatus::TimedOut,
            WorkStatusWire::Canceled => WorkStatus::Canceled,
        }
    }
}

/// A value that is there, `null` included: absent and `null` are two things.
fn present<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}
