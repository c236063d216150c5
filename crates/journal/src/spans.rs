//! What has started and not completed: a fold over events, used to recover and to verify.

use std::collections::HashMap;

use quipu_event::payload::{Payload, RunKind, RunStarted, StepStarted};
use quipu_event::{Event, Kind, RunId, StepPath, Timestamp};

/// Something that started and has not completed.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSpan {
    /// The number of its start.
    pub seq: u64,
    /// How many events had been taken in with its start: where numbers are not in order, this is.
    pub nth: u64,
    /// The type of its start.
    pub kind: Kind,
    /// Where it started.
    pub path: StepPath,
    /// In which iteration.
    pub iteration: u64,
    /// Who started it, unless it was the main agent.
    pub source: Option<Box<str>>,
    /// When it started.
    pub started: Timestamp,
    /// The run it calls.
    pub child_run_id: Option<RunId>,
    /// What is called by which name.
    pub what: Started,
}

/// The payload of a start, as far as its end repeats it.
#[derive(Clone, Debug, PartialEq)]
pub enum Started {
    /// A run.
    Run {
        /// Its name.
        name: String,
        /// What sort of thing it is.
        kind: RunKind,
    },
    /// A step.
    Step {
        /// Its name.
        name: String,
        /// Its kind.
        kind: String,
        /// Which try it is.
        attempt: Option<u32>,
    },
    /// A look whether the files are there that a run was to make.
    Check {
        /// Those files.
        required: Vec<String>,
    },
    /// Anything else.
    Other,
}

/// All that is open after the events seen so far.
#[derive(Clone, Debug, Default)]
pub struct OpenSpans {
    open: HashMap<Key, Vec<OpenSpan>>,
    /// How many events have been taken in.
    taken: u64,
}

/// A start and its end share these. The attempt is a part of it: a path alone may be tried again.
type Key = (Kind, StepPath, u32);

/// A completion that nothing had started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unstarted {
    /// The type that should have come before.
    pub start: Kind,
}

impl OpenSpans {
    /// Takes in the next event and returns what it completes, if anything. Fails when it completes
    /// what never started.
    pub fn add(&mut self, event: &Event) -> Result<Option<OpenSpan>, Unstarted> {
        self.taken += 1;
        if event.kind.completion().is_some() {
            let span = OpenSpan::of(event, self.taken);
            let key = (event.kind.clone(), event.path.clone(), span.what.attempt());
            self.open.entry(key).or_default().push(span);
            return Ok(None);
        }
        let Some(start) =
            Kind::ALL.iter().find(|kind| kind.completion().as_ref() == Some(&event.kind))
        else {
            return Ok(None);
        };
        let key = (start.clone(), event.path.clone(), attempt_of(event));
        let open = self.open.get_mut(&key).filter(|spans| !spans.is_empty());
        let Some(spans) = open else { return Err(Unstarted { start: start.clone() }) };
        let completed = spans.pop();
        if spans.is_empty() {
            self.open.remove(&key);
        }
        Ok(completed)
    }

    /// Returns the step that is open already and that `event` starts once more: the same path,
    /// iteration and attempt.
    pub fn started_before(&self, event: &Event) -> Option<&OpenSpan> {
        if !matches!(event.kind, Kind::StepStarted | Kind::CallWorkflowStarted) {
            return None;
        }
        let attempt = Started::of(event).attempt();
        let open = self.open.get(&(event.kind.clone(), event.path.clone(), attempt))?;
        open.iter().rfind(|span| span.iteration == event.iteration)
    }

    /// Tells whether everything that started has completed.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns what is open, the one that started last first: the order in which to close it.
    pub fn into_innermost_first(self) -> Vec<OpenSpan> {
        let mut spans: Vec<_> = self.open.into_values().flatten().collect();
        spans.sort_by_key(|span| std::cmp::Reverse(span.nth));
        spans
    }
}

impl OpenSpan {
    fn of(event: &Event, nth: u64) -> Self {
        OpenSpan {
            seq: event.seq,
            nth,
            kind: event.kind.clone(),
            path: event.path.clone(),
            iteration: event.iteration,
            source: event.source.clone(),
            started: event.timestamp,
            child_run_id: event.child_run_id.clone(),
            what: Started::of(event),
        }
    }
}

impl Started {
    fn of(event: &Event) -> Self {
        match event.decode_payload() {
            Ok(Payload::RunStarted(started)) => {
                let RunStarted { name, kind, .. } = *started;
                Started::Run { name, kind }
            }
            Ok(Payload::StepStarted(started)) => {
                let StepStarted { name, kind, attempt, .. } = *started;
                Started::Step { name, kind, attempt }
            }
            Ok(Payload::Deliverable(check)) => Started::Check { required: check.required },
            _ => Started::Other,
        }
    }

    fn attempt(&self) -> u32 {
        match self {
            Started::Step { attempt, .. } => attempt.unwrap_or(1),
            Started::Run { .. } | Started::Check { .. } | Started::Other => 1,
        }
    }
}

fn attempt_of(completed: &Event) -> u32 {
    match completed.decode_payload() {
        Ok(Payload::StepCompleted(completed)) => completed.attempt.unwrap_or(1),
        _ => 1,
    }
}
