//! An operation as a tool: what a router calls, for a step or for an agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quipu_tool::{Answer, CallContext, Calling, Shown, Tool, ToolSpec};
use serde_json::Map;

use super::inputs::Inputs;
use super::{Failure, OPERATIONS, OperationSettings, Values, catalogue, github, http, notify};
use crate::engine::{Outcome, WorkStatus};
use crate::language::Value;

/// Returns the operation of that name as a tool.
///
/// # Errors
///
/// Says which operations there are, if there is none of that name.
pub(crate) fn as_tool(
    name: &str,
    settings: &Arc<OperationSettings>,
) -> Result<Arc<OperationTool>, String> {
    let known = OPERATIONS.iter().copied().find(|known| *known == name);
    let found = known.and_then(|known| Some((known, catalogue::spec(known)?)));
    let (name, spec) = found.ok_or_else(|| catalogue::unknown(name))?;
    let (settings, has_timed_out) = (Arc::clone(settings), AtomicBool::new(false));
    Ok(Arc::new(OperationTool { name, spec, settings, has_timed_out }))
}

/// An operation as a tool.
pub(crate) struct OperationTool {
    name: &'static str,
    spec: ToolSpec,
    settings: Arc<OperationSettings>,
    /// Whether a call took longer than it was to: an answer can only say that it failed.
    has_timed_out: AtomicBool,
}

impl Tool for OperationTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn ends_by_itself(&self) -> bool {
        self.name.starts_with("github.") && github::starts_a_program(&self.settings)
    }

    fn call<'a>(&'a self, input: Value, context: &'a CallContext) -> Calling<'a> {
        Box::pin(async move {
            let inputs = match input {
                Value::Object(inputs) => inputs,
                Value::Null => Map::new(),
                _ => return Answer::failed(format!("{}: the inputs are no object", self.name)),
            };
            match self.perform(Inputs::new(self.name, &inputs), context).await {
                Ok(values) => Answer::completed(values),
                Err(failure) => {
                    self.has_timed_out.store(failure.has_timed_out, Ordering::Relaxed);
                    refused(failure)
                }
            }
        })
    }
}

impl OperationTool {
    /// Returns what the step comes to whose one call was answered so.
    pub(crate) fn outcome(&self, answer: Answer) -> Outcome {
        let outcome = super::outcome(answer);
        match self.has_timed_out.load(Ordering::Relaxed) {
            true => Outcome { status: WorkStatus::TimedOut, ..outcome },
            false => outcome,
        }
    }

    async fn perform(&self, inputs: Inputs<'_>, context: &CallContext) -> Result<Values, Failure> {
        match self.name {
            "http.request" => http::request(inputs).await,
            "notify.send" => notify::send(inputs, &self.settings).await,
            _ => github::perform(inputs, &self.settings, &context.stop).await,
        }
    }
}

/// Makes the answer of an operation that failed: what is known all the same is kept.
fn refused(failure: Failure) -> Answer {
    let Failure { message, values, .. } = failure;
    let shown = match values.is_empty() {
        true => message.clone(),
        false => format!("{message}\n{}", Value::Object(values.clone())),
    };
    let failed = Answer::failed(message);
    Answer { output: Value::Object(values), shown: Some(Shown::text_only(shown)), ..failed }
}
