//! What a thread costs, each response once.
//!
//! Every response is reported with a running total, often more than once: a report whose total
//! has not moved says nothing new. It knows nothing of prices.

use quipu_event::payload::{Usage, UsageScope};

use super::wire::Tokens;
use crate::value::Fields;

/// How far the count has come.
#[derive(Default)]
pub(super) struct TokenLedger {
    total: Option<Tokens>,
    /// Newer versions write a record of each response as it ends, and repeat it as an event.
    has_records: bool,
}

impl TokenLedger {
    /// Takes the `info` of a `token_count` event; returns what is new in it.
    pub(super) fn take_event(&mut self, info: &Fields<'_>) -> Option<Tokens> {
        let total = info.fields("total_token_usage").map(|usage| Tokens::read(&usage));
        let last = info.fields("last_token_usage").map(|usage| Tokens::read(&usage));
        let new = self.advance(total, last)?;
        (!self.has_records).then_some(new)
    }

    /// Takes a `token_usage_record`; returns what is new in it.
    pub(super) fn take_record(&mut self, record: &Fields<'_>) -> Option<Tokens> {
        let total = record.fields("thread_token_usage").map(|usage| Tokens::read(&usage));
        let last = record.fields("usage").map(|usage| Tokens::read(&usage));
        self.has_records |= last.is_some();
        self.advance(total, last)
    }

    /// Moves the total; returns what it moved by, or nothing if it stood still.
    fn advance(&mut self, total: Option<Tokens>, last: Option<Tokens>) -> Option<Tokens> {
        if total.is_some() && total == self.total {
            return None;
        }
        let before = self.total.unwrap_or_default();
        self.total = total.or(self.total);
        last.or_else(|| total.map(|total| difference(total, before)))
    }
}

fn difference(after: Tokens, before: Tokens) -> Tokens {
    let less = |after: Option<u64>, before: Option<u64>| {
        after.map(|after| after.saturating_sub(before.unwrap_or(0)))
    };
    Tokens {
        input: less(after.input, before.input),
        cached: less(after.cached, before.cached),
        cache_write: less(after.cache_write, before.cache_write),
        output: less(after.output, before.output),
        reasoning: less(after.reasoning, before.reasoning),
        total: less(after.total, before.total),
    }
}

/// Says tokens in our own terms: input without what the cache gave or took.
pub(super) fn usage(tokens: Tokens, model: Option<&str>) -> Usage {
    let cache = tokens.cached.unwrap_or(0).saturating_add(tokens.cache_write.unwrap_or(0));
    Usage {
        model: model.map(str::to_owned),
        input_tokens: tokens.input.map(|input| input.saturating_sub(cache)),
        output_tokens: tokens.output,
        cache_read_tokens: tokens.cached,
        cache_write_tokens: tokens.cache_write,
        reasoning_tokens: tokens.reasoning,
        scope: Some(UsageScope::Message),
        ..Usage::default()
    }
}
