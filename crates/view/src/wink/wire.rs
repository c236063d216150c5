//! The JSON of records: the details of an entry, and the facts of what is no entry.
//!
//! The order of keys is that of WINK's own.

use std::collections::BTreeMap;

use quipu_event::Json;
use serde::Serialize;

/// What an entry says beyond its envelope: in the shape of its adapter, and our event whole.
#[derive(Default, Serialize)]
pub(super) struct Detail<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sdk_entry: Option<SdkEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notification: Option<Notification<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<&'a Json>,
    pub(super) event: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subtype: Option<&'a str>,
}

impl<'a> Detail<'a> {
    /// Begins the detail of what `event` says.
    pub(super) fn of(event: &'a Json) -> Self {
        Detail { event: Some(event), ..Detail::default() }
    }
}

/// A record as Claude's SDK writes it, or one block of it.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum SdkEntry<'a> {
    Message {
        #[serde(rename = "type")]
        kind: &'a str,
        message: SdkMessage<'a>,
    },
    Block(SdkBlock<'a>),
    /// As it was.
    Native(Json),
}

#[derive(Serialize)]
pub(super) struct SdkMessage<'a> {
    pub(super) role: &'a str,
    pub(super) content: Vec<SdkBlock<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum SdkBlock<'a> {
    Text {
        text: &'a str,
    },
    Thinking {
        thinking: String,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: &'a Json,
    },
    ToolResult {
        tool_use_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_name: Option<&'a str>,
        content: &'a Json,
        is_error: bool,
    },
    #[serde(untagged)]
    Foreign(&'a Json),
}

/// What Codex' app server notifies of, as far as it matters here.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Notification<'a> {
    Item {
        item: Item<'a>,
    },
    Call {
        tool: &'a str,
        #[serde(rename = "callId")]
        call_id: &'a str,
        arguments: &'a Json,
    },
    /// As it was.
    Native(Json),
}

#[derive(Serialize)]
pub(super) struct Item<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'a str,
    pub(super) text: String,
}

/// The facts of a log record that is no entry.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Context<'a> {
    Start {
        prompt_name: &'a str,
        adapter: &'a str,
    },
    Stop {
        prompt_name: &'a str,
        adapter: &'a str,
        total_entries: u64,
        entries_by_source: &'a BTreeMap<String, u64>,
        entries_by_type: &'a BTreeMap<&'static str, u64>,
    },
    Call {
        tool_name: &'a str,
        call_id: &'a str,
        success: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        arguments: &'a Json,
        value: &'a Json,
        #[serde(skip_serializing_if = "Option::is_none")]
        error_code: Option<&'a str>,
    },
    Failure {
        #[serde(skip_serializing_if = "str::is_empty")]
        code: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        path: &'a str,
        event_seq: u64,
    },
}

pub(super) fn encode(value: &impl Serialize) -> Json {
    // Every key is text, so there is nothing to fail.
    serde_json::to_string(value).map_or_else(|_| Json::null(), |text| Json::from_valid(&text))
}
