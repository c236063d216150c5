//! An event: one line of a transcript, numbered and dated.

use crate::id::{RunId, StepPath};
use crate::json::Json;
use crate::kind::Kind;
use crate::payload::{Payload, PayloadError};
use crate::raw::{Origin, Raw};
use crate::time::Timestamp;

/// One line of a transcript.
///
/// Only a recorder makes new ones, from a [`Draft`](crate::Draft); everyone else reads them.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its number in the run, from 1, without gaps.
    pub seq: u64,
    /// The run it belongs to.
    pub run_id: RunId,
    /// The run that called this one; on every line of a child run.
    pub parent_run_id: Option<RunId>,
    /// The run that this line calls; on `step.call_workflow.*`.
    pub child_run_id: Option<RunId>,
    /// What happened.
    pub kind: Kind,
    /// Where in the workflow.
    pub path: StepPath,
    /// The index of the innermost enclosing loop, 0 outside loops.
    pub iteration: u64,
    /// When it happened.
    pub timestamp: Timestamp,
    /// What is known of it, as it stands in the line. See [`Event::decode_payload`].
    pub payload: Json,
    /// Who did it, when not the main agent: `subagent:<id>`.
    pub source: Option<Box<str>>,
    /// Which foreign bytes it was made from.
    pub origin: Option<Box<Origin>>,
    /// Those bytes.
    pub raw: Option<Raw>,
    /// Envelope keys this version does not know, in the order in which they stood.
    pub extra: Vec<(String, Json)>,
}

impl Event {
    /// Decodes the payload by the event's type.
    ///
    /// Fails when the payload is not of that type's shape; the event is still whole, and
    /// `payload` has what was there.
    pub fn decode_payload(&self) -> Result<Payload, PayloadError> {
        Payload::decode(&self.kind, &self.payload)
    }
}
