//! Whose run it is: what it is called, and which adapter its entries name.

use quipu_event::payload::{Agent, RunKind};
use quipu_event::{Event, Kind, Payload};

use super::EntryOptions;

/// What runs without an agent of their own are labelled with.
const OURS: &str = "quipu";

/// What every entry of a run says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) prompt_name: String,
    pub(super) adapter: String,
}

impl Identity {
    /// Returns what is known once `event` has come behind `held`, if that is enough.
    ///
    /// A run that was accepted and has not started may still say which agent it is of.
    pub(super) fn of(held: &[Event], event: &Event, options: &EntryOptions) -> Option<Self> {
        let awaits_start = event.kind == Kind::RunCreated && options.adapter.is_none();
        (!awaits_start).then(|| Identity::settle(held, event, options))
    }

    /// Returns the best that can be said after `event`.
    pub(super) fn settle(held: &[Event], event: &Event, options: &EntryOptions) -> Self {
        let told = || held.iter().chain([event]).filter_map(told_by);
        let name = told().map(|told| told.name).find(|name| !name.is_empty());
        let adapter = told().find_map(|told| told.adapter);
        Identity {
            prompt_name: options
                .prompt_name
                .clone()
                .or(name)
                .unwrap_or_else(|| event.run_id.to_string()),
            adapter: options.adapter.clone().or(adapter).unwrap_or_else(|| OURS.to_owned()),
        }
    }
}

/// Returns the agent's name for its session, if `event` says it.
pub(super) fn session_id(event: &Event) -> Option<String> {
    if event.kind != Kind::RunStarted {
        return None;
    }
    match event.decode_payload() {
        Ok(Payload::RunStarted(run)) => run.session_id.filter(|id| !id.is_empty()),
        _ => None,
    }
}

struct Told {
    name: String,
    adapter: Option<String>,
}

fn told_by(event: &Event) -> Option<Told> {
    if !matches!(event.kind, Kind::RunCreated | Kind::RunStarted | Kind::RunCompleted) {
        return None;
    }
    match event.decode_payload().ok()? {
        Payload::RunCreated(run) => Some(Told { name: run.name, adapter: None }),
        Payload::RunCompleted(run) => Some(Told { name: run.name, adapter: None }),
        Payload::RunStarted(run) => {
            // The steps of a workflow have agents of many kinds; the run has none.
            let agent = run.agent.filter(|_| run.kind != RunKind::Workflow);
            let adapter = agent.as_ref().and_then(Agent::label).map(registered_name);
            Some(Told { name: run.name, adapter })
        }
        _ => None,
    }
}

/// Returns the name under which readers of such logs know a provider.
fn registered_name(provider: &str) -> String {
    match provider {
        "claude" => "claude_agent_sdk",
        "codex" => "codex_app_server",
        other => other,
    }
    .to_owned()
}
