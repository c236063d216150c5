//! Ground truth of the HTTP interfaces.

use quipu_event::Payload;
use serde_json::Value;

use super::{Outcome, same};

pub(super) fn chat(outcome: &Outcome, truth: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    same(&mut wrong, "text", outcome.text_chars(), &truth["text_chars"]);
    same(&mut wrong, "thinking", outcome.thinking_chars(), &truth["reasoning_chars"]);
    let calls = truth["tool_calls"].as_array().map(|calls| calls.len() as u64);
    if let Some(calls) = calls {
        same(&mut wrong, "calls", outcome.block_count("tool_use"), &calls.into());
    }
    let usage = &truth["usage"];
    same(&mut wrong, "tokens", outcome.tokens().total().unwrap_or(0), &usage["total_tokens"]);
    wrong
}

pub(super) fn responses(outcome: &Outcome, truth: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    // The deltas of this recording are thinned out; its finished items are whole, and count.
    if !outcome.file.ends_with("openai-phase.1.chunks.jsonl") {
        same(&mut wrong, "text", outcome.text_chars(), &truth["text_chars"]);
    }
    same(&mut wrong, "thinking", outcome.thinking_chars(), &truth["reasoning_chars"]);
    // Of several responses in one file the ground truth has the last one's tokens.
    let last = outcome.payloads.iter().rev().find_map(|(_, payload)| match payload {
        Payload::Usage(usage) => usage.tokens().total(),
        _ => None,
    });
    same(&mut wrong, "tokens", last.unwrap_or(0), &truth["usage"]["total_tokens"]);
    wrong
}

pub(super) fn anthropic(outcome: &Outcome, truth: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    same(&mut wrong, "text", outcome.text_chars(), &truth["text_chars"]);
    same(&mut wrong, "thinking", outcome.thinking_chars(), &truth["thinking_chars"]);
    let (tokens, usage) = (outcome.tokens(), &truth["usage_last_message"]);
    same(&mut wrong, "input", tokens.input_tokens.unwrap_or(0), &usage["input_tokens"]);
    same(&mut wrong, "output", tokens.output_tokens.unwrap_or(0), &usage["output_tokens"]);
    wrong
}
