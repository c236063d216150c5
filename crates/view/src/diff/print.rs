//! Numbers that two things share only if they say the same, and the few words that are shown.

use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::payload::{
    RunCompleted, Status, StepCompleted, StepStarted, ToolCall, ToolResult,
};
use quipu_event::{BlockContent, Event, Json, Payload};
use serde_json::Value;

use crate::reading::read;

/// How many characters of a text are shown.
const SHOWN: usize = 100;

/// Returns a number that two parts share only if they are the same.
pub(super) fn print(parts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Returns the number of a JSON value: the order of keys does not matter.
pub(super) fn print_json(json: &Json) -> u64 {
    let mut hasher = DefaultHasher::new();
    match json.decode::<Value>() {
        Ok(value) => hash_value(&value, &mut hasher, &|_| true),
        Err(_) => json.as_str().hash(&mut hasher),
    }
    hasher.finish()
}

/// Returns the number of a JSON value without what differs between any two runs.
pub(super) fn print_outcome(json: &Json) -> u64 {
    let mut hasher = DefaultHasher::new();
    match json.decode::<Value>() {
        Ok(value) => hash_value(&value, &mut hasher, &is_lasting),
        Err(_) => json.as_str().hash(&mut hasher),
    }
    hasher.finish()
}

fn hash_value(value: &Value, hasher: &mut DefaultHasher, is_kept: &dyn Fn(&str) -> bool) {
    match value {
        Value::Object(fields) => {
            "{".hash(hasher);
            for (key, value) in fields.iter().filter(|(key, _)| is_kept(key)) {
                key.hash(hasher);
                hash_value(value, hasher, is_kept);
            }
            "}".hash(hasher);
        }
        Value::Array(items) => {
            items.len().hash(hasher);
            items.iter().for_each(|item| hash_value(item, hasher, is_kept));
        }
        Value::String(text) => text.hash(hasher),
        other => other.to_string().hash(hasher),
    }
}

/// Tells whether two runs that do the same have the same under this key.
fn is_lasting(key: &str) -> bool {
    const PASSING: [&str; 10] = [
        "timestamp",
        "call_id",
        "tool_id",
        "message_id",
        "session",
        "session_id",
        "run_id",
        "child_run_id",
        "uuid",
        "cost_usd",
    ];
    !key.ends_with("_ms") && !PASSING.contains(&key)
}

/// Returns the beginning of `text` in one line.
pub fn excerpt(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut out = String::new();
    for word in words.by_ref() {
        if !out.is_empty() {
            out.push(' ');
        }
        let left = SHOWN.saturating_sub(out.chars().count());
        out.extend(word.chars().take(left));
        if word.chars().count() > left {
            out.push('…');
            return out;
        }
    }
    out
}

/// Returns both texts from a little before the place where they begin to differ.
pub fn first_difference(a: &str, b: &str) -> (String, String) {
    const BEFORE: usize = 40;
    let same = a.char_indices().zip(b.chars()).take_while(|((_, x), y)| x == y);
    let from = same.last().map_or(0, |((at, character), _)| at + character.len_utf8());
    let start = a[..from].char_indices().rev().take(BEFORE).last().map_or(from, |(at, _)| at);
    let part = |text: &str| {
        let lead = if start > 0 { "…" } else { "" };
        format!("{lead}{}", excerpt(&text[start..]))
    };
    (part(a), part(b))
}

/// Returns the whole text of what `event` says: of one block of a message, else of all of it.
pub fn text_at(event: &Event, block: Option<usize>) -> String {
    match read(event).payload {
        Payload::Message(message) => {
            let block = message.blocks.get(block.unwrap_or(0));
            block.map(|block| text_of_block(&block.content)).unwrap_or_default()
        }
        Payload::ToolCall(call) => text_of_call(&call),
        Payload::ToolResult(result) => text_of_result(&result),
        Payload::StepStarted(step) => text_of_start(&step),
        Payload::StepCompleted(step) => text_of_end(&step),
        Payload::RunStarted(run) => run.inputs.as_ref().map(text_of_json).unwrap_or_default(),
        Payload::RunCompleted(run) => text_of_run_end(&run),
        _ => lasting_text(&event.payload),
    }
}

pub(super) fn text_of_block(block: &BlockContent) -> String {
    match block {
        BlockContent::Text { text } => text.clone(),
        BlockContent::Thinking { thinking, .. } => thinking.clone(),
        BlockContent::ToolUse { tool_name, tool_input, .. } => {
            format!("{tool_name} {}", tool_input.as_str())
        }
        BlockContent::ToolResult { tool_content, .. } => text_of_json(tool_content),
        BlockContent::Command { command, output, .. } => match output {
            Some(output) => format!("{command}\n{output}"),
            None => command.clone(),
        },
        BlockContent::Stream { chunk } => chunk.clone(),
        BlockContent::Other { content, .. } => {
            content.as_ref().map(text_of_json).unwrap_or_default()
        }
    }
}

pub(super) fn text_of_call(call: &ToolCall) -> String {
    format!("{} {}", call.name, call.input.as_str())
}

pub(super) fn text_of_result(result: &ToolResult) -> String {
    let status = result.status.as_ref().map(|status| status.as_str()).unwrap_or_default();
    match &result.error {
        Some(error) if !error.is_empty() => format!("{status}: {error}"),
        _ => format!("{status}: {}", text_of_json(&result.output)),
    }
}

pub(super) fn text_of_start(step: &StepStarted) -> String {
    let blocks = step.blocks.iter().flatten().map(|block| text_of_block(&block.content));
    // Which model is asked shows in the tokens; who asks it is what the step does.
    let provider = step.agent.as_ref().and_then(|agent| agent.provider.clone());
    let head = std::iter::once(step.kind.clone()).chain(provider);
    let said: Vec<String> = head.chain(blocks).collect();
    said.join(" ").trim().to_owned()
}

pub(super) fn text_of_end(step: &StepCompleted) -> String {
    let status = step.status.as_ref().map(|status| status.as_str()).unwrap_or_default();
    let mut text = status.to_owned();
    if let Some(error) = step.error.as_ref().filter(|error| !error.is_empty()) {
        text = format!("{text}: {error}");
    }
    if let Some(result) = step.result.as_ref().filter(|result| !result.is_null()) {
        text = format!("{text} {}", lasting_text(result));
    }
    text
}

pub(super) fn text_of_run_end(run: &RunCompleted) -> String {
    let said = [run.status.as_ref().map(Status::as_str), run.error.as_deref()];
    let mut text = said.into_iter().flatten().collect::<Vec<_>>().join(": ");
    if let Some(result) = run.result.as_ref().filter(|result| !result.is_null()) {
        text = format!("{text} {}", lasting_text(result));
    }
    text
}

/// Returns a value as text, without what differs between any two runs.
pub(super) fn lasting_text(json: &Json) -> String {
    match json.decode::<Value>() {
        Ok(Value::String(text)) => text,
        Ok(mut value) => {
            keep_lasting(&mut value);
            value.to_string()
        }
        Err(_) => json.as_str().to_owned(),
    }
}

fn keep_lasting(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| is_lasting(key));
            fields.values_mut().for_each(keep_lasting);
        }
        Value::Array(items) => items.iter_mut().for_each(keep_lasting),
        _ => {}
    }
}

pub(super) fn text_of_json(json: &Json) -> String {
    json.decode::<String>().unwrap_or_else(|_| json.as_str().to_owned())
}
