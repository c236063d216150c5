//! A step that calls another workflow, which is a run of its own.

use quipu_event::RunId;

use super::super::scope::StepScope;
use super::super::work::{CallJob, Work};
use super::{text, value};
use crate::definition::{CallWorkflowStep, ValueTemplate};
use crate::language::Value;

pub(super) fn prepare(
    call: &CallWorkflowStep,
    scope: &StepScope<'_>,
    child: Option<RunId>,
) -> Result<Work, String> {
    Ok(Work::Call(CallJob {
        workflow: text(&call.workflow, scope)?,
        inputs: inputs(call, scope)?,
        outputs: call.outputs.clone(),
        child,
    }))
}

/// Fills in what the other workflow is given. A template gives a text, as on a command line: what it
/// is read as is for the other workflow to declare.
fn inputs(
    call: &CallWorkflowStep,
    scope: &StepScope<'_>,
) -> Result<serde_json::Map<String, Value>, String> {
    let filled = call.inputs.iter().map(|(name, given)| {
        let filled = match given {
            ValueTemplate::Text(template) => text(template, scope).map(Value::String),
            other => value(other, scope),
        };
        Ok((name.clone(), filled.map_err(|problem| format!("`{name}`: {problem}"))?))
    });
    filled.collect()
}
