//! Claude's numbers, in both of its spellings.
//!
//! It only reads and subtracts. Which of several numbers counts is decided elsewhere.

use quipu_event::payload::{TokenCounts, Usage, UsageScope};

use crate::value::Fields;

/// Returns what a message's `usage` counts.
pub(super) fn message_counts(usage: &Fields<'_>) -> TokenCounts {
    let (input, output) = (usage.count("input_tokens"), usage.count("output_tokens"));
    let written = usage.count("cache_creation_input_tokens");
    // Older agents left the sum at 0 and filled in the parts only. Where every sum is 0 nothing
    // is to be counted, whatever the parts say.
    let is_counted = input.max(output) > Some(0);
    let parts = || {
        let parts = usage.fields("cache_creation").filter(|_| is_counted)?;
        let durations = ["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"];
        durations.iter().filter_map(|key| parts.count(key)).reduce(u64::saturating_add)
    };
    let details = usage.fields("output_tokens_details");
    TokenCounts {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: usage.count("cache_read_input_tokens"),
        cache_write_tokens: written.filter(|tokens| *tokens > 0).or_else(parts).or(written),
        reasoning_tokens: details.and_then(|details| details.count("thinking_tokens")),
        cost_usd: None,
    }
}

/// Returns what `modelUsage` counts for one model.
pub(super) fn model_counts(usage: &Fields<'_>) -> TokenCounts {
    let counted = |camel: &str, snake: &str| usage.count(camel).or_else(|| usage.count(snake));
    TokenCounts {
        input_tokens: counted("inputTokens", "input_tokens"),
        output_tokens: counted("outputTokens", "output_tokens"),
        cache_read_tokens: counted("cacheReadInputTokens", "cache_read_input_tokens"),
        cache_write_tokens: counted("cacheCreationInputTokens", "cache_creation_input_tokens"),
        reasoning_tokens: counted("thinkingTokens", "thinking_tokens"),
        cost_usd: usage.number("costUSD").or_else(|| usage.number("cost_usd")),
    }
}

/// Returns `now` without what is in `before`.
pub(super) fn difference(now: &TokenCounts, before: &TokenCounts) -> TokenCounts {
    let less = |now: Option<u64>, before: Option<u64>| {
        now.map(|now| now.saturating_sub(before.unwrap_or(0)))
    };
    TokenCounts {
        input_tokens: less(now.input_tokens, before.input_tokens),
        output_tokens: less(now.output_tokens, before.output_tokens),
        cache_read_tokens: less(now.cache_read_tokens, before.cache_read_tokens),
        cache_write_tokens: less(now.cache_write_tokens, before.cache_write_tokens),
        reasoning_tokens: less(now.reasoning_tokens, before.reasoning_tokens),
        cost_usd: now.cost_usd.map(|now| cost_without(now, before.cost_usd.unwrap_or(0.0))),
    }
}

/// Returns the cost `now` without what is in `before`.
pub(super) fn cost_without(now: f64, before: f64) -> f64 {
    // What is as it was given stays so.
    if before == 0.0 { now } else { rounded(now - before).max(0.0) }
}

/// Returns a cost that was reckoned without the dust that reckoning in binary leaves.
pub(super) fn rounded(cost: f64) -> f64 {
    const PARTS: f64 = 1e9;
    (cost * PARTS).round() / PARTS
}

/// Makes a usage of `counts`.
pub(super) fn usage_of(counts: &TokenCounts, model: Option<String>, scope: UsageScope) -> Usage {
    Usage {
        model,
        input_tokens: counts.input_tokens,
        output_tokens: counts.output_tokens,
        cache_read_tokens: counts.cache_read_tokens,
        cache_write_tokens: counts.cache_write_tokens,
        reasoning_tokens: counts.reasoning_tokens,
        scope: Some(scope),
        message_id: None,
        cost_usd: counts.cost_usd,
    }
}

/// Takes over every number that `newer` gives.
pub(super) fn overlay(counts: &mut TokenCounts, newer: &TokenCounts) {
    *counts = TokenCounts {
        input_tokens: newer.input_tokens.or(counts.input_tokens),
        output_tokens: newer.output_tokens.or(counts.output_tokens),
        cache_read_tokens: newer.cache_read_tokens.or(counts.cache_read_tokens),
        cache_write_tokens: newer.cache_write_tokens.or(counts.cache_write_tokens),
        reasoning_tokens: newer.reasoning_tokens.or(counts.reasoning_tokens),
        cost_usd: newer.cost_usd.or(counts.cost_usd),
    };
}
