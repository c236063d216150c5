//! Actions of the workflow itself, and references to the documents of others.

use std::collections::BTreeMap;

use quipu_event::payload::StepCompleted;
use quipu_event::{Event, Json, StepPath};

use super::agent_step::{AgentStep, blank, observation};
use super::content;
use super::trajectory::Trajectory;
use super::wire::{self, Reference, ResultExtra, Source};
use crate::files::Shelf;

impl Trajectory {
    /// Refers to another document.
    pub(super) fn refer(
        &mut self,
        event: &Event,
        text: String,
        reference: Reference,
        shelf: &mut dyn Shelf,
    ) {
        let mut step = blank(event, Source::System, text);
        step.observation = observation(wire::Result {
            subagent_trajectory_ref: vec![reference],
            ..wire::Result::default()
        });
        self.put_after(&event.path, step, shelf);
    }

    /// Refers to another document in what comes of a call; answers whether that call is at hand.
    pub(super) fn refer_from(
        &mut self,
        path: &StepPath,
        call_id: &str,
        reference: Reference,
    ) -> bool {
        let step = self.speaking.get_mut(path).filter(|step| step.has_call(call_id));
        step.map(|step| step.refer(call_id, reference)).is_some()
    }

    /// Begins an action of the workflow itself, which no model decided on.
    pub(super) fn act(
        &mut self,
        event: &Event,
        path: StepPath,
        function: &str,
        (key, value): (&str, String),
        shelf: &mut dyn Shelf,
    ) {
        let arguments = Json::encode(&BTreeMap::from([(key, value)])).unwrap_or_default();
        let call_id = format!("{path}#{}", event.seq);
        let step = AgentStep::dispatched(event, call_id, function, arguments);
        if let Some(never_ended) = self.acting.insert(path, step) {
            self.put_all(never_ended, shelf);
        }
    }

    /// Ends the action at `path`; answers whether there was one.
    pub(super) fn conclude(
        &mut self,
        event: &Event,
        path: &StepPath,
        step: &StepCompleted,
        shelf: &mut dyn Shelf,
    ) -> bool {
        self.flush(path, shelf);
        let Some(mut acting) = self.acting.remove(path) else { return false };
        let reference = event.child_run_id.as_ref().map(|child| Reference {
            trajectory_id: Some(child.to_string()),
            session_id: Some(child.to_string()),
            trajectory_path: Some(format!("{child}.atif.json")),
        });
        acting.answer(wire::Result {
            source_call_id: acting.first_call(),
            content: content::outcome_text(step).or_else(|| step.error.clone()),
            subagent_trajectory_ref: reference.into_iter().collect(),
            extra: Some(ResultExtra {
                seq: event.seq,
                status: step.status.as_ref().map(|status| status.as_str().to_owned()),
                error: step.error.clone(),
                duration_ms: step.duration_ms,
                call_id: None,
            }),
        });
        self.put_all(acting, shelf);
        true
    }
}
