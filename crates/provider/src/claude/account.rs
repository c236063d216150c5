//! What a live run says it cost: each of its results, without what earlier ones covered.
//!
//! Within a process `modelUsage` and `total_cost_usd` go on growing from result to result, and a
//! resumed session starts where the last one ended; `usage` covers one turn of the main agent.
//! Sessions may mix in one input, so each has its own totals.

use std::collections::{BTreeMap, HashMap};

use quipu_event::payload::{TokenCounts, Usage, UsageScope};

use super::counts::{cost_without, difference, message_counts, model_counts, rounded, usage_of};
use crate::value::Fields;

/// The account of one input.
#[derive(Default)]
pub(super) struct Account {
    /// The last totals of each session.
    ledgers: HashMap<Option<String>, Ledger>,
    /// What all results cost together.
    pub(super) cost_usd: Option<f64>,
}

/// What a result adds to the account.
pub(super) struct Bill {
    /// By model, or all together if the result does not say.
    pub(super) usages: Vec<Usage>,
    pub(super) cost_usd: Option<f64>,
    /// Whether it counts tokens, and so covers the messages before it.
    pub(super) counts_tokens: bool,
}

/// The last totals of one session.
#[derive(Default)]
struct Ledger {
    by_model: BTreeMap<String, TokenCounts>,
    cost_usd: f64,
}

impl Account {
    /// Returns what a result of `session` adds, whose main agent speaks with `model`.
    pub(super) fn take(
        &mut self,
        result: &Fields<'_>,
        session: Option<&str>,
        model: Option<&str>,
    ) -> Bill {
        let ledger = self.ledgers.entry(session.map(str::to_owned)).or_default();
        let bill = ledger.take(result, model);
        if let Some(cost) = bill.cost_usd {
            self.cost_usd = Some(self.cost_usd.map_or(cost, |before| rounded(before + cost)));
        }
        bill
    }
}

impl Ledger {
    fn take(&mut self, result: &Fields<'_>, model: Option<&str>) -> Bill {
        let mut usages = self.by_model(result);
        if usages.is_empty()
            && let Some(turn) = result.fields("usage").map(|usage| message_counts(&usage))
            && turn.total().unwrap_or(0) > 0
        {
            usages.push(usage_of(&turn, model.map(str::to_owned), UsageScope::Session));
        }
        let counts_tokens = !usages.is_empty();
        let added = self.add_cost(result);
        let by_model = usages.iter().filter_map(|usage| usage.cost_usd);
        let by_model = by_model.reduce(|a, b| rounded(a + b));
        if by_model.is_none() {
            put_cost(&mut usages, added, model);
        }
        Bill { usages, cost_usd: by_model.or(added), counts_tokens }
    }

    fn by_model(&mut self, result: &Fields<'_>) -> Vec<Usage> {
        let totals = models(result, "modelUsage").or_else(|| models(result, "model_usage"));
        let totals = totals.unwrap_or_default();
        let since = models(result, "model_usage_since_last_result");
        let added = since.unwrap_or_else(|| self.since(&totals));
        self.by_model.extend(totals);
        let used = added.into_iter().filter(|(_, counts)| counts.total().unwrap_or(0) > 0);
        used.map(|(model, counts)| usage_of(&counts, Some(model), UsageScope::Session)).collect()
    }

    /// Returns `totals` without the last ones, if they go on from them.
    fn since(&self, totals: &[(String, TokenCounts)]) -> Vec<(String, TokenCounts)> {
        let goes_on = totals.iter().all(|(model, counts)| {
            let before = self.by_model.get(model).and_then(TokenCounts::total);
            before <= counts.total()
        });
        let none = TokenCounts::default();
        let added = totals.iter().map(|(model, counts)| {
            let before = self.by_model.get(model).filter(|_| goes_on).unwrap_or(&none);
            (model.clone(), difference(counts, before))
        });
        added.collect()
    }

    /// Returns what is new in the total cost, if one is given.
    fn add_cost(&mut self, result: &Fields<'_>) -> Option<f64> {
        let total = result.number("total_cost_usd").or_else(|| result.number("total_cost"))?;
        let before = if total >= self.cost_usd { self.cost_usd } else { 0.0 };
        self.cost_usd = total;
        Some(cost_without(total, before))
    }
}

/// Puts a cost that is not divided by model on the first usage, or on one of its own.
fn put_cost(usages: &mut Vec<Usage>, cost_usd: Option<f64>, model: Option<&str>) {
    if usages.is_empty() && cost_usd > Some(0.0) {
        let none = TokenCounts::default();
        usages.push(usage_of(&none, model.map(str::to_owned), UsageScope::Session));
    }
    if let Some(usage) = usages.first_mut() {
        usage.cost_usd = cost_usd;
    }
}

/// Returns the model of a result that names only one.
pub(super) fn only_model(result: &Fields<'_>) -> Option<String> {
    let models = models(result, "modelUsage").unwrap_or_default();
    <[_; 1]>::try_from(models).ok().map(|[(model, _)]| model)
}

fn models(result: &Fields<'_>, key: &str) -> Option<Vec<(String, TokenCounts)>> {
    let models = result.fields(key)?;
    let counts = models.iter().filter_map(|(model, usage)| {
        let usage = usage.fields()?;
        Some((model.to_owned(), model_counts(&usage)))
    });
    Some(counts.collect())
}
