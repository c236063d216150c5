//! Ground truth of Codex. Its own figures count cached input as input.

use quipu_event::Kind;
use serde_json::Value;

use super::{Outcome, same};

pub(super) fn rollout(outcome: &Outcome, truth: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some(own) = truth["fork_own"].as_object() {
        // What a fork inherited was paid for, and counted, in the thread it came from.
        same(&mut wrong, "own calls", outcome.count(&Kind::ToolCall), &own["own_calls"]);
        let total = outcome.tokens().total().unwrap_or(0);
        same(&mut wrong, "own tokens", total, &own["own_total_tokens"]);
        return wrong;
    }
    // Searches of the model's own have no call id; the ground truth leaves them out.
    let searches = truth["types"]["response_item/web_search_call"].as_u64().unwrap_or(0);
    let calls = outcome.count(&Kind::ToolCall).saturating_sub(searches);
    let results = outcome.count(&Kind::ToolResult).saturating_sub(searches);
    same(&mut wrong, "calls", calls, &truth["distinct_calls"]);
    same(&mut wrong, "results", results, &truth["distinct_outputs"]);
    tokens(&mut wrong, outcome, &truth["usage_final_total"]);
    wrong
}

pub(super) fn exec(outcome: &Outcome, truth: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    tokens(&mut wrong, outcome, &truth["usage_last"]);
    same(&mut wrong, "text blocks", outcome.block_count("text"), &truth["agent_messages"]);
    wrong
}

pub(super) fn app_server(outcome: &Outcome, truth: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let threads = truth["token_total_by_thread"].as_object();
    let total: u64 = threads
        .into_iter()
        .flat_map(|threads| threads.values())
        .filter_map(|thread| thread["totalTokens"].as_u64())
        .sum();
    if total > 0 {
        same(&mut wrong, "tokens", outcome.tokens().total().unwrap_or(0), &total.into());
    }
    wrong
}

fn tokens(wrong: &mut Vec<String>, outcome: &Outcome, truth: &Value) {
    let tokens = outcome.tokens();
    let (fresh, cached) = (tokens.input_tokens.unwrap_or(0), tokens.cache_read_tokens.unwrap_or(0));
    let written = tokens.cache_write_tokens.unwrap_or(0);
    same(wrong, "input", fresh + cached + written, &truth["input_tokens"]);
    same(wrong, "cached input", cached, &truth["cached_input_tokens"]);
    same(wrong, "output", tokens.output_tokens.unwrap_or(0), &truth["output_tokens"]);
    let reasoning = tokens.reasoning_tokens.unwrap_or(0);
    same(wrong, "reasoning", reasoning, &truth["reasoning_output_tokens"]);
}
