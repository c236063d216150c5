//! What turns cost.
//!
//! The protocol does not say whether a turn's usage is the turn's or the session's so far, nor
//! whether input includes what was cached. The first is told by the agent's name or by a total
//! that stands still; the second by the total that the agent itself names.

use quipu_event::payload::{TokenCounts, Usage, UsageScope};

use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

/// The account of one input.
#[derive(Default)]
pub(super) struct Account {
    /// Whether the agent counts on from turn to turn.
    pub(super) is_cumulative: bool,
    /// The model, when the session has one.
    pub(super) model: Option<String>,
    /// What the last turn said.
    last: Option<TokenCounts>,
    /// Whether the turn at hand has been accounted for.
    is_told: bool,
}

/// Ticks of a cost that one dollar has.
const TICKS_PER_USD: f64 = 1e10;

impl Account {
    /// Begins a turn.
    pub(super) fn begin_turn(&mut self) {
        self.is_told = false;
    }

    /// Takes the answer to a prompt.
    pub(super) fn take_answer(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, answer: &Fields<'_>) {
        if let Some(usage) = answer.fields("usage") {
            return self.take_counts(out, stamp, &usage);
        }
        let quota = answer.fields("_meta").and_then(|meta| meta.fields("quota"));
        let Some(quota) = quota.filter(|_| !self.is_told) else { return };
        self.is_told = true;
        for entry in quota.items("model_usage").into_iter().filter_map(|entry| entry.fields()) {
            let counts = entry.fields("token_count").unwrap_or_default();
            let usage = Usage {
                model: entry.string("model"),
                input_tokens: counts.count("input_tokens"),
                output_tokens: counts.count("output_tokens"),
                scope: Some(UsageScope::Turn),
                ..Usage::default()
            };
            out.usage(stamp, &usage);
        }
    }

    /// Takes the usage of a turn, once; by model if it is told so.
    pub(super) fn take_counts(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, counts: &Fields<'_>) {
        if std::mem::replace(&mut self.is_told, true) {
            return;
        }
        let models = counts.fields("modelUsage").unwrap_or_default();
        let mut has_models = false;
        for (model, counts) in models.iter() {
            let Some(counts) = counts.fields() else { continue };
            has_models = true;
            out.usage(stamp, &usage(&counts, Some(model.to_owned())));
        }
        if has_models {
            return;
        }
        let total = usage(counts, self.model.clone());
        let last = self.last.replace(total.tokens());
        self.is_cumulative |= last == Some(total.tokens());
        let turn = match last.filter(|_| self.is_cumulative) {
            Some(last) => beyond(total, &last),
            None => total,
        };
        if !turn.tokens().is_empty() {
            out.usage(stamp, &turn);
        }
    }
}

fn usage(counts: &Fields<'_>, model: Option<String>) -> Usage {
    let number = |keys: [&str; 2]| keys.iter().find_map(|key| counts.count(key));
    let input = counts.count("inputTokens");
    let output = counts.count("outputTokens");
    let thought = number(["thoughtTokens", "reasoningTokens"]);
    let read = counts.count("cachedReadTokens");
    let write = number(["cachedWriteTokens", "cacheCreationTokens"]);
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    let sum = |parts: [u64; 2]| parts.into_iter().fold(spent(input, output), u64::saturating_add);
    let total = counts.count("totalTokens");
    // The least that makes up the total is what the agent counts apart.
    let thoughts = thought.unwrap_or(0);
    let ways = [(false, false), (true, false), (false, true), (true, true)];
    let (cache_apart, thought_apart) = ways
        .into_iter()
        .find(|(cache, thought)| {
            let parts = [if *cache { cached } else { 0 }, if *thought { thoughts } else { 0 }];
            total == Some(sum(parts))
        })
        .unwrap_or((false, false));
    Usage {
        model,
        input_tokens: input
            .map(|input| if cache_apart { input } else { input.saturating_sub(cached) }),
        output_tokens: output
            .map(|output| if thought_apart { output.saturating_add(thoughts) } else { output }),
        cache_read_tokens: read,
        cache_write_tokens: write,
        reasoning_tokens: thought,
        scope: Some(UsageScope::Turn),
        cost_usd: counts.number("costUsdTicks").map(|ticks| ticks / TICKS_PER_USD),
        ..Usage::default()
    }
}

fn spent(input: Option<u64>, output: Option<u64>) -> u64 {
    input.unwrap_or(0).saturating_add(output.unwrap_or(0))
}

/// Returns what `total` has beyond `last`.
fn beyond(total: Usage, last: &TokenCounts) -> Usage {
    let rest = |total: Option<u64>, last: Option<u64>| {
        total.map(|total| total.saturating_sub(last.unwrap_or(0))).filter(|rest| *rest > 0)
    };
    Usage {
        input_tokens: rest(total.input_tokens, last.input_tokens),
        output_tokens: rest(total.output_tokens, last.output_tokens),
        cache_read_tokens: rest(total.cache_read_tokens, last.cache_read_tokens),
        cache_write_tokens: rest(total.cache_write_tokens, last.cache_write_tokens),
        reasoning_tokens: rest(total.reasoning_tokens, last.reasoning_tokens),
        ..total
    }
}
