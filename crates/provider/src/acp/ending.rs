//! How a run ended, as far as either side tells.

use std::collections::HashSet;

use quipu_event::Json;
use quipu_event::payload::{RunCompleted, Status};
use serde_json::{Map, Value};

/// What speaks for one end or another.
#[derive(Default)]
pub(super) struct Ending {
    /// Why the last turn stopped.
    stop_reason: Option<String>,
    /// What went wrong in the last turn.
    error: Option<String>,
    /// Whether a turn is under way.
    is_open: bool,
    /// Prompts that wait for their answer, by the number of the request.
    prompts: HashSet<String>,
    /// Whether answers are part of the log, so that an end would be told.
    has_answers: bool,
    /// What the session has cost so far, by the agent's own account.
    cost_usd: Option<f64>,
    /// The first and the last moment of a log that counts milliseconds.
    moments: Option<(u64, u64)>,
}

impl Ending {
    /// A turn is under way.
    pub(super) fn go_on(&mut self) {
        self.is_open = true;
        self.error = None;
    }

    /// The client has asked for a turn.
    pub(super) fn prompt(&mut self, id: Option<&str>) {
        self.go_on();
        self.prompts.extend(id.map(str::to_owned));
    }

    /// Something was answered.
    pub(super) fn answered(&mut self) {
        self.has_answers = true;
    }

    /// A prompt was answered, well or not; an answer to none that is known answers all.
    pub(super) fn prompt_answered(&mut self, id: Option<&str>) {
        if !id.is_some_and(|id| self.prompts.remove(id)) {
            self.prompts.clear();
        }
    }

    /// A turn has stopped.
    pub(super) fn stop(&mut self, reason: Option<String>) {
        self.is_open = false;
        self.stop_reason = reason;
    }

    /// A turn has failed.
    pub(super) fn fail(&mut self, message: String) {
        self.is_open = false;
        self.error = Some(message);
    }

    /// Notes what the session has cost so far.
    pub(super) fn cost(&mut self, usd: f64) {
        self.cost_usd = Some(usd);
    }

    /// Notes a moment of the log.
    pub(super) fn moment(&mut self, millis: Option<u64>) {
        let Some(millis) = millis else { return };
        let (first, _) = self.moments.unwrap_or((millis, millis));
        self.moments = Some((first, millis));
    }

    /// Tells how it ended.
    pub(super) fn complete(&self, is_dangling: bool) -> RunCompleted {
        let reason = self.stop_reason.as_deref();
        // Who sees only what the agent tells of itself cannot miss an answer.
        let is_cut = self.is_open && (self.has_answers || is_dangling);
        let status = match reason {
            _ if self.error.is_some() => Status::Failed,
            _ if is_cut || !self.prompts.is_empty() => Status::Aborted,
            Some("cancelled") => Status::Canceled,
            Some("refusal" | "max_tokens" | "max_turn_requests") => Status::Failed,
            _ => Status::Succeeded,
        };
        // Why an earlier turn stopped says nothing of the one that was cut off.
        let reason = reason.filter(|_| status != Status::Aborted);
        let failing_reason = reason.filter(|_| status == Status::Failed).map(str::to_owned);
        let mut facts = Map::new();
        facts.extend(reason.map(|reason| ("stop_reason".to_owned(), Value::from(reason))));
        facts.extend(self.cost_usd.map(|cost| ("cost_usd".to_owned(), Value::from(cost))));
        RunCompleted {
            status: Some(status),
            error: self.error.clone().or(failing_reason),
            result: (!facts.is_empty()).then(|| Json::encode(&facts).unwrap_or_default()),
            duration_ms: self.moments.map(|(first, last)| last.saturating_sub(first)),
            ..RunCompleted::default()
        }
    }
}
