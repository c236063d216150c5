//! The agent's own record behind an entry, as WINK's adapters show it.
//!
//! A record that is not one JSON object, or not of the adapter's agent, is left to those who make its
//! shape again from our event.

use quipu_event::{Event, Json, mend_surrogates};
use serde::Deserialize;

use crate::entries::{Entry, EntryType, Fields};

/// Returns the record that an entry of `event` was made from, which may be its `only_message`.
pub(super) fn behind(event: &Event, entry: &Entry, only_message: bool) -> Option<Json> {
    match &entry.raw {
        // A reply of nothing but calls lends its record to the first of them.
        Some(_) if entry.entry_type == EntryType::ToolUse && event.raw.is_none() => None,
        Some(raw) => object(raw),
        // A thought before it has the record.
        None if only_message && entry.entry_type == EntryType::AssistantMessage => {
            object(std::str::from_utf8(&event.raw.as_ref()?.bytes()?).ok()?)
        }
        None => None,
    }
}

/// Returns the one JSON object that a foreign record is.
pub(super) fn object(raw: &str) -> Option<Json> {
    Json::parse(&mend_surrogates(raw)).ok().filter(Json::is_object)
}

/// Returns a record of Claude's.
pub(super) fn sdk_entry(record: &Json) -> Option<Json> {
    #[derive(Deserialize)]
    struct Typed {
        #[serde(rename = "type")]
        _kind: String,
    }
    record.decode::<Typed>().ok().map(|_| record.clone())
}

/// Returns a record of Claude's that is a message, without the blocks that are entries of their own:
/// calls, answers and, if `has_thoughts`, thoughts.
pub(super) fn sdk_message(record: &Json, has_thoughts: bool) -> Option<Json> {
    let mut fields: Fields = sdk_entry(record)?.decode().ok()?;
    let message = fields.get_mut("message")?;
    let mut inner: Fields = message.decode().ok()?;
    let content = inner.get_mut("content")?;
    let Ok(blocks) = content.decode::<Vec<Json>>() else { return Some(record.clone()) };
    let is_here = |block: &&Json| match block_type(block).as_str() {
        "tool_use" | "tool_result" => false,
        "thinking" | "redacted_thinking" => !has_thoughts,
        _ => true,
    };
    let here: Vec<&str> = blocks.iter().filter(is_here).map(Json::as_str).collect();
    if here.len() == blocks.len() {
        return Some(record.clone());
    }
    *content = Json::from_valid(&format!("[{}]", here.join(",")));
    *message = Json::from_valid(&inner.to_json());
    Some(Json::from_valid(&fields.to_json()))
}

/// Returns what a notification or a request of Codex' app server is about.
pub(super) fn params(record: &Json) -> Option<Json> {
    #[derive(Deserialize)]
    struct Rpc {
        #[serde(rename = "method")]
        _method: String,
        params: Json,
    }
    record.decode::<Rpc>().ok().map(|rpc| rpc.params).filter(Json::is_object)
}

fn block_type(block: &Json) -> String {
    #[derive(Deserialize)]
    struct Head {
        #[serde(rename = "type")]
        kind: String,
    }
    block.decode::<Head>().map(|head| head.kind).unwrap_or_default()
}
