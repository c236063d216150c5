//! A conversation as the API takes it: the messages so far.
//!
//! It is also made from a transcript's own events, for a run that goes on in another process.

use quipu_event::payload::{Message, ToolResult};
use quipu_event::{BlockContent, Event, Json, Kind, Payload, Purpose};
use serde_json::{Value, json};

/// A call that the model asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Json,
}

/// Sets what the model is told about itself: a conversation has one such message, its first.
pub(super) fn set_system(messages: &mut Vec<Value>, system: &str) {
    let message = json!({ "role": "system", "content": system });
    match messages.first_mut() {
        Some(first) if first["role"] == "system" => *first = message,
        _ => messages.insert(0, message),
    }
}

/// Makes the message of a person.
pub(super) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

/// Makes the message of the model.
pub(super) fn assistant(text: &str, calls: &[Call]) -> Value {
    let content = Some(text).filter(|text| !text.is_empty() || calls.is_empty());
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        let calls = calls.iter().map(|call| {
            let function = json!({ "name": call.name, "arguments": arguments(&call.input) });
            json!({ "id": call.id, "type": "function", "function": function })
        });
        message["tool_calls"] = calls.collect();
    }
    message
}

/// Makes the message of a tool.
pub(super) fn tool(call_id: &str, output: &Value) -> Value {
    let content = match output {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    json!({ "role": "tool", "tool_call_id": call_id, "content": content })
}

/// Returns the text and the calls of a reply.
pub(super) fn parts(message: Message) -> (String, Vec<Call>) {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for block in message.blocks {
        match block.content {
            BlockContent::Text { text: more } => text.push_str(&more),
            BlockContent::ToolUse { tool_name, tool_id, tool_input } => {
                calls.push(Call { id: tool_id, name: tool_name, input: tool_input });
            }
            _ => {}
        }
    }
    (text, calls)
}

/// Makes the messages of a session from the events of the steps that held it, in their order.
pub(in crate::agent) fn from_events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Value> {
    let mut messages = Vec::new();
    for event in events.into_iter().filter(|event| event.source.is_none()) {
        match Payload::decode(&event.kind, &event.payload) {
            Ok(Payload::Message(message)) if event.kind == Kind::MessageUser => {
                add_user(&mut messages, message);
            }
            Ok(Payload::Message(message)) => {
                let (text, calls) = parts(message);
                messages.push(assistant(&text, &calls));
            }
            Ok(Payload::ToolResult(result)) => messages.push(tool_of(&result)),
            _ => {}
        }
    }
    messages
}

fn add_user(messages: &mut Vec<Value>, message: Message) {
    for block in message.blocks {
        match (block.content, block.purpose) {
            (BlockContent::Text { text }, Some(Purpose::SystemPrompt)) => {
                set_system(messages, &text);
            }
            (BlockContent::Text { text }, _) => messages.push(user(&text)),
            _ => {}
        }
    }
}

fn tool_of(result: &ToolResult) -> Value {
    tool(&result.call_id, &result.output.decode().unwrap_or(Value::Null))
}

/// Returns the arguments of a call as the model wrote them, as far as that is known.
fn arguments(input: &Json) -> String {
    match input.decode::<Value>() {
        // Arguments that are no JSON were kept as the text they are.
        Ok(Value::String(text)) => text,
        Ok(Value::Null) | Err(_) => "{}".to_owned(),
        Ok(_) => input.as_str().to_owned(),
    }
}
