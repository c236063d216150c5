//! What a response cost, in the dialects of everybody who speaks these interfaces.
//!
//! Prompts include what was cached. Reasoning is part of the completion for most and beside it
//! for some; the total tells which.

use quipu_event::payload::{Usage, UsageScope};

use crate::value::Fields;

/// So many of xAI's ticks are a dollar.
const TICKS: f64 = 1e10;

/// Reads a `usage` object of either interface.
pub(crate) fn usage(fields: &Fields<'_>) -> Usage {
    let count = |keys: &[&str]| keys.iter().find_map(|key| fields.count(key));
    let input = count(&["prompt_tokens", "input_tokens"]);
    let output = count(&["completion_tokens", "output_tokens"]);
    let input_details = details(fields, &["prompt_tokens_details", "input_tokens_details"]);
    let output_details = details(fields, &["completion_tokens_details", "output_tokens_details"]);
    let cache_read = input_details
        .count("cached_tokens")
        .or_else(|| count(&["prompt_cache_hit_tokens", "cached_tokens"]));
    let cache_write = input_details
        .count("cache_write_tokens")
        .or_else(|| input_details.count("cache_creation_tokens"))
        .or_else(|| count(&["cache_creation_input_tokens"]));
    let reasoning =
        output_details.count("reasoning_tokens").or_else(|| count(&["reasoning_tokens"]));
    let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
    Usage {
        input_tokens: input.map(|input| input.saturating_sub(cached)),
        output_tokens: output.map(|output| {
            output.saturating_add(outside(input, output, reasoning, fields.count("total_tokens")))
        }),
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        reasoning_tokens: reasoning,
        scope: Some(UsageScope::Message),
        cost_usd: cost(fields),
        ..Usage::default()
    }
}

/// Returns the reasoning that is not part of the output.
fn outside(input: Option<u64>, output: u64, reasoning: Option<u64>, total: Option<u64>) -> u64 {
    let (Some(input), Some(reasoning), Some(total)) = (input, reasoning, total) else { return 0 };
    let inside = input.saturating_add(output);
    if total != inside && total == inside.saturating_add(reasoning) { reasoning } else { 0 }
}

fn details<'a>(fields: &Fields<'a>, keys: &[&str]) -> Fields<'a> {
    keys.iter().find_map(|key| fields.fields(key)).unwrap_or_default()
}

fn cost(fields: &Fields<'_>) -> Option<f64> {
    let ticks = || fields.number("cost_in_usd_ticks").map(|ticks| ticks / TICKS);
    fields.number("cost").or_else(ticks).filter(|cost| cost.is_finite())
}
