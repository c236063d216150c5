//! Calls of other workflows: each is a run of its own, linked both ways.

use std::sync::Arc;

use quipu_event::payload::Status;
use quipu_event::{RunId, RunIdentity};
use serde_json::Map;

use super::perform::{Performance, failed};
use super::request::{RunReport, RunRequest};
use super::run;
use crate::definition::Workflow;
use crate::display::Nested;
use crate::engine::{CallJob, Occurrence, Outcome, WorkStatus};
use crate::language::Value;
use crate::process::{StopReason, StopSignal};
use crate::toolbox::Toolbox;

/// How deep workflows may call each other.
const DEEPEST: usize = 10;

/// A call that is ready to be made: the workflow is there, and takes what it is given.
pub(super) struct PreparedCall {
    pub(super) child: RunId,
    workflow: Arc<Workflow>,
    inputs: Map<String, Value>,
    resume: bool,
    job: CallJob,
}

/// Who makes a call.
pub(super) struct Caller<'a> {
    pub(super) request: &'a RunRequest,
    pub(super) toolbox: &'a Arc<Toolbox>,
    pub(super) at: &'a Occurrence,
}

/// Checks that a call can be made. It is done before the call is recorded, because a line that
/// names a run promises that there is one.
pub(super) fn prepare(job: &CallJob, caller: &RunRequest) -> Result<PreparedCall, String> {
    let world = &caller.world;
    let workflow = world.workflows.load(&job.workflow, &caller.workflow.file)?;
    let mut around: Vec<&str> = caller.callers.iter().map(String::as_str).collect();
    around.push(&caller.workflow.name);
    if around.contains(&workflow.name.as_str()) {
        around.push(&workflow.name);
        return Err(format!("workflows call each other in a circle: {}", around.join(" → ")));
    }
    if around.len() > DEEPEST {
        let chain = around.join(" → ");
        return Err(format!("workflows call each other more than {DEEPEST} deep: {chain}"));
    }
    let inputs = world
        .workflows
        .check_inputs(&workflow, job.inputs.clone())
        .map_err(|problem| format!("workflow `{}`: {problem}", workflow.name))?;
    let exists =
        |id: &RunId| world.layout.as_ref().is_some_and(|layout| layout.transcript(id).exists());
    let resume = job.child.as_ref().is_some_and(exists);
    let child = job.child.clone().unwrap_or_else(|| (world.ids)());
    Ok(PreparedCall { child, workflow, inputs, resume, job: job.clone() })
}

/// Makes a call.
pub(super) fn performance(call: PreparedCall, by: Caller<'_>, stop: StopSignal) -> Performance {
    let Caller { request: caller, toolbox, at } = by;
    let mut callers = caller.callers.clone();
    callers.push(caller.workflow.name.clone());
    let request = RunRequest {
        workflow: Arc::clone(&call.workflow),
        inputs: call.inputs,
        run: RunIdentity {
            run_id: call.child.clone(),
            parent_run_id: Some(caller.run.run_id.clone()),
        },
        resume: call.resume,
        callers,
        stop: stop.clone(),
        display: Arc::new(Nested::new(Arc::clone(&caller.display), at.path.clone())),
        around: Some(Arc::clone(toolbox)),
        world: Arc::clone(&caller.world),
    };
    let (job, child) = (call.job, call.child);
    Box::pin(async move {
        match run(request).await {
            Ok(report) => outcome(&job, report, *stop.borrow()),
            Err(error) => {
                let error = format!("workflow `{}`: {error}", job.workflow);
                Outcome { child: Some(child), ..failed(error) }
            }
        }
    })
}

fn outcome(job: &CallJob, report: RunReport, stop: Option<StopReason>) -> Outcome {
    let status = match (&report.status, stop) {
        (Status::Succeeded, _) => WorkStatus::Succeeded,
        (Status::Canceled, Some(StopReason::TimedOut)) => WorkStatus::TimedOut,
        (Status::Canceled, Some(_)) => WorkStatus::Canceled,
        _ => WorkStatus::Failed,
    };
    let error = match status {
        WorkStatus::Succeeded | WorkStatus::TimedOut => None,
        _ => {
            let why = report.error.as_deref().unwrap_or("it did not succeed");
            Some(format!("workflow `{}`: {why}", job.workflow))
        }
    };
    let (taken, missing) = taken(job, &report);
    let output = match report.message {
        Some(message) => message,
        None if report.outputs.is_empty() => String::new(),
        None => Value::Object(report.outputs.clone()).to_string(),
    };
    let mut outcome = Outcome {
        status,
        error,
        output,
        named: taken.clone().into_iter().collect(),
        value: (!taken.is_empty()).then_some(Value::Object(taken)),
        usage: (!report.usage.is_empty()).then_some(report.usage),
        child: Some(report.run_id),
        exit_status: report.exit_status,
        ..Outcome::default()
    };
    if let (WorkStatus::Succeeded, Some(missing)) = (status, missing) {
        outcome.status = WorkStatus::Failed;
        outcome.error = Some(missing);
    }
    outcome
}

/// Takes what the call asks for from what the run gives: a declared output, or what a step of that
/// name came to; all declared outputs when the call asks for nothing. Also says what is not there.
fn taken(job: &CallJob, report: &RunReport) -> (Map<String, Value>, Option<String>) {
    if job.outputs.is_empty() {
        return (report.outputs.clone(), None);
    }
    let mut taken = Map::new();
    let mut missing = None;
    for (from, name) in &job.outputs {
        let step = || report.step_outputs.get(from).map(|text| Value::from(text.as_str()));
        match report.outputs.get(from).cloned().or_else(step) {
            Some(value) => {
                taken.insert(name.clone(), value);
            }
            None => {
                let known = report.outputs.keys().chain(report.step_outputs.keys());
                let known = known.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                missing = Some(format!(
                    "workflow `{}` gives no output `{from}`; it gives {known}",
                    job.workflow
                ));
            }
        }
    }
    (taken, missing)
}
