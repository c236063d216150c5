//! The JSON of the files around the log. The order of keys is that of WINK's own files.

use std::collections::BTreeMap;

use quipu_event::Json;
use serde::Serialize;

use crate::wink::wire::encode;

/// What a bundle is: everything but its files.
#[derive(Serialize)]
pub(in crate::wink) struct Manifest<'a> {
    pub(in crate::wink) format_version: &'static str,
    pub(in crate::wink) bundle_id: &'a str,
    pub(in crate::wink) created_at: &'a str,
    pub(in crate::wink) request: Request<'a>,
    pub(in crate::wink) capture: Capture,
    pub(in crate::wink) prompt: Prompt<'a>,
}

#[derive(Serialize)]
pub(in crate::wink) struct Request<'a> {
    pub(in crate::wink) request_id: &'a str,
    pub(in crate::wink) session_id: Option<&'a str>,
    pub(in crate::wink) status: &'a str,
    pub(in crate::wink) started_at: &'a str,
    pub(in crate::wink) ended_at: &'a str,
}

#[derive(Serialize)]
pub(in crate::wink) struct Capture {
    pub(in crate::wink) mode: &'static str,
    pub(in crate::wink) trigger: &'static str,
    pub(in crate::wink) limits_applied: Limits,
}

#[derive(Serialize)]
pub(in crate::wink) struct Limits {
    pub(in crate::wink) filesystem_truncated: bool,
}

#[derive(Serialize)]
pub(in crate::wink) struct Prompt<'a> {
    pub(in crate::wink) ns: &'a str,
    pub(in crate::wink) key: &'a str,
    pub(in crate::wink) adapter: &'a str,
}

#[derive(Serialize)]
pub(in crate::wink) struct Integrity<'a> {
    pub(in crate::wink) algorithm: &'static str,
    pub(in crate::wink) checksums: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest<'a>,
    files: Vec<&'a str>,
    integrity: Integrity<'a>,
    build: Build,
}

#[derive(Serialize)]
struct Build {
    version: &'static str,
    commit: &'static str,
}

impl Manifest<'_> {
    /// Returns the manifest of a bundle with these files.
    pub(in crate::wink) fn to_json(&self, files: Vec<&str>, integrity: Integrity<'_>) -> Json {
        let build = Build { version: "", commit: "" };
        encode(&Whole { manifest: self, files, integrity, build })
    }
}

/// `metrics.json`. A number that nobody gave is null, never 0.
#[derive(Serialize)]
pub(in crate::wink) struct Metrics<'a> {
    pub(in crate::wink) timing: Timing<'a>,
    pub(in crate::wink) token_usage: TokenUsage,
}

#[derive(Serialize)]
pub(in crate::wink) struct Timing<'a> {
    pub(in crate::wink) started_at: &'a str,
    pub(in crate::wink) ended_at: Option<&'a str>,
    pub(in crate::wink) duration_ms: Option<u64>,
}

#[derive(Serialize)]
pub(in crate::wink) struct TokenUsage {
    pub(in crate::wink) input_tokens: Option<u64>,
    pub(in crate::wink) output_tokens: Option<u64>,
    pub(in crate::wink) cached_tokens: Option<u64>,
    pub(in crate::wink) total_tokens: Option<u64>,
    pub(in crate::wink) prompt_count: u64,
}

/// `run_context.json`.
#[derive(Serialize)]
pub(in crate::wink) struct RunContext<'a> {
    pub(in crate::wink) run_id: &'a str,
    pub(in crate::wink) request_id: &'a str,
    pub(in crate::wink) session_id: Option<&'a str>,
    pub(in crate::wink) attempt: u64,
    pub(in crate::wink) worker_id: &'a str,
    pub(in crate::wink) trace_id: Option<&'a str>,
    pub(in crate::wink) span_id: Option<&'a str>,
}

/// `error.json`.
#[derive(Serialize)]
pub(in crate::wink) struct Failure<'a> {
    #[serde(rename = "type")]
    pub(in crate::wink) kind: &'a str,
    pub(in crate::wink) message: &'a str,
    pub(in crate::wink) traceback: [&'a str; 0],
}

/// `request/input.json`.
#[derive(Serialize)]
pub(in crate::wink) struct Input<'a> {
    pub(in crate::wink) run_id: &'a str,
    pub(in crate::wink) name: &'a str,
    pub(in crate::wink) kind: &'a str,
    pub(in crate::wink) inputs: Option<&'a Json>,
}
