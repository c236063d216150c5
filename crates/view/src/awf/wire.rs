//! The JSON of AWF: its envelope, its payloads, its blocks and its audit entries.
//!
//! The order of keys and what is left out when empty are AWF's.

use std::collections::BTreeMap;

use quipu_event::{Json, Timestamp};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Line<'a> {
    pub(super) seq: u64,
    pub(super) run_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_run_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) child_run_id: Option<&'a str>,
    #[serde(rename = "type")]
    pub(super) kind: &'a str,
    pub(super) path: &'a str,
    pub(super) iteration: u64,
    pub(super) timestamp: Timestamp,
    pub(super) payload: Option<Payload>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Payload {
    Step {
        name: String,
        kind: String,
        #[serde(skip_serializing_if = "String::is_empty")]
        error: String,
        #[serde(skip_serializing_if = "Json::is_null")]
        result: Json,
    },
    Message {
        role: &'static str,
        blocks: Vec<Block>,
    },
    Tool {
        name: String,
        call_id: String,
        input: Json,
        output: Json,
        #[serde(skip_serializing_if = "String::is_empty")]
        error: String,
        fidelity: &'static str,
    },
}

#[derive(Default, Serialize)]
pub(super) struct Block {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) fidelity: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) thinking: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) tool_name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) tool_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_input: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_content: Option<Json>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) command: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) chunk: String,
}

/// One entry of the audit trail.
#[derive(Clone, Default, Serialize)]
pub(super) struct AuditEntry {
    pub(super) event: &'static str,
    pub(super) execution_id: String,
    pub(super) timestamp: String,
    pub(super) user: String,
    pub(super) workflow_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inputs: Option<BTreeMap<String, Json>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) inputs_truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) error: String,
    pub(super) schema_version: u32,
}

pub(super) fn encode(value: &impl Serialize) -> Json {
    // Every key is text, so there is nothing to fail.
    serde_json::to_string(value).map_or_else(|_| Json::null(), |text| Json::from_valid(&text))
}
