//! The body of a request to Chat Completions: the half of a conversation that responses lack.

use quipu_event::payload::{Message, ToolCall, ToolResult, ToolStatus};
use quipu_event::{Kind, Purpose};

use super::choice::{Choice, Form};
use super::wire::{filled, request_blocks};
use crate::calls::{Calls, Seen};
use crate::conversation::{Conversations, Key, Said, Speaker};
use crate::outbox::{Outbox, Stamp};
use crate::value::{Fields, Value};

/// The requests of one input.
#[derive(Default)]
pub(crate) struct Requests {
    conversations: Conversations,
    /// The old way of calling has no ids: a result belongs to the call before it.
    last_call: Option<String>,
}

impl Requests {
    /// Puts what a request says for the first time.
    pub(crate) fn take(&mut self, fields: &Fields<'_>, calls: &mut Calls, out: &mut Outbox<'_>) {
        let messages = fields.items("messages").into_iter().filter_map(Value::fields);
        let messages: Vec<_> = messages.collect();
        let said: Vec<_> = messages.iter().map(said).collect();
        let news = self.conversations.request(&said);
        if !news.contains(&true) {
            let facts = serde_json::json!({ "messages": messages.len() });
            out.system(&Stamp::default(), "repeated", facts);
        }
        for (number, message) in messages.iter().enumerate().filter(|(number, _)| news[*number]) {
            self.put(message, number, calls, out);
        }
    }

    /// Takes note of a reply with `calls`.
    pub(crate) fn replied(&mut self, calls: &[ToolCall]) {
        self.conversations.reply();
        if let Some(call) = calls.last() {
            self.last_call = Some(call.call_id.clone());
        }
    }

    fn put(
        &mut self,
        message: &Fields<'_>,
        number: usize,
        calls: &mut Calls,
        out: &mut Outbox<'_>,
    ) {
        let stamp = Stamp::default();
        match &*message.text("role").unwrap_or_default() {
            "assistant" => {
                for call in put_reply(message, number, out) {
                    self.last_call = Some(call.call_id.clone());
                    calls.call(out, &stamp, call);
                }
            }
            "tool" | "function" => {
                let result = self.result(message);
                let facts = serde_json::json!({ "tool_id": result.call_id });
                if calls.result(out, &stamp, result) == Seen::Again {
                    out.system(&stamp, "repeated", facts);
                }
            }
            role => {
                let purpose = match role {
                    "system" | "developer" => Purpose::SystemPrompt,
                    _ => Purpose::Prompt,
                };
                let blocks = request_blocks(message.get("content"), &purpose);
                out.message(&stamp, Kind::MessageUser, Message::user(blocks));
            }
        }
    }

    fn result(&mut self, message: &Fields<'_>) -> ToolResult {
        let id = filled(message, "tool_call_id").map(|id| id.into_owned());
        ToolResult {
            name: message.string("name").unwrap_or_default(),
            call_id: id.or_else(|| self.last_call.take()).unwrap_or_default(),
            output: message.json("content").unwrap_or_default(),
            status: Some(ToolStatus::Completed),
            ..ToolResult::default()
        }
    }
}

fn said(message: &Fields<'_>) -> Said {
    let role = message.text("role").unwrap_or_default();
    let mut key = Key::default();
    key.add(&role);
    if let Some(content) = message.get("content") {
        match content.text() {
            Some(text) => key.add(&text),
            None => content.items().into_iter().for_each(|part| add_part(&mut key, part)),
        }
    }
    if let Some(id) = message.text("tool_call_id") {
        key.add(&id);
    }
    for call in message.items("tool_calls").into_iter().filter_map(Value::fields) {
        key.add(&call.text("id").unwrap_or_default());
    }
    key.said(match &*role {
        "system" | "developer" => Speaker::System,
        "assistant" => Speaker::Model,
        _ => Speaker::Client,
    })
}

/// Marks for caches move from request to request: text counts by what it says.
fn add_part(key: &mut Key, part: Value<'_>) {
    match part.fields().and_then(|fields| fields.text("text")) {
        Some(text) => key.add(&text),
        None => key.add(part.source()),
    }
}

/// Puts a reply that only the request tells of, and returns its calls.
fn put_reply(message: &Fields<'_>, number: usize, out: &mut Outbox<'_>) -> Vec<ToolCall> {
    let mut choice = Choice::default();
    choice.add(message, Form::Whole);
    let (blocks, calls) = choice.speak(&format!("message{number}"));
    out.message(&Stamp::default(), Kind::MessageAssistant, Message::assistant(blocks));
    calls
}
