//! What surrounds the calls of a step: its place, and the scribe of its run as the witness.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use quipu_event::payload::{ToolCall, ToolResult};
use quipu_event::{Draft, Json, Kind};
use quipu_tool::{CallContext, Witness};
use serde_json::Value;

use crate::driver::mask_named;
use crate::engine::Occurrence;
use crate::process::StopSignal;
use crate::scribe::Scribe;

/// Returns the surroundings of the calls that somebody makes at a step.
pub(crate) fn surroundings(
    at: &Occurrence,
    scribe: Arc<dyn Scribe>,
    stop: StopSignal,
    root: PathBuf,
    marks: Arc<BTreeMap<String, String>>,
) -> CallContext {
    CallContext {
        witness: Arc::new(Told(scribe)),
        path: at.path.clone(),
        iteration: at.iteration,
        root,
        stop,
        timeout: CallContext::TIMEOUT,
        call_id: String::new(),
        marks,
    }
}

/// Returns the surroundings of the call that a step is: what the step is given by the name of a secret is
/// told neither as the step's nor as the call's.
pub(super) fn discreet(context: CallContext) -> CallContext {
    CallContext { witness: Arc::new(Discreet(context.witness)), ..context }
}

/// Tells a run's scribe, which masks, records and shows.
struct Told(Arc<dyn Scribe>);

impl Witness for Told {
    fn record(&self, draft: Draft) {
        self.0.record(draft);
    }
}

/// Hides inputs whose names stand for secrets.
struct Discreet(Arc<dyn Witness>);

impl Witness for Discreet {
    fn record(&self, mut draft: Draft) {
        let payload = match draft.kind {
            Kind::ToolCall => draft.payload.decode().ok().and_then(|mut call: ToolCall| {
                call.input = without_secrets(&call.input)?;
                Json::encode(&call).ok()
            }),
            Kind::ToolResult => draft.payload.decode().ok().and_then(|mut result: ToolResult| {
                result.input = without_secrets(&result.input)?;
                result.into_payload().ok()
            }),
            _ => None,
        };
        if let Some(payload) = payload {
            draft.payload = payload;
        }
        self.0.record(draft);
    }
}

fn without_secrets(input: &Json) -> Option<Json> {
    match input.decode().ok()? {
        Value::Object(named) => Json::encode(&mask_named(&named)).ok(),
        _ => None,
    }
}
