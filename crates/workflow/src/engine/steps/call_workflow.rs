//! A step that calls another workflow, which is a run of its own.

use quipu_event::RunId;

use super::super::scope::StepScope;
use super::super::work::{CallJob, Work};
use super::{map, text};
use crate::definition::CallWorkflowStep;

pub(super) fn prepare(
    call: &CallWorkflowStep,
    scope: &StepScope<'_>,
    child: Option<RunId>,
) -> Result<Work, String> {
    Ok(Work::Call(CallJob {
        workflow: text(&call.workflow, scope)?,
        inputs: map(&call.inputs, scope)?,
        outputs: call.outputs.clone(),
        child,
    }))
}
