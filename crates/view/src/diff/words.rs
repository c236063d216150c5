//! What an event says: the text that is shown of it, and all facts that are compared.
//!
//! What is left out here is no difference: ids, times, tokens, names and paths of runs. An event is
//! put into words when it is outlined and once more when it is shown, so both are done here alone.

use quipu_event::payload::{
    ErrorReport, RunCompleted, RunStarted, Status, StepCompleted, StepStarted, ToolCall, ToolResult,
};
use quipu_event::{BlockContent, ContentBlock, Event, Json, Payload};
use serde_json::{Value, json};

use super::item::{Item, MODEL};
use super::print::{lasting, value_of};
use crate::reading::read;

/// Which side of a thing is spoken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What it says, or the input of a tool.
    Said,
    /// What came of it.
    Outcome,
}

/// What a thing says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// As people read it.
    pub text: String,
    /// What the text tells, with the types that a text does not show.
    pub(super) facts: Value,
    /// What the text does not tell.
    pub(super) beside: Value,
}

impl Words {
    /// Makes the words for a plain text.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        let text = text.into();
        Words { facts: Value::String(text.clone()), text, beside: Value::Null }
    }

    fn of_value(value: Value) -> Self {
        Words { text: text_of(&value), facts: value, beside: Value::Null }
    }

    fn with(self, beside: Value) -> Self {
        Words { beside, ..self }
    }
}

/// Returns what `event` says of `item`.
pub fn words_at(event: &Event, item: &Item, part: Part) -> Words {
    match read(event).payload {
        Payload::Message(message) => match item.block {
            Some(at) => message.blocks.get(at).map(of_block).unwrap_or_default(),
            None if &*item.name == MODEL => Words::plain(message.model.unwrap_or_default()),
            None => Words::plain(message.stop_reason.unwrap_or_default()),
        },
        Payload::ToolCall(call) => of_call(&call),
        Payload::ToolResult(result) if part == Part::Said => of_input(&result.input),
        Payload::ToolResult(result) => of_result(&result),
        Payload::StepStarted(step) => of_step_start(&step),
        Payload::StepCompleted(step) => of_step_end(&step),
        Payload::RunStarted(run) => of_run_start(&run),
        Payload::RunCompleted(run) => of_run_end(&run),
        Payload::Error(error) => of_error(&error),
        _ => of_facts(&event.payload),
    }
}

pub(super) fn of_run_start(run: &RunStarted) -> Words {
    let inputs = run.inputs.as_ref().map(value_of);
    // Where the definition lies differs from one checkout to the next; what it says does not.
    let definition = run.definition.as_ref().map(|file| json!({ "sha256": file.sha256 }));
    let words = inputs.map(Words::of_value).unwrap_or_default();
    words.with(json!({
        "kind": run.kind.as_str(),
        "version": run.version,
        "definition": definition,
        "agent": run.agent,
    }))
}

pub(super) fn of_run_end(run: &RunCompleted) -> Words {
    let said = [run.status.as_ref().map(Status::as_str), run.error.as_deref()];
    let text = said.into_iter().flatten().collect::<Vec<_>>().join(": ");
    with_result(text, run.result.as_ref(), &said).with(json!({ "kind": run.kind.as_str() }))
}

pub(super) fn of_step_start(step: &StepStarted) -> Words {
    let blocks: Vec<Words> = step.blocks.iter().flatten().map(of_block).collect();
    let provider = step.agent.as_ref().and_then(|agent| agent.provider.as_deref());
    let head = std::iter::once(step.kind.as_str()).chain(provider);
    let said: Vec<&str> = head.chain(blocks.iter().map(|block| block.text.as_str())).collect();
    let agent = step.agent.as_ref();
    let beside = json!({
        "model": agent.and_then(|agent| agent.model.as_deref()),
        "adapter": agent.and_then(|agent| agent.adapter.as_deref()),
        "cli_version": agent.and_then(|agent| agent.cli_version.as_deref()),
        "blocks": blocks.iter().map(|block| &block.beside).collect::<Vec<_>>(),
    });
    let told: Vec<&Value> = blocks.iter().map(|block| &block.facts).collect();
    let facts = json!({ "kind": step.kind, "provider": provider, "blocks": told });
    Words { text: said.join(" ").trim().to_owned(), facts, beside }
}

