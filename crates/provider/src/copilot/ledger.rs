//! What the session cost, counted once.
//!
//! Tokens are told in up to three places, and they overlap: each message names its output, newer
//! files have a `session.usage_record` for every model call, and a shutdown sums up per model. The
//! sum of old versions covers the time since the last start or resume; that of versions which keep
//! records covers the whole file. What has been put is subtracted, so that a sum only adds what
//! no record told. A compaction's own tokens are in none of the sums and are left to its facts.

use std::collections::{BTreeMap, HashSet};

use quipu_event::payload::{TokenCounts, Usage, UsageScope};

use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

use super::wire;

/// The account of one input.
#[derive(Default)]
pub(super) struct Ledger {
    /// What messages have named and a shutdown may still sum up.
    held: Vec<(Stamp, Usage)>,
    /// What has been put since the last shutdown, by model.
    segment: BTreeMap<String, TokenCounts>,
    /// What has been put at all, by model.
    whole: BTreeMap<String, TokenCounts>,
    /// Records that have been counted.
    records: HashSet<String>,
    /// Model calls whose output was put with their message.
    outputs: HashSet<String>,
    /// Whether model calls are recorded one by one.
    has_records: bool,
}

impl Ledger {
    /// Reads the usage of one model call; nothing if it has been counted before.
    pub(super) fn record(&mut self, data: &Fields<'_>) -> Option<(Option<String>, Usage)> {
        let counts = data.fields("usage").unwrap_or_else(|| data.clone());
        let api_call = counts.string("apiCallId");
        let accounting = counts.fields("accounting").unwrap_or_default();
        if let Some(id) = accounting.text("usageId").or_else(|| counts.text("apiCallId")) {
            let sequence = accounting.count("sequence");
            if !self.records.insert(format!("{id}/{sequence:?}")) {
                return None;
            }
        }
        self.has_records = true;
        let mut usage = wire::usage(&counts, UsageScope::Message);
        if api_call.as_ref().is_some_and(|call| self.outputs.contains(call)) {
            usage.output_tokens = None;
        }
        self.count(&usage);
        Some((api_call, usage))
    }

    /// Takes the output that a message names, to be put with the message if nothing better comes.
    pub(super) fn message_output(
        &mut self,
        data: &Fields<'_>,
        model: Option<String>,
    ) -> Option<Usage> {
        let output_tokens = Some(data.count("outputTokens")?);
        if self.has_records {
            return None;
        }
        self.outputs.extend(data.string("apiCallId"));
        let (message_id, scope) = (data.string("messageId"), Some(UsageScope::Message));
        Some(Usage { model, output_tokens, scope, message_id, ..Usage::default() })
    }

    /// Keeps the usage of a message until it is known whether a shutdown sums it up.
    pub(super) fn hold(&mut self, stamp: Stamp, usage: Usage) {
        // Nobody has put it, so a record that comes late may still name it.
        self.outputs.clear();
        self.held.push((stamp, usage));
    }

    /// Puts what was kept, as nothing sums it up.
    pub(super) fn put_held(&mut self, out: &mut Outbox<'_>) {
        for (stamp, usage) in std::mem::take(&mut self.held) {
            self.count(&usage);
            out.usage(&stamp, &usage);
        }
    }

    /// Takes a shutdown: puts what it sums up and nobody has told before.
    pub(super) fn shutdown(&mut self, stamp: &Stamp, data: &Fields<'_>, out: &mut Outbox<'_>) {
        let covers_all = data.has("usageAccountingWatermarks") || data.has("accountingSnapshot");
        let metrics = data.fields("modelMetrics").unwrap_or_default();
        let mut has_sums = false;
        for (model, metric) in metrics.iter() {
            let Some(counts) = metric.fields().and_then(|metric| metric.fields("usage")) else {
                continue;
            };
            has_sums = true;
            let sum = Usage {
                model: Some(model.to_owned()),
                ..wire::usage(&counts, UsageScope::Session)
            };
            let told = if covers_all { self.whole.get(model) } else { self.segment.get(model) };
            let rest = match told {
                Some(told) => rest(sum, told),
                None => Some(sum),
            };
            if let Some(rest) = rest {
                self.count(&rest);
                out.usage(stamp, &rest);
            }
        }
        if has_sums || self.has_records {
            self.held.clear();
        }
        self.put_held(out);
        self.segment.clear();
    }

    fn count(&mut self, usage: &Usage) {
        let Some(model) = &usage.model else { return };
        self.segment.entry(model.clone()).or_default().add(&usage.tokens());
        self.whole.entry(model.clone()).or_default().add(&usage.tokens());
    }
}

/// Returns what `sum` has beyond what has been `told`, if there is anything.
fn rest(sum: Usage, told: &TokenCounts) -> Option<Usage> {
    let beyond = |sum: Option<u64>, told: Option<u64>| {
        sum.map(|sum| sum.saturating_sub(told.unwrap_or(0))).filter(|rest| *rest > 0)
    };
    let rest = Usage {
        input_tokens: beyond(sum.input_tokens, told.input_tokens),
        output_tokens: beyond(sum.output_tokens, told.output_tokens),
        cache_read_tokens: beyond(sum.cache_read_tokens, told.cache_read_tokens),
        cache_write_tokens: beyond(sum.cache_write_tokens, told.cache_write_tokens),
        reasoning_tokens: beyond(sum.reasoning_tokens, told.reasoning_tokens),
        ..sum
    };
    (!rest.tokens().is_empty()).then_some(rest)
}
