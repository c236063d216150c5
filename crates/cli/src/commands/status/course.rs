//! Where a run is, as a fold over its events: what is open, what ended how, and the end.
//!
//! It holds only what is open, so that a loop of very many iterations takes no more room than one.

use std::collections::BTreeMap;

use quipu_event::payload::{Status, StepStarted, TokenCounts};
use quipu_event::{BlockContent, Event, Payload, Timestamp};

/// Where a run is.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// The number of the last event.
    pub(super) seq: u64,
    pub(super) name: Option<String>,
    /// Whether it says which file it is a run of, so that it can be resumed.
    pub(super) has_definition: bool,
    pub(super) started: Option<Timestamp>,
    /// The time of the last event.
    pub(super) latest: Option<Timestamp>,
    /// The steps that run, in the order in which they began.
    pub(super) open: Vec<OpenStep>,
    /// How many steps ended how.
    pub(super) ended: BTreeMap<String, u64>,
    /// The step that failed last.
    pub(super) failure: Option<FailedStep>,
    pub(super) usage: TokenCounts,
    /// How the run ended.
    pub(super) end: Option<End>,
}

/// A step that runs.
#[derive(Debug)]
pub(super) struct OpenStep {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) attempt: u32,
    pub(super) started: Timestamp,
    /// The agent, the command or the called run.
    pub(super) detail: Option<String>,
    /// A loop's iteration, from 0, and of how many if that is known.
    pub(super) iteration: Option<(u64, Option<u64>)>,
}

/// A step that failed.
#[derive(Debug)]
pub(super) struct FailedStep {
    pub(super) path: String,
    pub(super) error: Option<String>,
}

/// How a run ended.
#[derive(Debug)]
pub(super) struct End {
    pub(super) status: Status,
    pub(super) error: Option<String>,
    /// How long the whole run took.
    pub(super) duration_ms: u64,
}

impl Course {
    /// Takes the next event. What does not decode changes nothing.
    pub(super) fn take(&mut self, event: &Event) {
        self.seq = self.seq.max(event.seq);
        self.started = self.started.or(Some(event.timestamp));
        self.latest = Some(event.timestamp);
        let Ok(payload) = event.decode_payload() else { return };
        match payload {
            Payload::RunStarted(started) => {
                self.has_definition = started.definition.is_some();
                self.name = Some(started.name);
            }
            Payload::RunCompleted(completed) => {
                let status = Status::told(completed.status.as_ref(), completed.error.as_deref());
                let first = self.started.unwrap_or(event.timestamp);
                let duration_ms = completed.whole_ms(first, event.timestamp);
                self.end = Some(End { status, error: completed.error, duration_ms });
            }
            Payload::StepStarted(started) => self.begin(event, *started),
            Payload::StepCompleted(completed) => {
                self.close(event.path.as_str(), completed.attempt);
                let status = Status::told(completed.status.as_ref(), completed.error.as_deref());
                *self.ended.entry(status.as_str().to_owned()).or_default() += 1;
                if status.is_failure() {
                    let path = event.path.as_str().to_owned();
                    self.failure = Some(FailedStep { path, error: completed.error });
                }
            }
            Payload::Usage(usage) => self.usage.add(&usage.tokens()),
            _ => {}
        }
        // A run that was resumed goes on after its end.
        if self.end.is_some() && !self.open.is_empty() {
            self.end = None;
        }
    }

    fn begin(&mut self, event: &Event, started: StepStarted) {
        self.end = None;
        let path = event.path.as_str().to_owned();
        self.note_iterations(&path);
        let command = started.blocks.iter().flatten().find_map(|block| match &block.content {
            BlockContent::Command { command, .. } => Some(command.clone()),
            _ => None,
        });
        let agent = started.agent.as_ref().and_then(|agent| agent.label()).map(str::to_owned);
        let child = event.child_run_id.as_ref().map(|run| format!("run {run}"));
        self.open.push(OpenStep {
            path,
            name: started.name,
            kind: started.kind,
            attempt: started.attempt.unwrap_or(1),
            started: event.timestamp,
            detail: command.or(agent).or(child),
            iteration: None,
        });
    }

    fn close(&mut self, path: &str, attempt: Option<u32>) {
        let attempt = attempt.unwrap_or(1);
        let found = self.open.iter().rposition(|s| s.path == path && s.attempt == attempt);
        if let Some(at) = found {
            self.open.remove(at);
        }
    }

    /// Tells the loops around a step which iteration it belongs to.
    fn note_iterations(&mut self, path: &str) {
        for step in &mut self.open {
            let index = path
                .strip_prefix(&step.path)
                .and_then(|rest| rest.strip_prefix('['))
                .and_then(|rest| rest.split_once(']'))
                .and_then(|(index, _)| index.parse().ok());
            if let Some(index) = index {
                let total = step.iteration.and_then(|(_, total)| total);
                step.iteration = Some((index, total));
            }
        }
    }
}

impl OpenStep {
    /// Returns how many steps it is in.
    pub(super) fn depth(&self) -> usize {
        self.path.matches('.').count()
    }
}
