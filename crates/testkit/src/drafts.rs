//! Drafts that many tests need.

use quipu_event::payload::{
    Message, RunCompleted, RunKind, RunStarted, Status, StepCompleted, StepStarted,
};
use quipu_event::{ContentBlock, Draft, Fidelity, Kind, StepPath};
use serde::Serialize;

/// Returns the start of a workflow run called `name`.
pub fn run_started(name: &str) -> Draft {
    draft(Kind::RunStarted, &RunStarted::new(name, RunKind::Workflow))
}

/// Returns the end of a workflow run called `name`.
pub fn run_completed(name: &str, status: Status) -> Draft {
    let payload = RunCompleted {
        name: name.to_owned(),
        status: Some(status),
        duration_ms: Some(1),
        ..RunCompleted::default()
    };
    draft(Kind::RunCompleted, &payload)
}

/// Returns the start of a command step at `path`.
pub fn step_started(path: &str) -> Draft {
    let payload = StepStarted {
        name: name_of(path),
        kind: "command".to_owned(),
        attempt: Some(1),
        ..StepStarted::default()
    };
    draft(Kind::StepStarted, &payload).at(StepPath::from(path), 0)
}

/// Returns the end of a command step at `path`.
pub fn step_completed(path: &str, status: Status) -> Draft {
    let payload = StepCompleted {
        name: name_of(path),
        kind: "command".to_owned(),
        attempt: Some(1),
        status: Some(status),
        duration_ms: Some(1),
        ..StepCompleted::default()
    };
    draft(Kind::StepCompleted, &payload).at(StepPath::from(path), 0)
}

/// Returns a reply that says `text`.
pub fn assistant_text(text: &str) -> Draft {
    let blocks = vec![ContentBlock::text(Fidelity::AgentEmitted, text)];
    draft(Kind::MessageAssistant, &Message::assistant(blocks))
}

/// Returns a request that says `text`.
pub fn user_text(text: &str) -> Draft {
    let blocks = vec![ContentBlock::text(Fidelity::Router, text)];
    draft(Kind::MessageUser, &Message::user(blocks))
}

fn name_of(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).to_owned()
}

fn draft<T: Serialize>(kind: Kind, payload: &T) -> Draft {
    Draft::new(kind, payload).expect("flat payloads encode")
}
