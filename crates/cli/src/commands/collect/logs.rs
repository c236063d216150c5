//! The log of what is being collected, if one was asked for: a run at a time, while it is recorded.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use quipu_emit::FollowingRun;
use quipu_event::RunId;
use quipu_journal::Layout;

use crate::Context;
use crate::logging::TranscriptLog;

/// The runs whose events are being logged.
pub(super) struct Logs<'a> {
    log: &'a TranscriptLog,
    layout: Layout,
    runs: Mutex<HashMap<RunId, FollowingRun>>,
}

impl<'a> Logs<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Logs { log: &context.log, layout: context.settings.layout(), runs: Mutex::default() }
    }

    /// Begins to log what is recorded of `run`.
    pub(super) fn begin(&self, run: &RunId) {
        if let Some(following) = self.log.follow(&self.layout, run) {
            let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            runs.insert(run.clone(), following);
        }
    }

    /// Logs what is left of `run`.
    pub(super) fn end(&self, run: &RunId) {
        let following = self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
        drop(following);
    }
}
