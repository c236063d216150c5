//! Lines and documents as they stand in the files.

use std::borrow::Cow;

use quipu_event::Json;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A line of a transcript in which somebody speaks.
#[derive(Serialize)]
pub(super) struct Spoken<'a> {
    pub(super) timestamp: String,
    pub(super) role: &'a str,
    pub(super) content: &'a str,
}

/// A line of a transcript that is a tool at work: the call and its answer in one.
#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) timestamp: String,
    pub(super) role: &'a str,
    pub(super) tool_name: &'a str,
    pub(super) tool_input: Verbatim<'a>,
    /// What was read, for tools that read a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<&'a str>,
    /// What any other tool answered, and what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_output: Option<&'a str>,
    /// Whether that is only a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) truncated: Option<bool>,
}

/// JSON text that is put down as it is.
pub(super) struct Verbatim<'a>(pub(super) Cow<'a, str>);

impl Serialize for Verbatim<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json::serialize_valid(&self.0, serializer)
    }
}

/// A receipt. The fields after `transcript_path` are ours, and absent where they say nothing.
#[derive(Serialize)]
pub(super) struct Receipt<'a> {
    pub(super) engine: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<&'a str>,
    pub(super) model: &'a str,
    pub(super) step_id: &'a str,
    pub(super) flow_key: &'a str,
    pub(super) run_id: &'a str,
    pub(super) agent_key: &'a str,
    pub(super) started_at: String,
    pub(super) completed_at: String,
    pub(super) duration_ms: u64,
    pub(super) status: &'a str,
    pub(super) tokens: Tokens,
    pub(super) transcript_path: &'a str,
    /// `false` where nobody said how many tokens there were; the noughts above stand for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens_reported: Option<bool>,
    /// How it ended, where neither of the two words above is the whole truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_id: Option<&'a str>,
    pub(super) tool_calls: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) routing: Option<Routing<'a>>,
    pub(super) path: &'a str,
    pub(super) iteration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) attempt: Option<u32>,
}

/// Tokens as receipts name them. What was read from a cache, or written to one, is prompt.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Tokens {
    pub(super) prompt: u64,
    pub(super) completion: u64,
    pub(super) total: u64,
}

/// Where a run went from a step.
#[derive(Serialize)]
pub(super) struct Routing<'a> {
    pub(super) loop_iteration: u64,
    pub(super) max_iterations: Option<u64>,
    pub(super) decision: &'a str,
    pub(super) reason: &'a str,
    pub(super) next_step_id: Option<&'a str>,
}

/// A line of the run's log.
#[derive(Serialize)]
pub(super) struct LogLine<'a> {
    pub(super) event_id: String,
    pub(super) seq: u64,
    pub(super) run_id: &'a str,
    pub(super) ts: String,
    pub(super) kind: &'a str,
    pub(super) flow_key: &'a str,
    pub(super) step_id: Option<&'a str>,
    pub(super) agent_key: Option<&'a str>,
    pub(super) payload: Value,
}

/// The run in short.
#[derive(Serialize)]
pub(super) struct Meta<'a> {
    pub(super) id: &'a str,
    pub(super) spec: Spec<'a>,
    pub(super) status: &'a str,
    pub(super) sdlc_status: &'a str,
    pub(super) created_at: String,
    pub(super) updated_at: String,
    pub(super) started_at: Option<String>,
    pub(super) completed_at: Option<String>,
    pub(super) error: Option<&'a str>,
    pub(super) artifacts: Value,
    pub(super) is_exemplar: bool,
    pub(super) tags: &'a [&'a str],
    pub(super) title: Option<&'a str>,
    pub(super) path: Option<&'a str>,
    pub(super) description: Option<&'a str>,
}

/// What the run was asked to do.
#[derive(Serialize)]
pub(super) struct Spec<'a> {
    pub(super) flow_keys: [&'a str; 1],
    pub(super) profile_id: Option<&'a str>,
    pub(super) backend: &'a str,
    pub(super) initiator: &'a str,
    pub(super) params: Value,
    pub(super) no_human_mid_flow: bool,
}

/// Returns one line of JSON, with its line feed.
pub(super) fn line<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(value).expect("every key is text");
    bytes.push(b'\n');
    bytes
}

/// Returns a document, as people like to read it.
pub(super) fn document<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("every key is text");
    bytes.push(b'\n');
    bytes
}
