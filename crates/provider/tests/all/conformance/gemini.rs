//! Ground truth of Gemini. Its own figures count cached input as input, and thoughts apart.

use serde_json::Value;

use super::{Outcome, same};

pub(super) fn session(outcome: &Outcome, truth: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let (tokens, truth_tokens) = (outcome.tokens(), &truth["tokens_final"]);
    same(&mut wrong, "tokens", tokens.total().unwrap_or(0), &truth_tokens["total"]);
    same(&mut wrong, "cached", tokens.cache_read_tokens.unwrap_or(0), &truth_tokens["cached"]);
    same(&mut wrong, "thoughts", tokens.reasoning_tokens.unwrap_or(0), &truth_tokens["thoughts"]);
    same(&mut wrong, "thinking", outcome.block_count("thinking"), &truth["thoughts"]);
    wrong
}
