//! A comparison as JSON.

use std::collections::BTreeMap;

use quipu_event::RunId;
use quipu_event::payload::TokenCounts;
use serde::{Serialize, Serializer};

use super::compare::{Comparison, Difference, earliest};
use super::item::Item;
use super::outline::GroupKey;

/// All comparisons of two runs and of the runs they called, on their way to a reader.
pub struct Report<'a>(pub &'a [Comparison]);

impl<'a> Report<'a> {
    /// Tells whether nothing differs.
    pub fn is_equal(&self) -> bool {
        self.0.iter().all(Comparison::is_equal)
    }

    /// Returns where the runs part first: the comparison, and the difference.
    pub fn first(&self) -> Option<(&'a Comparison, &'a Difference)> {
        let comparison = earliest(self.0)?;
        Some((comparison, comparison.first()?))
    }

    /// Returns it as JSON; `texts` are what both runs said where they part first.
    pub fn to_json(&self, texts: Option<&(String, String)>) -> serde_json::Value {
        let first = self.first().map(|(comparison, difference)| FirstWire {
            called_at: &comparison.called_at,
            difference: DifferenceWire::of(difference),
            a_said: texts.map(|texts| &*texts.0),
            b_said: texts.map(|texts| &*texts.1),
        });
        let report = ReportWire { equal: self.is_equal(), first_divergence: first, runs: self.0 };
        // Every key is text and every number finite, so there is nothing to fail.
        serde_json::to_value(&report).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct ReportWire<'a> {
    equal: bool,
    first_divergence: Option<FirstWire<'a>>,
    runs: &'a [Comparison],
}

#[derive(Serialize)]
struct FirstWire<'a> {
    called_at: &'a [String],
    #[serde(flatten)]
    difference: DifferenceWire<'a>,
    a_said: Option<&'a str>,
    b_said: Option<&'a str>,
}

impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ComparisonWire {
            called_at: &self.called_at,
            equal: self.is_equal(),
            run_ids: Both::of(&self.runs),
            names: Both::of(&self.names),
            statuses: Both::of(&self.statuses),
            duration_ms: Both::of(&self.durations),
            same: self.same,
            differences: self.differences.iter().map(DifferenceWire::of).collect(),
            tokens: self.tokens.iter().map(|(model, both)| (&**model, Both::of(both))).collect(),
            tools: self.tools.iter().map(|(tool, both)| (&**tool, Both::of(both))).collect(),
            steps: self
                .steps
                .iter()
                .map(|step| StepWire {
                    step: KeyWire::of(&step.step),
                    a_duration_ms: step.a_ms,
                    b_duration_ms: step.b_ms,
                })
                .collect(),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct ComparisonWire<'a> {
    called_at: &'a [String],
    equal: bool,
    run_ids: Both<'a, RunId>,
    names: Both<'a, Option<String>>,
    statuses: Both<'a, Option<String>>,
    duration_ms: Both<'a, u64>,
    same: u64,
    differences: Vec<DifferenceWire<'a>>,
    tokens: BTreeMap<&'a str, Both<'a, TokenCounts>>,
    tools: BTreeMap<&'a str, Both<'a, u64>>,
    steps: Vec<StepWire<'a>>,
}

/// The same thing in the first run and in the second.
#[derive(Serialize)]
struct Both<'a, T> {
    a: &'a T,
    b: &'a T,
}

impl<'a, T> Both<'a, T> {
    fn of((a, b): &'a (T, T)) -> Self {
        Both { a, b }
    }
}

#[derive(Serialize)]
struct StepWire<'a> {
    #[serde(flatten)]
    step: KeyWire<'a>,
    a_duration_ms: Option<u64>,
    b_duration_ms: Option<u64>,
}

#[derive(Serialize)]
struct KeyWire<'a> {
    path: &'a str,
    attempt: u32,
    #[serde(skip_serializing_if = "is_first")]
    visit: u32,
    #[serde(skip_serializing_if = "is_main")]
    subagent: u32,
}

impl<'a> KeyWire<'a> {
    fn of(key: &'a GroupKey) -> Self {
        let GroupKey { path, attempt, visit, subagent } = key;
        KeyWire { path, attempt: *attempt, visit: *visit, subagent: *subagent }
    }
}

fn is_first(visit: &u32) -> bool {
    *visit <= 1
}

fn is_main(subagent: &u32) -> bool {
    *subagent == 0
}

#[derive(Serialize)]
struct DifferenceWire<'a> {
    #[serde(flatten)]
    step: KeyWire<'a>,
    change: &'static str,
    what: &'static str,
    name: &'a str,
    a: Option<ItemWire<'a>>,
    b: Option<ItemWire<'a>>,
}

impl<'a> DifferenceWire<'a> {
    fn of(difference: &'a Difference) -> Self {
        let one = difference.a.as_ref().or(difference.b.as_ref());
        DifferenceWire {
            step: KeyWire::of(&difference.step),
            change: difference.change.word(),
            what: one.map_or("", |item| item.what.word()),
            name: one.map_or("", |item| &item.name),
            a: difference.a.as_ref().map(ItemWire::of),
            b: difference.b.as_ref().map(ItemWire::of),
        }
    }
}

#[derive(Serialize)]
struct ItemWire<'a> {
    seq: u64,
    excerpt: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a str>,
}

impl<'a> ItemWire<'a> {
    fn of(item: &'a Item) -> Self {
        let outcome = item.outcome_excerpt.as_deref();
        ItemWire { seq: item.seq, excerpt: &item.excerpt, outcome }
    }
}
