//! One file per step kind: how a step of that kind becomes work, or keeps other steps going.

pub(super) mod agent;
pub(super) mod call_workflow;
pub(super) mod command;
pub(super) mod custom;
pub(super) mod for_each;
pub(super) mod loops;
pub(super) mod operation;
pub(super) mod parallel;
pub(super) mod terminal;

use std::time::Duration;

use quipu_event::RunId;

use super::flow::Way;
use super::scope::StepScope;
use super::work::{Outcome, Work};
use crate::definition::{Step, StepKind, ValueTemplate};
use crate::language::{RenderError, Template, Value};

/// How long a called workflow may take when nobody says, as in AWF.
const CALL_TIMEOUT: Duration = Duration::from_secs(300);

/// Fills a step in. Steps that keep others going have no work of their own.
pub(super) fn prepare(
    step: &Step,
    scope: &StepScope<'_>,
    child: Option<RunId>,
) -> Result<Option<Work>, String> {
    let prepared = match &step.kind {
        StepKind::Command(command) => command::prepare(step, command, scope),
        StepKind::Agent(agent) => agent::prepare(step, agent, scope),
        StepKind::Operation(operation) => operation::prepare(operation, scope),
        StepKind::CallWorkflow(call) => call_workflow::prepare(call, scope, child),
        StepKind::Custom(custom) => custom::prepare(custom, scope),
        StepKind::Parallel(_)
        | StepKind::ForEach(_)
        | StepKind::While(_)
        | StepKind::Terminal(_) => {
            return Ok(None);
        }
    };
    prepared.map(Some).map_err(|problem| format!("step `{}`: {problem}", step.name))
}

/// Returns how long one attempt may take.
pub(super) fn timeout_of(step: &Step) -> Option<Duration> {
    match step.kind {
        StepKind::CallWorkflow(_) => Some(step.timeout.unwrap_or(CALL_TIMEOUT)),
        _ => step.timeout,
    }
}

/// Returns where a loop or terminal step of an earlier life wanted to go.
pub(super) fn way_out_of(step: &Step, outcome: &Outcome) -> Option<Way> {
    match &step.kind {
        StepKind::Terminal(terminal) => Some(terminal::way_of(step, terminal, outcome)),
        StepKind::ForEach(_) | StepKind::While(_) => loops::recorded_way_out(outcome),
        _ => None,
    }
}

/// Tells a template's problem with what to try.
pub(super) fn told(error: &RenderError) -> String {
    match &error.hint {
        Some(hint) => format!("{error} ({hint})"),
        None => error.to_string(),
    }
}

fn text(template: &Template, scope: &StepScope<'_>) -> Result<String, String> {
    template.render(scope).map_err(|error| told(&error))
}

/// Fills in every text of a value.
fn value(template: &ValueTemplate, scope: &StepScope<'_>) -> Result<Value, String> {
    Ok(match template {
        ValueTemplate::Text(template) => template.value(scope).map_err(|error| told(&error))?,
        ValueTemplate::Plain(plain) => plain.clone(),
        ValueTemplate::List(items) => {
            Value::Array(items.iter().map(|item| value(item, scope)).collect::<Result<_, _>>()?)
        }
        ValueTemplate::Map(fields) => Value::Object(map(fields, scope)?),
    })
}

fn map<'a>(
    fields: impl IntoIterator<Item = (&'a String, &'a ValueTemplate)>,
    scope: &StepScope<'_>,
) -> Result<serde_json::Map<String, Value>, String> {
    let filled = fields.into_iter().map(|(name, field)| {
        let filled = value(field, scope).map_err(|problem| format!("`{name}`: {problem}"))?;
        Ok((name.clone(), filled))
    });
    filled.collect()
}
