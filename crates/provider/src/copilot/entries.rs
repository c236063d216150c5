//! What stands in a session of the versions before 0.0.342, read leniently.
//!
//! A document has a `timeline` of what was shown, with ids and times, and `chatMessages` as they
//! went to the model. Both tell the same; the timeline tells more.

use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use quipu_event::{Json, Timestamp};

use super::tools::code_of_last_line;
use super::wire::{arguments, finished_arguments};
use crate::value::{Fields, Value};

/// One thing that happened.
pub(super) struct Entry {
    /// What makes it the same in a later version of the document.
    pub(super) key: String,
    pub(super) id: Option<String>,
    pub(super) time: Option<Timestamp>,
    pub(super) content: Content,
}

/// What it was.
pub(super) enum Content {
    Prompt(String, Vec<Json>),
    Reply(String),
    /// A call, and what came of it as far as that is known.
    Tool(ToolCall, Option<ToolResult>),
    /// The answer to a call that another entry has.
    Answer(ToolResult),
    Error(String),
    /// What somebody was shown: of what kind, and what it says.
    Notice(String, String),
    /// What the model is told by nobody in particular: by whose role.
    Context(String),
}

/// Returns what a document tells, in its order.
pub(super) fn read(document: &Fields<'_>) -> Vec<Entry> {
    let timeline = document.items("timeline");
    if timeline.is_empty() {
        return chat(&document.items("chatMessages"));
    }
    let entries = timeline.into_iter().enumerate();
    entries.filter_map(|(number, entry)| read_entry(number, &entry.fields()?)).collect()
}

fn read_entry(number: usize, fields: &Fields<'_>) -> Option<Entry> {
    let kind = fields.text("type")?;
    let text = fields.string("text").unwrap_or_default();
    let content = match &*kind {
        "user" => {
            let images = fields.items("imageAttachments").into_iter().map(Value::json);
            Content::Prompt(text, images.collect())
        }
        "copilot" => Content::Reply(text),
        "tool_call_requested" | "tool_call_completed" => {
            let call = ToolCall {
                name: fields.string("name").or_else(|| fields.string("toolTitle"))?,
                call_id: fields.string("callId")?,
                input: arguments(fields),
                provider: Some("agent".to_owned()),
                ..ToolCall::default()
            };
            let result = fields.get("result").map(|given| result(&call.call_id, given));
            Content::Tool(call, result)
        }
        "error" => Content::Error(text),
        _ => Content::Notice(kind.into_owned(), text),
    };
    let id = fields.string("id");
    let key = id.clone().unwrap_or_else(|| format!("#{number}"));
    Some(Entry { key, id, time: fields.time("timestamp"), content })
}

/// Reads `{type, log}`.
fn result(call_id: &str, given: Value<'_>) -> ToolResult {
    let fields = given.fields().unwrap_or_default();
    let log = fields.text("log");
    let kind = fields.text("type").unwrap_or_default();
    let exit_code = log.as_deref().and_then(code_of_last_line).filter(|code| *code != 0);
    let (status, error) = match (&*kind, exit_code) {
        ("success", None) => (ToolStatus::Completed, None),
        ("rejected" | "denied", _) => (ToolStatus::Blocked, Some(kind.into_owned())),
        (_, Some(code)) => (ToolStatus::Failed, Some(format!("exit code {code}"))),
        _ => (ToolStatus::Failed, Some(kind.into_owned())),
    };
    ToolResult {
        call_id: call_id.to_owned(),
        output: fields.json("log").unwrap_or_else(|| given.json()),
        status: Some(status),
        error,
        ..ToolResult::default()
    }
}

/// Reads what went to the model, where there is no timeline.
fn chat(messages: &[Value<'_>]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut last_call = None;
    for (number, fields) in messages.iter().filter_map(|message| message.fields()).enumerate() {
        let mut put = |part: &str, content| {
            entries.push(Entry { key: format!("#{number}{part}"), id: None, time: None, content });
        };
        let text = text_of(&fields);
        match &*fields.text("role").unwrap_or_default() {
            "user" => put("", Content::Prompt(text, Vec::new())),
            "assistant" => {
                put("", Content::Reply(text));
                for (place, call) in fields.items("tool_calls").into_iter().enumerate() {
                    let Some(call) = call.fields() else { continue };
                    let call_id = call.string("id").unwrap_or_else(|| format!("{number}#{place}"));
                    last_call = Some(call_id.clone());
                    put(&format!(".{place}"), Content::Tool(asked(&call, call_id), None));
                }
            }
            "tool" => {
                let call_id = fields.string("tool_call_id").or_else(|| last_call.take());
                let result = ToolResult {
                    name: fields.string("name").unwrap_or_default(),
                    call_id: call_id.unwrap_or_default(),
                    output: fields.json("content").unwrap_or_default(),
                    status: Some(ToolStatus::Completed),
                    ..ToolResult::default()
                };
                put("", Content::Answer(result));
            }
            role => put("", Content::Context(role.to_owned())),
        }
    }
    entries
}

fn asked(call: &Fields<'_>, call_id: String) -> ToolCall {
    let function = call.fields("function").unwrap_or_default();
    ToolCall {
        name: function.string("name").unwrap_or_default(),
        call_id,
        input: finished_arguments(&function.text("arguments").unwrap_or_default()),
        provider: Some("agent".to_owned()),
        ..ToolCall::default()
    }
}

/// Returns the text of a message: a string, or the texts of its parts.
fn text_of(message: &Fields<'_>) -> String {
    if let Some(text) = message.string("content") {
        return text;
    }
    let parts = message.items("content").into_iter().filter_map(Value::fields);
    parts.filter_map(|part| part.string("text")).collect()
}
