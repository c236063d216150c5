//! Running totals of tokens, reduced to what each report adds.
//!
//! Codex reports the sum over its whole thread, again and again. The same sum twice adds nothing.

use quipu_event::payload::{Usage, UsageScope};

use super::either;
use crate::value::Fields;

/// The tokens of one report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::codex) struct Totals {
    /// All input, cached or not.
    input: Option<u64>,
    cached: Option<u64>,
    written: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
}

impl Totals {
    /// Reads a report in either spelling.
    pub(in crate::codex) fn read(fields: &Fields<'_>) -> Self {
        let count = |snake, camel| either(fields, snake, camel)?.count();
        Totals {
            input: count("input_tokens", "inputTokens"),
            cached: count("cached_input_tokens", "cachedInputTokens"),
            written: count("cache_write_input_tokens", "cacheWriteInputTokens"),
            output: count("output_tokens", "outputTokens"),
            reasoning: count("reasoning_output_tokens", "reasoningOutputTokens"),
        }
    }

    fn since(&self, before: &Totals) -> Self {
        let less =
            |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then.unwrap_or(0)));
        Totals {
            input: less(self.input, before.input),
            cached: less(self.cached, before.cached),
            written: less(self.written, before.written),
            output: less(self.output, before.output),
            reasoning: less(self.reasoning, before.reasoning),
        }
    }

    fn is_less_than(&self, before: &Totals) -> bool {
        self.input < before.input || self.output < before.output
    }

    fn is_nothing(&self) -> bool {
        let all = [self.input, self.cached, self.written, self.output, self.reasoning];
        all.iter().all(|count| count.unwrap_or(0) == 0)
    }

    /// Makes the usage that these numbers are.
    pub(super) fn usage(&self, scope: UsageScope, model: Option<String>) -> Usage {
        let cached = self.cached.unwrap_or(0).saturating_add(self.written.unwrap_or(0));
        Usage {
            model,
            input_tokens: self.input.map(|input| input.saturating_sub(cached)),
            output_tokens: self.output,
            cache_read_tokens: self.cached,
            cache_write_tokens: self.written,
            reasoning_tokens: self.reasoning,
            scope: Some(scope),
            ..Usage::default()
        }
    }
}

/// The running total of one thread.
#[derive(Default)]
pub(in crate::codex) struct Meter {
    before: Option<Totals>,
    /// Whether the thread had a past before this input.
    pub(in crate::codex) has_past: bool,
}

impl Meter {
    /// Takes a total that was spent before.
    pub(in crate::codex) fn begin_at(&mut self, total: Totals) {
        self.before = Some(total);
    }

    /// Takes a report and returns what it adds, unless that is nothing.
    pub(in crate::codex) fn take(
        &mut self,
        total: Totals,
        last: Option<Totals>,
        scope: UsageScope,
        model: Option<String>,
    ) -> Option<Usage> {
        let added = match self.before.replace(total) {
            // Of a thread with a past the first total is not all of this input's making, and a
            // total that has shrunk was counted anew.
            None if self.has_past => last.unwrap_or(total),
            None => total,
            Some(before) if total.is_less_than(&before) => last.unwrap_or(total),
            Some(before) => total.since(&before),
        };
        (!added.is_nothing()).then(|| added.usage(scope, model))
    }
}
