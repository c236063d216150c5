//! The body of a request to the Messages API: the half of a conversation that replies lack.

use quipu_event::payload::Message;
use quipu_event::{BlockContent, ContentBlock, Fidelity, Kind, Purpose};

use super::blocks::{Spoken, essence};
use crate::calls::Calls;
use crate::conversation::{Conversations, Key, Said, Speaker};
use crate::outbox::{Outbox, Stamp};
use crate::value::{Fields, Value};

/// Puts what a request says for the first time.
pub(crate) fn take(
    fields: &Fields<'_>,
    calls: &mut Calls,
    conversations: &mut Conversations,
    out: &mut Outbox<'_>,
) {
    let messages = fields.items("messages").into_iter().filter_map(Value::fields);
    let messages: Vec<_> = messages.collect();
    let system = fields.get("system");
    let instructions = system.map(|system| key(Some(system), "system").said(Speaker::System));
    let said: Vec<_> = instructions.into_iter().chain(messages.iter().map(said)).collect();
    let mut news = conversations.request(&said).into_iter();
    let mut is_silent = true;
    if system.is_some() && news.next() == Some(true) {
        is_silent = false;
        put_prompt(system, &Purpose::SystemPrompt, out);
    }
    for (number, message) in messages.iter().enumerate() {
        if news.next() == Some(true) {
            is_silent = false;
            put(message, number, calls, out);
        }
    }
    if is_silent {
        let facts = serde_json::json!({ "messages": messages.len() });
        out.system(&Stamp::default(), "repeated", facts);
    }
}

fn said(message: &Fields<'_>) -> Said {
    let role = message.text("role").unwrap_or_default();
    key(message.get("content"), &role).said(match &*role {
        "assistant" => Speaker::Model,
        _ => Speaker::Client,
    })
}

/// Marks for caches move from request to request: a block counts by what it says.
fn key(content: Option<Value<'_>>, role: &str) -> Key {
    let mut key = Key::default();
    key.add(role);
    let Some(content) = content else { return key };
    match content.text() {
        Some(text) => key.add(&text),
        None => content.items().into_iter().for_each(|block| key.add(&essence(block))),
    }
    key
}

fn put(message: &Fields<'_>, number: usize, calls: &mut Calls, out: &mut Outbox<'_>) {
    let content = message.get("content");
    if message.text("role").as_deref() == Some("assistant") {
        return put_reply(content, number, calls, out);
    }
    let is_result = |block: &Value<'_>| {
        let fields = block.fields().unwrap_or_default();
        fields.text("type").is_some_and(|kind| kind.ends_with("tool_result"))
    };
    let blocks = content.map(Value::items).unwrap_or_default();
    let mut results = Spoken::default();
    for fields in blocks.iter().filter(|block| is_result(block)).filter_map(|block| block.fields())
    {
        results.add_result(&fields, false);
    }
    results.put_rest(&Stamp::default(), calls, out);
    if blocks.is_empty() || !blocks.iter().all(is_result) {
        put_prompt(content, &Purpose::Prompt, out);
    }
}

/// Puts what is said to the model, results aside.
fn put_prompt(content: Option<Value<'_>>, purpose: &Purpose, out: &mut Outbox<'_>) {
    let text = |text: String| {
        ContentBlock::text(Fidelity::AgentEmitted, text).with_purpose(purpose.clone())
    };
    let whole = content.and_then(Value::text).map(|whole| text(whole.into_owned()));
    let mut blocks: Vec<_> = whole.into_iter().collect();
    for block in content.map(Value::items).unwrap_or_default() {
        let fields = block.fields().unwrap_or_default();
        let kind = fields.string("type").unwrap_or_default();
        match fields.string("text").filter(|_| kind == "text") {
            Some(said) => blocks.push(text(said)),
            None if kind.ends_with("tool_result") => {}
            None => {
                let other = BlockContent::Other { block_type: kind, content: Some(block.json()) };
                blocks.push(other.vouched_by(Fidelity::AgentEmitted));
            }
        }
    }
    out.message(&Stamp::default(), Kind::MessageUser, Message::user(blocks));
}

/// Puts a reply that only the request tells of.
fn put_reply(content: Option<Value<'_>>, number: usize, calls: &mut Calls, out: &mut Outbox<'_>) {
    let (stamp, mut spoken) = (Stamp::default(), Spoken::default());
    if let Some(text) = content.and_then(Value::text) {
        spoken.blocks.push(ContentBlock::text(Fidelity::AgentEmitted, text));
    }
    for (index, block) in content.map(Value::items).unwrap_or_default().into_iter().enumerate() {
        spoken.add(block, &format!("message{number}/{index}"));
    }
    let blocks = std::mem::take(&mut spoken.blocks);
    out.message(&stamp, Kind::MessageAssistant, Message::assistant(blocks));
    spoken.put_rest(&stamp, calls, out);
}
