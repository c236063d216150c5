//! Steps that are a call: operations, built in or a plugin's, and the step types of plugins.

use std::sync::Arc;
use std::time::Duration;

use quipu_event::payload::ToolStatus;
use quipu_tool::{Answer, Call, CallContext, LONGEST_RECORDED, Router, Tool};
use serde_json::{Map, json};

use super::Toolbox;
use super::absent::Absent;
use super::surroundings::{discreet, surroundings};
use crate::driver::Site;
use crate::engine::{Outcome, WorkStatus};
use crate::language::Value;
use crate::operation;
use crate::process::{StopReason, stop_beyond};

/// Calls what `operation` names, `<plugin>.<tool>`, through a router of its own, and returns what the
/// step comes to. It is recorded as one call at the step.
pub async fn operate(operation: &str, inputs: Map<String, Value>, site: &Site) -> Outcome {
    let (scribe, marks) = (Arc::clone(&site.scribe), Arc::clone(&site.marks));
    let context = surroundings(&site.at, scribe, site.stop.clone(), site.dir.clone(), marks);
    let context = discreet(context);
    if let Ok(tool) = site.toolbox.operation(operation) {
        let answer = call(Arc::clone(&tool) as Arc<dyn Tool>, inputs, &context).await;
        return or_stopped(answer, site, |answer| tool.outcome(answer));
    }
    let tool = found(operation, &site.toolbox, &context).await;
    let answer = call(tool, inputs, &context).await;
    or_stopped(answer, site, |answer| outcome(operation, answer))
}

async fn call(tool: Arc<dyn Tool>, inputs: Map<String, Value>, context: &CallContext) -> Answer {
    let name = tool.spec().name.clone();
    let mut router = Router::default();
    if let Err(taken) = router.register(tool) {
        return Answer::failed(taken.to_string());
    }
    // How long a step may take is said by the step, and is seen to by whoever performs it.
    let timeout = Some(Duration::MAX);
    let call = Call { name, input: Value::Object(inputs), call_id: None, timeout };
    router.call_whole(call, context).await
}

/// Reads an answer, unless there is none because the step was stopped.
fn or_stopped(answer: Answer, site: &Site, read: impl FnOnce(Answer) -> Outcome) -> Outcome {
    match *site.stop.borrow() {
        Some(reason) if !answer.is_completed() => stopped(reason),
        _ => read(answer),
    }
}

/// Finds the tool; one that cannot be had is found too, and fails when it is called.
async fn found(operation: &str, toolbox: &Toolbox, context: &CallContext) -> Arc<dyn Tool> {
    let (plugin, tool) = operation.split_once('.').unwrap_or((operation, ""));
    let mut stop = context.stop.clone();
    let found = tokio::select! {
        biased;
        // A plugin may take long to come up, and a step that is to stop does not wait for it.
        _ = stop_beyond(&mut stop, None) => Err("canceled".to_owned()),
        found = toolbox.tool_at_once(plugin, tool, context) => found,
    };
    let reason = match found {
        Ok(tool) => return tool,
        Err(reason) => reason,
    };
    let provider = match operation::is_namespace(plugin) {
        true => "builtin".to_owned(),
        false => format!("mcp:{plugin}"),
    };
    Arc::new(Absent::new(operation.replace('.', "_"), provider, reason))
}

/// Reads what a plugin answered.
fn outcome(operation: &str, answer: Answer) -> Outcome {
    let mut text = answer.text();
    let truncated = text.len() > LONGEST_RECORDED;
    if truncated {
        text.truncate(text.floor_char_boundary(LONGEST_RECORDED));
    }
    let structured = answer.shown.and_then(|shown| shown.structured);
    let value =
        structured.or_else(|| object_in(&text)).unwrap_or_else(|| json!({ "result": text }));
    let error = match answer.status {
        ToolStatus::Completed => None,
        _ => Some(format!("{operation}: {}", answer.error.as_deref().unwrap_or(&text))),
    };
    let status = if error.is_some() { WorkStatus::Failed } else { WorkStatus::Succeeded };
    Outcome { status, error, output: text, value: Some(value), truncated, ..Outcome::default() }
}

fn object_in(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
}

fn stopped(reason: StopReason) -> Outcome {
    let (status, error) = match reason {
        // Whoever watches the time says how much there was.
        StopReason::TimedOut => (WorkStatus::TimedOut, None),
        StopReason::Canceled | StopReason::Now => (WorkStatus::Canceled, Some("canceled".into())),
    };
    Outcome { status, error, ..Outcome::default() }
}
