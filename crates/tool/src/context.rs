//! The surroundings of a call: where it belongs, where it may work, when it must end, who is told.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quipu_event::payload::FileAccess;
use quipu_event::{Draft, Kind, StepPath};
use quipu_journal::Recorder;
use quipu_process::StopSignal;
use serde_json::Value;

/// Somebody who is told what happens.
///
/// A witness never fails towards the work: what cannot be written is its own to report.
pub trait Witness: Send + Sync {
    /// Takes an event.
    fn record(&self, draft: Draft);
}

/// The surroundings of one call. Each step that may call tools has its own.
#[derive(Clone)]
pub struct CallContext {
    /// Who is told.
    pub witness: Arc<dyn Witness>,
    /// The step that the call belongs to.
    pub path: StepPath,
    /// The index of its innermost loop.
    pub iteration: u64,
    /// The directory that it works in and may not leave.
    pub root: PathBuf,
    /// When to stop.
    pub stop: StopSignal,
    /// How long a call may take, when neither the call nor the tool says.
    pub timeout: Duration,
    /// The id of the call. The router sets it.
    pub call_id: String,
    /// Variables by which programs of the call are known to be the step's.
    pub marks: Arc<BTreeMap<String, String>>,
}

impl CallContext {
    /// How long a call may take, unless somebody knows better.
    pub const TIMEOUT: Duration = Duration::from_secs(600);

    /// Records an event at the step.
    pub fn record(&self, draft: Draft) {
        self.witness.record(draft.at(self.path.clone(), self.iteration));
    }

    /// Records a fact about the call or what it needs.
    pub fn note(&self, subtype: &str, facts: Value) {
        match Draft::system(subtype, facts) {
            Ok(draft) => self.record(draft),
            Err(cause) => tracing::warn!(%cause, subtype, "a fact could not be written down"),
        }
    }

    /// Records what a call did to a file: `file.read`, `file.written` or `file.rejected`.
    pub fn touched(&self, kind: Kind, access: FileAccess) {
        let access = FileAccess { call_id: Some(self.call_id.clone()), ..access };
        match Draft::new(kind, &access) {
            Ok(draft) => self.record(draft),
            Err(cause) => tracing::warn!(%cause, "a file access could not be written down"),
        }
    }
}

impl Witness for Recorder {
    fn record(&self, draft: Draft) {
        if let Err(cause) = Recorder::record(self, draft) {
            tracing::warn!(%cause, "the transcript is not complete");
        }
    }
}
