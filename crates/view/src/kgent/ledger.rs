//! The event log: numbers what is told, names it, and writes its line.
//!
//! What becomes an event, and in which words, is decided elsewhere.

use quipu_event::{Event, Timestamp};
use serde_json::{Map, Value};

use super::brief::{SUMMARY, clip};
use super::identity::{Identity, event_id};
use super::wire::{self, ErrorLine, EventLine, Failure};
use crate::Shelf;

/// The longest correlation id that is passed on.
const LONGEST_ID: usize = 256;

/// How much an event matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Severity {
    #[default]
    Info,
    Warning,
    Error,
}

/// The line of the transcript that something is told of.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) seq: u64,
    pub(super) timestamp: Timestamp,
    pub(super) step: Option<String>,
    pub(super) iteration: u64,
    pub(super) source: Option<String>,
    /// Which event it is, if its number is not its own: others of the transcript have it too.
    pub(super) echo: Option<u64>,
}

/// Something to be told.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) kind: &'static str,
    pub(super) actor: String,
    pub(super) severity: Severity,
    pub(super) summary: String,
    pub(super) data: Map<String, Value>,
    pub(super) correlation: Option<String>,
    pub(super) parent: Option<String>,
    /// Keeps several of one type and line apart.
    pub(super) salt: String,
    /// What went wrong, if that belongs among the errors.
    pub(super) failure: Option<Failure>,
}

/// The event log of one run, and the log of its errors.
pub(super) struct Ledger {
    pub(super) identity: Identity,
    pub(super) folder: String,
    pub(super) sequence: u64,
    pub(super) errors: u64,
    /// The event that everything without a closer cause comes from.
    pub(super) root: Option<String>,
}

impl Ledger {
    pub(super) fn new(identity: Identity) -> Self {
        let folder = format!("runs/{}", identity.run_id);
        Ledger { identity, folder, sequence: 0, errors: 0, root: None }
    }

    /// Writes the line of `told` and returns its name.
    pub(super) fn tell(&mut self, at: &At, told: &Told, shelf: &mut dyn Shelf) -> String {
        self.sequence += 1;
        let salt = at.echo.map(|nth| format!("{}\n{nth}", told.salt));
        let salt = salt.as_deref().unwrap_or(&told.salt);
        let id = event_id(&self.identity.run_id, at.seq, told.kind, salt);
        let mut data = told.data.clone();
        data.insert("transcript_seq".to_owned(), at.seq.into());
        if let Some(step) = &at.step {
            data.insert("step".to_owned(), step.as_str().into());
            data.insert("iteration".to_owned(), at.iteration.into());
        }
        if let Some(source) = &at.source {
            data.insert("source".to_owned(), source.as_str().into());
        }
        let parent = told.parent.as_deref().or(self.root.as_deref());
        let line = wire::line(&EventLine {
            event_id: &id,
            sequence: self.sequence,
            run_id: &self.identity.run_id,
            session_id: &self.identity.session_id,
            task_id: &self.identity.task_id,
            kind: told.kind,
            timestamp: at.timestamp,
            actor: &told.actor,
            severity: told.severity.as_str(),
            correlation_id: told.correlation.as_deref(),
            parent_event_id: parent,
            summary: &clip(&told.summary, SUMMARY),
            data: &data,
        });
        shelf.append(&format!("{}/events.jsonl", self.folder), &line);
        self.write_failure(&id, at, told, shelf);
        id
    }

    fn write_failure(&mut self, id: &str, at: &At, told: &Told, shelf: &mut dyn Shelf) {
        let Some(failure) = &told.failure else { return };
        self.errors += 1;
        let line = wire::line(&ErrorLine {
            event_id: id,
            sequence: self.sequence,
            run_id: &self.identity.run_id,
            session_id: &self.identity.session_id,
            task_id: &self.identity.task_id,
            timestamp: at.timestamp,
            kind: told.kind,
            severity: told.severity.as_str(),
            correlation_id: told.correlation.as_deref(),
            failure,
        });
        shelf.append(&format!("{}/logs/errors.jsonl", self.folder), &line);
    }
}

impl At {
    /// Returns where an event stands.
    pub(super) fn of(event: &Event, echo: Option<u64>) -> At {
        let step = (!event.path.is_root()).then(|| clip(event.path.as_str(), SUMMARY));
        At {
            seq: event.seq,
            timestamp: event.timestamp,
            step,
            iteration: event.iteration,
            source: event.source.as_deref().map(|source| clip(source, SUMMARY)),
            echo,
        }
    }

    /// Tells whether both were said in the same step, by the same agent.
    pub(super) fn is_beside(&self, other: &At) -> bool {
        self.step == other.step && self.source == other.source
    }
}

impl Severity {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl Told {
    pub(super) fn new(kind: &'static str, actor: &str, summary: String) -> Told {
        Told { kind, actor: actor.to_owned(), summary, ..Told::default() }
    }

    /// Adds a fact; nothing when there is none.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Told {
        match value.into() {
            Value::Null => {}
            value => drop(self.data.insert(key.to_owned(), value)),
        }
        self
    }

    /// Says which call or look-up it belongs to.
    pub(super) fn correlated(mut self, id: &str) -> Told {
        self.correlation = (!id.is_empty()).then(|| clip(id, LONGEST_ID));
        self
    }

    /// Says what it comes from.
    pub(super) fn within(mut self, parent: Option<&str>) -> Told {
        self.parent = parent.map(str::to_owned);
        self
    }

    pub(super) fn graded(mut self, severity: Severity) -> Told {
        self.severity = severity;
        self
    }

    pub(super) fn failing(mut self, failure: Failure) -> Told {
        self.failure = Some(failure);
        self
    }
}
