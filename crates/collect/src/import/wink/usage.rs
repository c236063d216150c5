//! Tokens of a bundle, counted once: from its metrics, or else from what the agents said.

use std::collections::HashMap;

use quipu_event::payload::{Usage, UsageScope};
use serde_json::Value;

use super::super::record::{number, owned, text, value};

/// Returns what the metrics say, if they say anything.
pub(super) fn of_metrics(bytes: &[u8]) -> Option<Usage> {
    let metrics: Value = serde_json::from_slice(bytes).ok()?;
    let tokens = value(&metrics, &["token_usage"])?;
    let usage = Usage {
        input_tokens: number(tokens, &["input_tokens"]),
        output_tokens: number(tokens, &["output_tokens"]),
        cache_read_tokens: number(tokens, &["cached_tokens"]),
        scope: Some(UsageScope::Session),
        ..Usage::default()
    };
    (usage.tokens().total().unwrap_or_default() > 0).then_some(usage)
}

/// What the agents said of tokens.
pub(super) struct Meter {
    /// Whether the metrics have said it all.
    is_idle: bool,
    /// How many lines of a message, or of a running total, are still to come: only the last counts.
    to_come: HashMap<String, u32>,
}

impl Meter {
    pub(super) fn new(is_idle: bool) -> Self {
        Meter { is_idle, to_come: HashMap::new() }
    }

    /// Takes a first look at a line that will be told.
    pub(super) fn foresee(&mut self, line: &Value) {
        if let Some((key, _)) = cost_of(line) {
            *self.to_come.entry(key).or_default() += 1;
        }
    }

    /// Returns what a message or a session cost, with the last line that says so.
    pub(super) fn of_line(&mut self, line: &Value) -> Option<Usage> {
        let (key, usage) = cost_of(line)?;
        let left = self.to_come.get_mut(&key)?;
        *left = left.saturating_sub(1);
        (*left == 0 && !self.is_idle).then_some(usage)
    }
}

/// Returns what a line says the cost is of, and the cost.
fn cost_of(line: &Value) -> Option<(String, Usage)> {
    if !super::is_entry(line) {
        return None;
    }
    spoken(line).or_else(|| total(&line["context"]))
}

/// Returns the message that a line is of, and what it cost.
fn spoken(line: &Value) -> Option<(String, Usage)> {
    let message = &line["context"]["detail"]["sdk_entry"]["message"];
    let tokens = value(message, &["usage"])?;
    let source = text(&line["context"], &["source"]).unwrap_or_default();
    let entry = &line["context"]["detail"]["sdk_entry"];
    let id = text(message, &["id"]).or_else(|| text(entry, &["uuid"])).unwrap_or_default();
    let usage = Usage {
        model: owned(message, &["model"]),
        input_tokens: number(tokens, &["input_tokens"]),
        output_tokens: number(tokens, &["output_tokens"]),
        cache_read_tokens: number(tokens, &["cache_read_input_tokens"]),
        cache_write_tokens: number(tokens, &["cache_creation_input_tokens"]),
        scope: Some(UsageScope::Message),
        message_id: owned(message, &["id"]),
        ..Usage::default()
    };
    Some((format!("{source} {id}"), usage))
}

/// Returns a running total: input that was not cached, as everywhere.
fn total(context: &Value) -> Option<(String, Usage)> {
    if text(context, &["entry_type"]) != Some("token_usage") {
        return None;
    }
    let total = &context["detail"]["notification"]["tokenUsage"]["total"];
    let cached = number(total, &["cachedInputTokens"]);
    let input = number(total, &["inputTokens"]);
    let usage = Usage {
        input_tokens: input.map(|input| input.saturating_sub(cached.unwrap_or_default())),
        output_tokens: number(total, &["outputTokens"]),
        cache_read_tokens: cached,
        reasoning_tokens: number(total, &["reasoningOutputTokens"]),
        scope: Some(UsageScope::Session),
        ..Usage::default()
    };
    let session = text(context, &["session_id"]).unwrap_or_default();
    let thread = text(&context["detail"]["notification"], &["threadId"]).unwrap_or_default();
    (!usage.tokens().is_empty()).then(|| (format!("total {session} {thread}"), usage))
}
