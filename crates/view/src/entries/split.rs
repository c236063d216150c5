//! Which entries an event becomes.
//!
//! A reply is taken apart at its blocks, in their order. A call is one `tool_use`, made from its
//! `tool.call`; the block by which the model asked for it would be the same call a second time.

use std::borrow::Cow;

use quipu_event::payload::System;
use quipu_event::{Event, Json, Kind};
use serde::Deserialize;

use super::EntryType;
use super::fields::Fields;

/// What an event becomes.
pub(super) enum Pieces<'a> {
    /// Entries, in order.
    Said(Vec<Piece<'a>>),
    /// Nothing: it only announces calls, which have events of their own.
    OnlyCalls { first_call: String },
}

/// What will be one entry.
pub(super) struct Piece<'a> {
    pub(super) entry_type: EntryType,
    /// The part of the event's payload that it is about.
    pub(super) payload: Cow<'a, str>,
    pub(super) subtype: Option<String>,
}

/// Returns what `event` becomes.
pub(super) fn pieces(event: &Event) -> Pieces<'_> {
    let entry_type = match &event.kind {
        Kind::MessageAssistant => return reply(&event.payload),
        Kind::MessageUser => EntryType::UserMessage,
        Kind::ToolCall => EntryType::ToolUse,
        Kind::ToolResult => EntryType::ToolResult,
        Kind::Usage => EntryType::TokenUsage,
        Kind::Error => EntryType::Error,
        Kind::Unknown | Kind::Other(_) => EntryType::Unknown,
        _ => EntryType::SystemEvent,
    };
    let subtype = (entry_type == EntryType::SystemEvent).then(|| subtype(event));
    Pieces::Said(vec![Piece { entry_type, payload: event.payload.as_str().into(), subtype }])
}

fn subtype(event: &Event) -> String {
    let said = match event.kind {
        Kind::System => event.payload.decode::<System>().ok().map(|system| system.subtype),
        _ => None,
    };
    said.filter(|subtype| !subtype.is_empty()).unwrap_or_else(|| event.kind.to_string())
}

fn reply(payload: &Json) -> Pieces<'_> {
    let whole = || {
        let payload = payload.as_str().into();
        let entry_type = EntryType::AssistantMessage;
        Pieces::Said(vec![Piece { entry_type, payload, subtype: None }])
    };
    let Some(reply) = Reply::read(payload) else { return whole() };
    let sorts: Vec<Sort> = reply.blocks.iter().map(Sort::of).collect();
    if sorts.iter().all(|sort| *sort == Sort::Said) {
        return whole();
    }
    let mut pieces = Vec::new();
    let mut start = 0;
    for group in sorts.chunk_by(|one, next| one == next) {
        let blocks = &reply.blocks[start..start + group.len()];
        start += group.len();
        let entry_type = match group.first() {
            Some(Sort::Thought) => EntryType::Thinking,
            Some(Sort::Said) => EntryType::AssistantMessage,
            Some(Sort::Tool(_)) | None => continue,
        };
        let payload = reply.with_blocks(blocks).into();
        pieces.push(Piece { entry_type, payload, subtype: None });
    }
    let first_call = sorts.into_iter().find_map(|sort| match sort {
        Sort::Tool(id) => Some(id),
        _ => None,
    });
    match first_call {
        Some(first_call) if pieces.is_empty() => Pieces::OnlyCalls { first_call },
        _ => Pieces::Said(pieces),
    }
}

/// What sort of thing a block is, as far as entries care.
#[derive(Debug)]
enum Sort {
    Thought,
    Said,
    /// A call or an answer, with the call's id.
    Tool(String),
}

impl PartialEq for Sort {
    /// Calls stand together whatever their ids are.
    fn eq(&self, other: &Sort) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl Sort {
    fn of(block: &Json) -> Sort {
        #[derive(Deserialize)]
        struct Head {
            #[serde(rename = "type")]
            block_type: String,
            #[serde(default)]
            tool_id: Option<String>,
        }
        match block.decode::<Head>() {
            Ok(head) if head.block_type == "thinking" => Sort::Thought,
            Ok(head) if matches!(head.block_type.as_str(), "tool_use" | "tool_result") => {
                Sort::Tool(head.tool_id.unwrap_or_default())
            }
            _ => Sort::Said,
        }
    }
}

/// The payload of a message: its blocks, and whatever stands around them.
struct Reply {
    /// Nothing for a payload that is its blocks.
    fields: Option<Vec<(String, Json)>>,
    blocks: Vec<Json>,
}

impl Reply {
    fn read(payload: &Json) -> Option<Reply> {
        if !payload.is_object() {
            return Some(Reply { fields: None, blocks: payload.decode().ok()? });
        }
        let Fields(fields) = payload.decode().ok()?;
        let (_, blocks) = fields.iter().rfind(|(key, _)| key == "blocks")?;
        let blocks = blocks.decode().ok()?;
        Some(Reply { fields: Some(fields), blocks })
    }

    /// Returns the payload as if these were all its blocks.
    fn with_blocks(&self, blocks: &[Json]) -> String {
        let blocks: Vec<&str> = blocks.iter().map(Json::as_str).collect();
        let blocks = format!("[{}]", blocks.join(","));
        let Some(fields) = &self.fields else { return blocks };
        let mut out = String::from("{");
        for (n, (key, value)) in fields.iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            let value = if key == "blocks" { &blocks } else { value.as_str() };
            out += &format!("{comma}{}:{value}", serde_json::Value::from(key.as_str()));
        }
        out + "}"
    }
}
