//! The audit trail: one entry when a run starts, one when it has ended.
//!
//! A run whose end is not recorded has no second entry: that is how AWF's users find the runs that
//! never ended. One that is gone on with starts again, so that each end has a start.

use std::collections::BTreeMap;

use quipu_event::payload::{RunCompleted, RunStarted, Status};
use quipu_event::{Event, Json, Payload, Timestamp};
use serde::Deserialize;

use super::line::reason;
use super::wire::{AuditEntry, encode};
use crate::plain;
use crate::reading::read;

/// What a single write puts down whole, the end of the line included.
const ONE_WRITE: usize = 4096;
/// Inputs whose names begin so are hidden, whatever the case of their letters.
const SECRET: [&str; 4] = ["SECRET_", "API_KEY", "PASSWORD", "TOKEN"];
/// AWF's exit code of a run that failed or was stopped.
const EXECUTION_FAILED: i64 = 3;
/// What stands where something was cut.
const CUT: &str = "…";
/// How much of a long text is kept. A byte may take six to spell.
const KEPT: [usize; 3] = [2000, 600, 160];

/// Folds a run into its audit entries.
#[derive(Default)]
pub(super) struct Audit {
    /// When the run began, or was taken up again.
    began: Option<Timestamp>,
    /// How often it did.
    starts: u64,
    name: String,
    user: Option<String>,
}

impl Audit {
    /// Takes the next event and returns the entry that it gives, if it gives one.
    pub(super) fn add(&mut self, event: &Event) -> Option<Json> {
        self.began.get_or_insert(event.timestamp);
        match read(event).payload {
            Payload::RunStarted(run) => Some(self.started(event, *run)),
            Payload::RunCompleted(run) => Some(self.completed(event, *run)),
            _ => None,
        }
    }

    fn started(&mut self, event: &Event, run: RunStarted) -> Json {
        self.starts += 1;
        self.began = Some(event.timestamp);
        self.name = run.name;
        self.user = run.labels.and_then(|mut labels| labels.remove("user"));
        let inputs: BTreeMap<String, Json> =
            run.inputs.and_then(|inputs| inputs.decode().ok()).unwrap_or_default();
        let inputs = inputs.into_iter().map(|(name, value)| {
            let value = if is_secret(&name) { encode(&"***") } else { value };
            (name, value)
        });
        let inputs = Some(inputs.collect()).filter(|inputs: &BTreeMap<_, _>| !inputs.is_empty());
        fitted(AuditEntry { event: "workflow.started", inputs, ..self.entry(event) })
    }

    fn completed(&mut self, event: &Event, run: RunCompleted) -> Json {
        if self.name.is_empty() {
            self.name = run.name;
        }
        let succeeded = matches!(run.status, Some(Status::Succeeded | Status::Skipped));
        let exit_code = exit_code(run.status.as_ref(), run.result.as_ref());
        let began = self.began.unwrap_or(event.timestamp);
        // The end of a run that was taken up again tells of more than this start and end.
        let told = run.duration_ms.filter(|_| self.starts < 2);
        let error = reason(run.status.as_ref(), run.error);
        fitted(AuditEntry {
            event: "workflow.completed",
            status: Some(if succeeded { "success" } else { "failure" }),
            exit_code: Some(exit_code),
            duration_ms: Some(told.unwrap_or(event.timestamp.millis_since(began))),
            error: if succeeded { String::new() } else { error },
            ..self.entry(event)
        })
    }

    fn entry(&self, event: &Event) -> AuditEntry {
        let timestamp = Timestamp::from_micros(event.timestamp.as_micros()).to_string();
        AuditEntry {
            execution_id: event.run_id.to_string(),
            // A trail counts milliseconds.
            timestamp: timestamp.get(..23).map_or(timestamp.clone(), |text| format!("{text}Z")),
            user: self.user.clone().unwrap_or_else(|| "unknown".to_owned()),
            workflow_name: self.name.clone(),
            schema_version: 1,
            ..AuditEntry::default()
        }
    }
}

/// Returns the exit code of the program that ran it: as the run says, else as AWF has them.
fn exit_code(status: Option<&Status>, result: Option<&Json>) -> i64 {
    /// What a workflow asks for, and what a program ended with.
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Codes {
        exit_status: Option<i64>,
        exit_code: Option<i64>,
    }
    let codes: Codes = result.and_then(|result| result.decode().ok()).unwrap_or_default();
    let ended = codes.exit_code.filter(|code| *code != 0);
    let asked = codes.exit_status.filter(|code| *code != 0);
    match status {
        Some(Status::Succeeded | Status::Skipped) => asked.unwrap_or(0),
        // Whoever stops a run wants to know that, whatever it would have said.
        Some(Status::Canceled) => ended.unwrap_or(EXECUTION_FAILED),
        Some(status) if status.is_known() => asked.or(ended).unwrap_or(EXECUTION_FAILED),
        _ => asked.or(ended).unwrap_or(1),
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET.iter().any(|prefix| name.starts_with(prefix))
}

/// Cuts an entry until one write takes it: first the longest inputs, then whatever else is long.
fn fitted(mut entry: AuditEntry) -> Json {
    let fits = |entry: &AuditEntry| {
        let json = encode(entry);
        (plain::line(&json).len() <= ONE_WRITE).then_some(json)
    };
    let cut = encode(&CUT);
    loop {
        if let Some(json) = fits(&entry) {
            return json;
        }
        let longest = entry
            .inputs
            .iter_mut()
            .flatten()
            .max_by_key(|(_, value)| value.as_str().len())
            .filter(|(_, value)| value.as_str().len() > cut.as_str().len());
        match longest {
            Some((_, value)) => *value = cut.clone(),
            None => break,
        }
        entry.inputs_truncated = true;
    }
    for kept in KEPT {
        for text in [&mut entry.error, &mut entry.workflow_name, &mut entry.user] {
            shorten(text, kept);
        }
        if let Some(json) = fits(&entry) {
            return json;
        }
    }
    // The names of the inputs alone fill it.
    entry.inputs = entry.inputs.take().map(|_| BTreeMap::new());
    encode(&entry)
}

fn shorten(text: &mut String, kept: usize) {
    if text.len() > kept + CUT.len() {
        let end = (0..=kept).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push_str(CUT);
    }
}
