//! A draft: what a producer knows, before it is numbered and dated.

use serde::Serialize;

use crate::encode::EncodeError;
use crate::event::Event;
use crate::id::{RunId, StepPath};
use crate::json::Json;
use crate::kind::Kind;
use crate::payload::{System, UnknownRecord};
use crate::raw::{Origin, Raw};
use crate::time::Timestamp;

/// What happened, as a producer tells it.
///
/// It has no number: only a recorder gives one. Its payload is encoded when the draft is made, in
/// the producer's own thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// What happened.
    pub kind: Kind,
    /// Where in the workflow.
    pub path: StepPath,
    /// The index of the innermost enclosing loop, 0 outside loops.
    pub iteration: u64,
    /// When it happened, if the producer knows better than the recorder's clock.
    pub timestamp: Option<Timestamp>,
    /// The run it calls.
    pub child_run_id: Option<RunId>,
    /// What is known of it.
    pub payload: Json,
    /// Who did it, when not the main agent.
    pub source: Option<Box<str>>,
    /// Which foreign bytes it was made from.
    pub origin: Option<Box<Origin>>,
    /// Those bytes.
    pub raw: Option<Raw>,
}

/// Whose lines a recorder writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunIdentity {
    /// The run.
    pub run_id: RunId,
    /// The run that called it.
    pub parent_run_id: Option<RunId>,
}

impl Draft {
    /// Makes a draft with any serialisable payload.
    ///
    /// Fails when the payload nests too deep or has a key that is not text.
    pub fn new<T: Serialize + ?Sized>(kind: Kind, payload: &T) -> Result<Self, EncodeError> {
        Ok(Self::with_json(kind, Json::encode(payload)?))
    }

    /// Makes a draft whose payload is JSON already.
    pub fn with_json(kind: Kind, payload: Json) -> Self {
        Draft {
            kind,
            path: StepPath::root(),
            iteration: 0,
            timestamp: None,
            child_run_id: None,
            payload,
            source: None,
            origin: None,
            raw: None,
        }
    }

    /// Makes a `system` draft. Facts that are no object are kept under `facts`.
    pub fn system(subtype: &str, facts: serde_json::Value) -> Result<Self, EncodeError> {
        let facts = match facts {
            serde_json::Value::Object(facts) => facts,
            serde_json::Value::Null => serde_json::Map::new(),
            other => serde_json::Map::from_iter([("facts".to_owned(), other)]),
        };
        Draft::new(Kind::System, &System { subtype: subtype.to_owned(), facts })
    }

    /// Makes an `unknown` draft that keeps `record` to the byte.
    pub fn unknown(record: &[u8], native_type: Option<&str>, reason: &str) -> Self {
        let payload = UnknownRecord {
            native_type: native_type.map(str::to_owned),
            reason: reason.to_owned(),
        };
        // Two strings neither nest nor have keys of their own.
        let payload = Json::encode(&payload).unwrap_or_default();
        Draft::with_json(Kind::Unknown, payload).with_raw(record)
    }

    /// Says where in the workflow it happened.
    pub fn at(mut self, path: StepPath, iteration: u64) -> Self {
        self.path = path;
        self.iteration = iteration;
        self
    }

    /// Says when it happened.
    pub fn dated(mut self, timestamp: Timestamp) -> Self {
        self.timestamp = Some(timestamp);
        self
    }

    /// Names the run that it calls.
    pub fn calling(mut self, child: RunId) -> Self {
        self.child_run_id = Some(child);
        self
    }

    /// Says who did it, such as `subagent:7`.
    pub fn by(mut self, source: &str) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Keeps the foreign record it was made from.
    pub fn with_raw(mut self, record: &[u8]) -> Self {
        self.raw = Some(Raw::of(record));
        self
    }

    /// Says which foreign bytes it was made from.
    pub fn from_origin(mut self, origin: Origin) -> Self {
        self.origin = Some(Box::new(origin));
        self
    }

    /// Turns the draft into line `seq` of a run. `now` dates it unless it is dated already.
    ///
    /// This is the recorder's to call: it alone knows which number is next.
    pub fn seal(self, seq: u64, run: &RunIdentity, now: Timestamp) -> Event {
        let mut origin = self.origin;
        if let Some(origin) = &mut origin {
            origin.recorded_at.get_or_insert(now);
        }
        Event {
            seq,
            run_id: run.run_id.clone(),
            parent_run_id: run.parent_run_id.clone(),
            child_run_id: self.child_run_id,
            kind: self.kind,
            path: self.path,
            iteration: self.iteration,
            timestamp: self.timestamp.unwrap_or(now),
            payload: self.payload,
            source: self.source,
            origin,
            raw: self.raw,
            extra: Vec::new(),
        }
    }
}
