//! The body of a request to the Responses API: the half of a conversation that responses lack.

use quipu_event::payload::Message;
use quipu_event::{Kind, Purpose};

use super::items::{Spoken, is_models};
use super::wire::{filled, request_blocks};
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
    let input = fields.get("input");
    let items = match input {
        Some(text) if text.text().is_some() => vec![text],
        _ => fields.items("input"),
    };
    let items: Vec<_> = fields.get("instructions").into_iter().chain(items).collect();
    let has_instructions = fields.get("instructions").is_some();
    let said: Vec<_> = items
        .iter()
        .enumerate()
        .map(|(number, item)| said(*item, has_instructions && number == 0, calls))
        .collect();
    let news = match filled(fields, "previous_response_id") {
        Some(_) => conversations.addition(&said),
        None => conversations.request(&said),
    };
    if !news.contains(&true) {
        let facts = serde_json::json!({ "messages": items.len() });
        out.system(&Stamp::default(), "repeated", facts);
    }
    let mut reply = Spoken::default();
    for (number, item) in items.into_iter().enumerate().filter(|(number, _)| news[*number]) {
        if said[number].by == Speaker::Model {
            reply.add(item, &format!("item{number}"));
            continue;
        }
        put_reply(std::mem::take(&mut reply), calls, out);
        put(item, &said[number], calls, out);
    }
    put_reply(reply, calls, out);
}

fn said(item: Value<'_>, is_instruction: bool, calls: &Calls) -> Said {
    let mut key = Key::default();
    let Some(fields) = item.fields() else {
        // A bare text is what the user says.
        let by = if is_instruction { Speaker::System } else { Speaker::Client };
        key.add("user");
        key.add(&item.text().unwrap_or_default());
        return key.said(by);
    };
    let role = fields.text("role").unwrap_or_default();
    let kind = fields.text("type").unwrap_or_default();
    key.add(&role);
    for id in ["call_id", "approval_request_id"] {
        key.add(&fields.text(id).unwrap_or_default());
    }
    match fields.text("content") {
        Some(text) => key.add(&text),
        None => fields.items("content").into_iter().for_each(|part| add_part(&mut key, part)),
    }
    // What the server's own tools answered came with the reply.
    let call = fields.text("call_id");
    let is_answered = call.is_some_and(|id| calls.knows(&id) && calls.name_of(&id).is_none());
    key.said(match &*role {
        "system" | "developer" => Speaker::System,
        "assistant" => Speaker::Model,
        _ if is_models(&kind) || is_answered => Speaker::Model,
        _ => Speaker::Client,
    })
}

fn add_part(key: &mut Key, part: Value<'_>) {
    match part.fields().and_then(|fields| fields.text("text")) {
        Some(text) => key.add(&text),
        None => key.add(part.source()),
    }
}

fn put(item: Value<'_>, said: &Said, calls: &mut Calls, out: &mut Outbox<'_>) {
    let stamp = Stamp::default();
    let purpose = match said.by {
        Speaker::System => Purpose::SystemPrompt,
        _ => Purpose::Prompt,
    };
    let Some(fields) = item.fields() else {
        let blocks = request_blocks(Some(item), &purpose);
        return out.message(&stamp, Kind::MessageUser, Message::user(blocks));
    };
    if fields.has("role") {
        let blocks = request_blocks(fields.get("content"), &purpose);
        return out.message(&stamp, Kind::MessageUser, Message::user(blocks));
    }
    match &*fields.text("type").unwrap_or_default() {
        "mcp_approval_response" => {
            let (id, approved) = (fields.text("approval_request_id"), fields.flag("approve"));
            let facts = serde_json::json!({ "request_id": id, "approved": approved });
            out.system(&stamp, "permission_answered", facts);
        }
        kind if kind.ends_with("_output") => {
            let mut spoken = Spoken::default();
            spoken.add(item, "");
            spoken.put_rest(&stamp, calls, out);
        }
        kind => out.system(&stamp, "context", serde_json::json!({ "topic": kind })),
    }
}

/// Puts a reply that only the request tells of.
fn put_reply(mut reply: Spoken, calls: &mut Calls, out: &mut Outbox<'_>) {
    let (stamp, blocks) = (Stamp::default(), std::mem::take(&mut reply.blocks));
    if !blocks.is_empty() {
        out.message(&stamp, Kind::MessageAssistant, Message::assistant(blocks));
    }
    reply.put_rest(&stamp, calls, out);
}
