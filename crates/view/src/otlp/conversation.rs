//! Which agent talks where, and under which session: the spans of a conversation all say it.

use std::collections::BTreeMap;

use quipu_event::payload::Agent;
use quipu_event::{Event, Payload, StepPath};

use crate::reading::{read, step_path};
use crate::spans::Span;

/// A conversation with an agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    pub(super) session_id: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
}

/// The conversations of a run: one for the run, and one for each step under way that has its own.
#[derive(Debug, Default)]
pub(super) struct Conversations {
    run: Conversation,
    steps: BTreeMap<StepPath, Conversation>,
}

impl Conversations {
    /// Takes what an event says of a conversation.
    pub(super) fn begin(&mut self, event: &Event) {
        match read(event).payload {
            Payload::RunStarted(run) => {
                self.run.session_id = run.session_id;
                self.run.take(run.agent);
            }
            Payload::StepStarted(step) if step.agent.is_some() => {
                let path = step_path(event, &step.name);
                self.steps.entry(path).or_default().take(step.agent);
            }
            Payload::System(system) if system.subtype == "session_started" => {
                let fact = |key: &str| system.facts.get(key)?.as_str().map(str::to_owned);
                let root = event.path.is_root();
                let steps = &mut self.steps;
                let of =
                    if root { &mut self.run } else { steps.entry(event.path.clone()).or_default() };
                of.session_id = fact("session_id").or(of.session_id.take());
                let agent =
                    Agent { provider: fact("provider"), model: fact("model"), ..Agent::default() };
                of.take(Some(agent));
            }
            _ => {}
        }
    }

    /// Forgets the conversation of a step that is over.
    pub(super) fn end(&mut self, event: &Event) {
        if let Payload::StepCompleted(step) = read(event).payload {
            self.steps.remove(&step_path(event, &step.name));
        }
    }

    /// Returns the conversation that a span belongs to.
    pub(super) fn of(&self, span: &Span) -> &Conversation {
        self.steps.get(&span.path).unwrap_or(&self.run)
    }
}

impl Conversation {
    fn take(&mut self, agent: Option<Agent>) {
        let Some(agent) = agent else { return };
        self.provider = agent.provider.or(agent.adapter).or(self.provider.take());
        self.model = agent.model.or(self.model.take());
    }
}
