//! What a live run says it cost: each of its results, without what earlier ones covered.
//!
//! Within a process `modelUsage` and `total_cost_usd` go on growing from result to result, and a
//! resumed session starts where the last one ended; `usage` covers one turn of the main agent.

use std::collections::BTreeMap;

use quipu_event::payload::{TokenCounts, Usage, UsageScope};

use super::counts::{difference, message_counts, model_counts, usage_of};
use crate::value::Fields;

/// The account of one input.
#[derive(Default)]
pub(super) struct Account {
    session: Option<String>,
    /// The last totals by model.
    totals: BTreeMap<String, TokenCounts>,
    total_cost: f64,
    /// What all results cost together.
    pub(super) cost_usd: Option<f64>,
}

impl Account {
    /// Returns what a result adds: by model, or all together if it does not say; and its cost.
    pub(super) fn take(
        &mut self,
        result: &Fields<'_>,
        main_model: Option<&str>,
    ) -> (Vec<Usage>, Option<f64>) {
        let session = result.string("session_id");
        if session != self.session {
            *self = Account { session, cost_usd: self.cost_usd, ..Account::default() };
        }
        let mut usages = self.by_model(result);
        if usages.is_empty()
            && let Some(turn) = result.fields("usage").map(|usage| message_counts(&usage))
            && turn.total().unwrap_or(0) > 0
        {
            usages.push(usage_of(&turn, main_model.map(str::to_owned), UsageScope::Session));
        }
        let cost = self.add_cost(result, &mut usages);
        (usages, cost)
    }

    fn by_model(&mut self, result: &Fields<'_>) -> Vec<Usage> {
        let totals = models(result, "modelUsage").or_else(|| models(result, "model_usage"));
        let totals = totals.unwrap_or_default();
        let since = models(result, "model_usage_since_last_result");
        let added = since.unwrap_or_else(|| self.since(&totals));
        self.totals.extend(totals);
        let used = added.into_iter().filter(|(_, counts)| counts.total().unwrap_or(0) > 0);
        used.map(|(model, counts)| usage_of(&counts, Some(model), UsageScope::Session)).collect()
    }

    /// Returns `totals` without the last ones, if they go on from them.
    fn since(&self, totals: &[(String, TokenCounts)]) -> Vec<(String, TokenCounts)> {
        let goes_on = totals.iter().all(|(model, counts)| {
            let before = self.totals.get(model).and_then(TokenCounts::total);
            before <= counts.total()
        });
        let none = TokenCounts::default();
        let added = totals.iter().map(|(model, counts)| {
            let before = self.totals.get(model).filter(|_| goes_on).unwrap_or(&none);
            (model.clone(), difference(counts, before))
        });
        added.collect()
    }

    /// Counts the cost: as the models' own, or on the first usage if only a total is given.
    fn add_cost(&mut self, result: &Fields<'_>, usages: &mut [Usage]) -> Option<f64> {
        let total = result.number("total_cost_usd").or_else(|| result.number("total_cost"));
        let before = if total >= Some(self.total_cost) { self.total_cost } else { 0.0 };
        let added = total.map(|total| total - before);
        self.total_cost = total.unwrap_or(self.total_cost);
        let by_model = usages.iter().filter_map(|usage| usage.cost_usd).reduce(|a, b| a + b);
        if let (None, Some(usage)) = (by_model, usages.first_mut()) {
            usage.cost_usd = added;
        }
        let cost = by_model.or(added)?;
        self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost);
        Some(cost)
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