pub(super) fn of_step_end(step: &StepCompleted) -> Words {
    let status = step.status.as_ref().map(Status::as_str).unwrap_or_default();
    let error = step.error.as_deref().filter(|error| !error.is_empty());
    let text = error.map_or_else(|| status.to_owned(), |error| format!("{status}: {error}"));
    let next = step.next.as_ref().map(lasting);
    let words = with_result(text, step.result.as_ref(), &[Some(status), error]);
    words.with(json!({ "kind": step.kind, "next": next }))
}

/// Makes the words for how something ended, with what came of it.
fn with_result(mut text: String, result: Option<&Json>, said: &[Option<&str>; 2]) -> Words {
    let result = result.map(lasting).filter(|result| !result.is_null());
    if let Some(result) = &result {
        text = format!("{text} {}", text_of(result));
    }
    let facts = json!({ "status": said[0], "error": said[1], "result": result });
    Words { text, facts, beside: Value::Null }
}

pub(super) fn of_block(block: &ContentBlock) -> Words {
    let words = match &block.content {
        BlockContent::Text { text } => Words::plain(text),
        BlockContent::Thinking { thinking, .. } => Words::plain(thinking),
        BlockContent::ToolUse { tool_name, tool_input, .. } => {
            let input = value_of(tool_input);
            let text = format!("{tool_name} {}", text_of(&input));
            let facts = json!({ "tool_name": tool_name, "tool_input": input });
            Words { text, facts, beside: Value::Null }
        }
        BlockContent::ToolResult { tool_content, .. } => Words::of_value(value_of(tool_content)),
        BlockContent::Command { command, output, .. } => {
            let text = match output {
                Some(output) => format!("{command}\n{output}"),
                None => command.clone(),
            };
            let facts = json!({ "command": command, "output": output });
            Words { text, facts, beside: Value::Null }
        }
        BlockContent::Stream { chunk } => Words::plain(chunk),
        BlockContent::Other { content, .. } => {
            content.as_ref().map(value_of).map(Words::of_value).unwrap_or_default()
        }
    };
    let (is_error, exit_code) = match &block.content {
        BlockContent::ToolResult { is_error, .. } => (*is_error, None),
        BlockContent::Command { exit_code, .. } => (None, *exit_code),
        _ => (None, None),
    };
    words.with(json!({
        "type": block.content.block_type(),
        "purpose": block.purpose.as_ref().map(|purpose| purpose.as_str()),
        "is_error": is_error,
        "exit_code": exit_code,
    }))
}

pub(super) fn of_call(call: &ToolCall) -> Words {
    of_input(&call.input).with(json!({ "provider": call.provider }))
}

/// Makes the words for a tool's input, as a result repeats it.
pub(super) fn of_input(input: &Json) -> Words {
    Words::of_value(value_of(input)).with(json!({ "provider": null }))
}

pub(super) fn of_result(result: &ToolResult) -> Words {
    let status = result.status.as_ref().map(|status| status.as_str()).unwrap_or_default();
    let output = value_of(&result.output);
    match result.error.as_deref().filter(|error| !error.is_empty()) {
        Some(error) => Words::plain(format!("{status}: {error}")).with(json!({ "output": output })),
        None => {
            let text = format!("{status}: {}", text_of(&output));
            let facts = json!({ "status": status, "output": output });
            Words { text, facts, beside: json!({}) }
        }
    }
}

pub(super) fn of_error(error: &ErrorReport) -> Words {
    Words::plain(format!("{}: {}", error.code, error.message)).with(json!({
        "category": error.category,
        "retryable": error.retryable,
        "details": error.details.as_ref().map(lasting),
    }))
}

/// Makes the words for an open list of facts.
pub(super) fn of_facts(payload: &Json) -> Words {
    Words::of_value(lasting(payload))
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
