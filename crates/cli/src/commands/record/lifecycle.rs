//! The lines that `quipu record` writes itself: the run's start, and the ends that are missing.
//!
//! Only drafts are made here; whether and when they are recorded is decided next door.

use std::collections::BTreeMap;

use quipu_event::payload::{RunCompleted, RunKind, RunStarted, Status, StepCompleted};
use quipu_event::{Draft, EncodeError, Kind, Timestamp};
use quipu_journal::{OpenSpan, Started};
use quipu_view::Summary;
use serde_json::json;

/// What a run is called.
#[derive(Clone, Debug)]
pub(super) struct Title {
    pub(super) name: String,
    pub(super) kind: RunKind,
}

/// How something ended that did not say so itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ending {
    pub(super) status: Status,
    pub(super) error: Option<String>,
}

/// Drafts the run's start.
pub(super) fn run_started(
    title: &Title,
    labels: BTreeMap<String, String>,
) -> Result<Draft, EncodeError> {
    // A directory that was deleted under our feet is not worth failing for.
    let cwd = std::env::current_dir().ok().map(|dir| dir.display().to_string());
    let labels = (!labels.is_empty()).then_some(labels);
    let started = RunStarted { cwd, labels, ..RunStarted::new(&title.name, title.kind.clone()) };
    Draft::new(Kind::RunStarted, &started)
}

/// Drafts the run's end. `summary` has everything recorded before it.
pub(super) fn run_completed(
    title: &Title,
    ending: Ending,
    duration_ms: u64,
    summary: &Summary,
    masked: u64,
) -> Result<Draft, EncodeError> {
    let counts = summary.counts();
    let completed = RunCompleted {
        name: title.name.clone(),
        kind: title.kind.clone(),
        status: Some(ending.status),
        error: ending.error,
        result: None,
        duration_ms: Some(duration_ms),
        usage: summary.usage(),
        counts: Some(quipu_event::payload::Counts { masked: counts.masked + masked, ..counts }),
    };
    Draft::new(Kind::RunCompleted, &completed)
}

/// Drafts the end of something that its producer left open.
pub(super) fn completion_of(
    span: &OpenSpan,
    ending: &Ending,
    now: Timestamp,
) -> Result<Draft, EncodeError> {
    let kind = span.kind.completion().unwrap_or(Kind::StepCompleted);
    let Ending { status, error } = ending;
    let duration_ms = now.millis_since(span.started);
    let draft = match &span.what {
        Started::Step { name, kind: step_kind, attempt } => {
            let completed = StepCompleted {
                name: name.clone(),
                kind: step_kind.clone(),
                attempt: *attempt,
                status: Some(status.clone()),
                error: error.clone(),
                duration_ms: Some(duration_ms),
                ..StepCompleted::default()
            };
            Draft::new(kind, &completed)?
        }
        Started::Check { required } => Draft::new(
            kind,
            &json!({ "required": required, "missing": [], "problems": [error],
                "status": status, "duration_ms": duration_ms }),
        )?,
        Started::Run { .. } | Started::Other => Draft::new(
            kind,
            &json!({ "status": status, "error": error, "duration_ms": duration_ms }),
        )?,
    };
    let draft = Draft { source: span.source.clone(), ..draft };
    let draft = draft.at(span.path.clone(), span.iteration);
    Ok(match &span.child_run_id {
        Some(child) => draft.calling(child.clone()),
        None => draft,
    })
}
