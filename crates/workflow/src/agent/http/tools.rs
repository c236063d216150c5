//! The tools that a model asks for: all of one reply are called at once, and answered in their order.
//!
//! Nothing is recorded here; the router does that.

use quipu_event::Json;
use quipu_event::payload::ToolStatus;
use quipu_tool::{Answer, Call as RouterCall, Router, ToolSpec};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::super::desk::Desk;
use super::history::{self, Call};
use crate::process::StopReason;

/// Describes a tool as the API takes it.
pub(super) fn described(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.input_schema,
        },
    })
}

/// Calls tools, and returns what the model is told of each.
pub(super) async fn call_all(
    calls: Vec<Call>,
    router: &Router,
    desk: &Desk,
) -> Result<Vec<Value>, StopReason> {
    let context = desk.call_context();
    let mut told: Vec<Option<Value>> = calls.iter().map(|_| None).collect();
    // Dropping the set gives up what is under way.
    let mut under_way = JoinSet::new();
    for (index, Call { id, name, input }) in calls.into_iter().enumerate() {
        let (router, context) = (router.clone(), context.clone());
        under_way.spawn(async move {
            let input = value_of(&input);
            let call = RouterCall { name, input, call_id: Some(id.clone()), timeout: None };
            let answer = router.call(call, &context).await;
            (index, history::tool(&id, &Value::from(text_of(&answer))))
        });
    }
    while let Some(done) = under_way.join_next().await {
        // A router catches what breaks down, so the only calls that are lost were given up.
        if let Ok((index, answer)) = done {
            told[index] = Some(answer);
        }
    }
    match *desk.stop.borrow() {
        Some(reason) => Err(reason),
        None => Ok(told.into_iter().flatten().collect()),
    }
}

/// Returns the arguments of a call. None at all are an empty object to a tool.
fn value_of(input: &Json) -> Value {
    match input.decode::<Value>() {
        Ok(Value::Null) | Err(_) => json!({}),
        Ok(value) => value,
    }
}

/// Returns what a model is told of an answer: it should know a failure for one.
fn text_of(answer: &Answer) -> String {
    let text = answer.text();
    match &answer.error {
        Some(error) if answer.status != ToolStatus::Completed => match text.contains(error) {
            true => format!("Error: {text}"),
            false => format!("Error: {error}\n{text}"),
        },
        _ => text,
    }
}
