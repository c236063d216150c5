//! The run's own files: its log, one line an event, and the run in short.

use quipu_event::payload::{RunCompleted, RunStarted, Status};
use quipu_event::{Event, Json, RunId, Timestamp};
use serde_json::{Value, json};

use super::calls::moment;
use super::pairs::{BESIDE, Pairs};
use super::said::mended;
use super::wire::{LogLine, Meta, Spec, document, line};
use crate::files::Shelf;

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Log {
    run: RunId,
    flow: String,
    seq: u64,
    /// How many steps have begun.
    pub(super) steps_begun: u64,
    /// How many have ended.
    pub(super) steps_ended: u64,
    is_created: bool,
    pairs: Pairs,
    parent: Option<RunId>,
    title: Option<String>,
    params: Value,
    created: Timestamp,
    latest: Timestamp,
    started: Option<Timestamp>,
    completed: Option<Timestamp>,
    status: Option<Status>,
    error: Option<String>,
}

impl Log {
    pub(super) fn new(event: &Event, flow: String) -> Self {
        Log {
            run: event.run_id.clone(),
            flow,
            seq: 0,
            steps_begun: 0,
            steps_ended: 0,
            is_created: false,
            pairs: Pairs::default(),
            parent: event.parent_run_id.clone(),
            title: None,
            params: json!({}),
            created: event.timestamp,
            latest: event.timestamp,
            started: None,
            completed: None,
            status: None,
            error: None,
        }
    }

    /// Writes one line of `kind` about `event`.
    pub(super) fn write(
        &mut self,
        event: &Event,
        kind: &str,
        (step, agent): (Option<&str>, Option<&str>),
        payload: Value,
        shelf: &mut dyn Shelf,
    ) {
        self.seq += 1;
        let line = line(&LogLine {
            event_id: format!("{}:{}", self.run, self.seq),
            seq: self.seq,
            run_id: event.run_id.as_str(),
            ts: moment(event.timestamp),
            kind,
            flow_key: &self.flow,
            step_id: step,
            agent_key: agent,
            payload,
        });
        shelf.append(&format!("{}/events.jsonl", self.run), &line);
    }

    /// Says that `step` begins.
    pub(super) fn begin_step(
        &mut self,
        event: &Event,
        (step, agent): (&str, Option<&str>),
        mut payload: Value,
        shelf: &mut dyn Shelf,
    ) {
        let kind = self.pairs.begin(step, &event.path);
        if kind == BESIDE {
            payload["event"] = "step_start".into();
        }
        self.write(event, kind, (Some(step), agent), payload, shelf);
    }

    /// Says that `step` ends; if nobody said that it began, this is said first.
    pub(super) fn end_step(
        &mut self,
        event: &Event,
        (step, agent): (&str, Option<&str>),
        mut payload: Value,
        shelf: &mut dyn Shelf,
    ) {
        if self.pairs.is_new(step) {
            let unannounced = json!({ "path": event.path.as_str(), "announced": false });
            self.begin_step(event, (step, agent), unannounced, shelf);
        }
        let kind = self.pairs.end(step, &event.path);
        if kind == BESIDE {
            payload["event"] = "step_end".into();
        }
        self.write(event, kind, (Some(step), agent), payload, shelf);
    }

    /// Says that the run was accepted, once.
    pub(super) fn create(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        if std::mem::replace(&mut self.is_created, true) {
            return;
        }
        let mut payload = json!({
            "flows": [self.flow], "backend": "quipu", "initiator": "quipu", "stepwise": true,
        });
        if let Some(parent) = &self.parent {
            payload["parent_run_id"] = parent.as_str().into();
        }
        self.write(event, "run_created", (None, None), payload, shelf);
        self.put_meta(shelf);
    }

    /// Says that the run begins, or goes on.
    pub(super) fn start(&mut self, event: &Event, run: &RunStarted, shelf: &mut dyn Shelf) {
        self.title = Some(run.name.clone()).filter(|name| !name.is_empty());
        let params = run.inputs.as_ref().and_then(mended).filter(Value::is_object);
        self.params = params.unwrap_or_else(|| json!({}));
        self.create(event, shelf);
        self.started.get_or_insert(event.timestamp);
        (self.completed, self.status, self.error) = (None, None, None);
        let agent = run.agent.as_ref().and_then(|agent| agent.label());
        let payload = json!({
            "mode": "stepwise", "kind": run.kind.as_str(), "agent": agent, "cwd": run.cwd,
            "labels": run.labels,
        });
        self.write(event, "run_started", (None, None), payload, shelf);
        self.put_meta(shelf);
    }

    /// Says how the run ended.
    pub(super) fn complete(&mut self, event: &Event, run: &RunCompleted, shelf: &mut dyn Shelf) {
        self.create(event, shelf);
        let status = run.status.clone().unwrap_or(Status::Succeeded);
        let kind = match status {
            Status::Succeeded | Status::Skipped => "run_completed",
            Status::Canceled => "run_canceled",
            _ => "run_failed",
        };
        let payload = json!({
            "status": status.as_str(), "error": run.error, "duration_ms": run.duration_ms,
            "steps_completed": self.steps_ended, "total_steps": self.steps_begun,
            "result": run.result.as_ref().map(value_of),
        });
        self.completed = Some(event.timestamp);
        self.status = Some(status);
        self.error.clone_from(&run.error);
        self.write(event, kind, (None, None), payload, shelf);
        self.put_meta(shelf);
    }

    /// Returns how the run ended; nothing while it has not.
    pub(super) fn status(&self) -> Option<(Status, Timestamp)> {
        self.status.clone().zip(self.completed)
    }

    /// Takes note of when the latest event was.
    pub(super) fn note_time(&mut self, at: Timestamp) {
        self.latest = at;
    }

    /// Writes the run in short, as it is now.
    pub(super) fn put_meta(&self, shelf: &mut dyn Shelf) {
        let (status, sdlc) = match &self.status {
            None => ("running", "unknown"),
            Some(Status::Succeeded | Status::Skipped) => ("succeeded", "ok"),
            Some(Status::Canceled) => ("canceled", "partial"),
            Some(_) => ("failed", "error"),
        };
        let meta = document(&Meta {
            id: self.run.as_str(),
            spec: Spec {
                flow_keys: [&self.flow],
                profile_id: None,
                backend: "quipu",
                initiator: "quipu",
                params: self.params.clone(),
                no_human_mid_flow: false,
            },
            status,
            sdlc_status: sdlc,
            created_at: moment(self.created),
            updated_at: moment(self.latest),
            started_at: self.started.map(moment),
            completed_at: self.completed.map(moment),
            error: self.error.as_deref(),
            artifacts: json!({}),
            is_exemplar: false,
            tags: &[],
            title: self.title.as_deref(),
            path: None,
            description: None,
        });
        shelf.put(&format!("{}/meta.json", self.run), &meta);
    }
}

/// Returns a payload as it is; one that cannot be taken apart as its text.
pub(super) fn value_of(payload: &Json) -> Value {
    mended(payload).unwrap_or_else(|| payload.as_str().into())
}
