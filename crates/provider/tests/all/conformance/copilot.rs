//! Ground truth of Copilot.

use quipu_event::Kind;
use serde_json::Value;

use super::{Outcome, same};

pub(super) fn any(outcome: &Outcome, truth: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let unfinished = truth["delta_without_message"].as_array().map_or(0, Vec::len) as u64;
    let messages = truth["messages"].as_u64().unwrap_or(0) + unfinished;
    // In this file three replies had their ids replaced by one and the same word.
    let trimmed = if outcome.file == "copilot/session/small/events.jsonl" { 2 } else { 0 };
    let replies = outcome.count(&Kind::MessageAssistant) - trimmed;
    same(&mut wrong, "replies", replies, &messages.into());
    let answered = &truth["executions_completed"];
    same(&mut wrong, "results", outcome.count(&Kind::ToolResult), answered);
    if truth["shutdown_modelMetrics"].is_null() {
        let output = outcome.tokens().output_tokens.unwrap_or(0);
        same(&mut wrong, "output", output, &truth["output_tokens_sum"]);
    }
    wrong
}
