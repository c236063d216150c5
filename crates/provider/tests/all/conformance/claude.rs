//! Ground truth of Claude Code.

use quipu_event::Kind;
use quipu_event::payload::ToolStatus;
use serde_json::Value;

use super::{Outcome, same};

pub(super) fn session(outcome: &Outcome, truth: &Value) -> Vec<String> {
    let mut wrong = content(outcome, truth);
    let (tokens, usage) = (outcome.tokens(), &truth["usage_last_per_message_id"]);
    let figures = [
        ("input", tokens.input_tokens, "input_tokens"),
        ("output", tokens.output_tokens, "output_tokens"),
        ("cache read", tokens.cache_read_tokens, "cache_read_input_tokens"),
        ("cache write", tokens.cache_write_tokens, "cache_creation_input_tokens"),
    ];
    for (what, actual, key) in figures {
        same(&mut wrong, what, actual.unwrap_or(0), &usage[key]);
    }
    wrong
}

pub(super) fn stream(outcome: &Outcome, truth: &Value) -> Vec<String> {
    let mut wrong = content(outcome, truth);
    let cost = outcome.tokens().cost_usd.unwrap_or(0.0);
    let expected = truth["sum_total_cost_usd"].as_f64().unwrap_or(0.0);
    if (cost - expected).abs() > 1e-9 {
        wrong.push(format!("cost is {cost}, should be {expected}"));
    }
    wrong
}

/// Files whose texts the ground truth counts otherwise: two repeat a record under the same id,
/// which is said once, and one has texts that stand outside of any list of blocks.
const TEXTS_APART: [&str; 3] =
    ["duplicate_assistant_1.0.51.jsonl", "glued_objects_2.1.12.jsonl", "schema_drift.jsonl"];

fn content(outcome: &Outcome, truth: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for block in ["thinking", "tool_use"] {
        let expected = &truth["blocks"][format!("assistant:{block}")];
        same(&mut wrong, block, outcome.block_count(block), expected);
    }
    if !TEXTS_APART.iter().any(|file| outcome.file.ends_with(file)) {
        let expected = &truth["blocks"]["assistant:text"];
        same(&mut wrong, "text blocks", outcome.block_count("text"), expected);
        same(&mut wrong, "text", outcome.text_chars(), &truth["assistant_text_chars"]);
    }
    same(&mut wrong, "calls", outcome.count(&Kind::ToolCall), &truth["distinct_tool_use"]);
    same(&mut wrong, "results", outcome.count(&Kind::ToolResult), &truth["distinct_tool_result"]);
    let failed = outcome
        .results()
        .filter(|result| matches!(result.status, Some(ToolStatus::Failed | ToolStatus::Blocked)));
    same(&mut wrong, "failed results", failed.count() as u64, &truth["error_tool_results"]);
    wrong
}
