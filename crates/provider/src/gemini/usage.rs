//! Gemini's token counts in our terms.
//!
//! Gemini counts cached input as input, and thoughts neither as input nor as output. What tools
//! put into a prompt is counted beside the prompt.

use quipu_event::payload::{Usage, UsageScope};

use crate::value::Fields;

/// Reads `tokens` of a message in a chat.
pub(super) fn of_message(tokens: &Fields<'_>) -> Usage {
    let (input, tool) = (tokens.count("input"), tokens.count("tool"));
    let cached = tokens.count("cached");
    let thoughts = tokens.count("thoughts");
    Usage {
        input_tokens: less(sum(input, tool), cached),
        cache_read_tokens: cached,
        output_tokens: sum(tokens.count("output"), thoughts),
        reasoning_tokens: thoughts,
        scope: Some(UsageScope::Message),
        ..Usage::default()
    }
}

/// Reads the statistics of one model, or of all, in a `result` of the stream.
///
/// Thoughts are what is missing to the total. Nothing is returned if nothing was used.
pub(super) fn of_result(stats: &Fields<'_>) -> Option<Usage> {
    let prompt = stats.count("input_tokens");
    let cached = stats.count("cached");
    let output = stats.count("output_tokens");
    let known = sum(prompt, output);
    let thoughts = stats.count("total_tokens").zip(known);
    let thoughts = thoughts.and_then(|(total, known)| total.checked_sub(known));
    let thoughts = thoughts.filter(|thoughts| *thoughts > 0);
    let usage = Usage {
        input_tokens: stats.count("input").or_else(|| less(prompt, cached)),
        cache_read_tokens: cached,
        output_tokens: sum(output, thoughts),
        reasoning_tokens: thoughts,
        scope: Some(UsageScope::Turn),
        ..Usage::default()
    };
    is_used(usage)
}

/// Reads `tokens` of one model in the report of a whole run.
pub(super) fn of_report(tokens: &Fields<'_>) -> Option<Usage> {
    let cached = tokens.count("cached");
    let thoughts = tokens.count("thoughts");
    let input = tokens.count("input").or_else(|| less(tokens.count("prompt"), cached));
    let usage = Usage {
        input_tokens: sum(input, tokens.count("tool")),
        cache_read_tokens: cached,
        output_tokens: sum(tokens.count("candidates"), thoughts),
        reasoning_tokens: thoughts,
        scope: Some(UsageScope::Session),
        ..Usage::default()
    };
    is_used(usage)
}

/// A model that was not reached at all has only zeros.
fn is_used(usage: Usage) -> Option<Usage> {
    usage.tokens().total().is_some_and(|total| total > 0).then_some(usage)
}

fn sum(first: Option<u64>, second: Option<u64>) -> Option<u64> {
    [first, second].into_iter().flatten().reduce(u64::saturating_add)
}

fn less(whole: Option<u64>, part: Option<u64>) -> Option<u64> {
    Some(whole?.saturating_sub(part.unwrap_or(0)))
}
