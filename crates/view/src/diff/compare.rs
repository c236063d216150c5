//! Two outlines → what differs, and where they part first.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use quipu_event::RunId;
use quipu_event::payload::TokenCounts;

use super::item::Item;
use super::outline::{GroupKey, Outline};
use super::parting::{look_alike, parted};
use super::search::{Place, Search};
use super::words::{Part, Words};

/// One thing that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The step.
    pub step: GroupKey,
    /// What differs.
    pub change: Change,
    /// The thing in the first run.
    pub a: Option<Item>,
    /// The thing in the second run.
    pub b: Option<Item>,
    pub(super) place: Place,
}

impl Difference {
    /// Returns the part of the thing that differs.
    pub fn part(&self) -> Part {
        if self.change == Change::Outcome { Part::Outcome } else { Part::Said }
    }

    /// Tells whether both sides have it and their first words do not show all that differs.
    pub fn is_hidden(&self) -> bool {
        let (Some(a), Some(b)) = (&self.a, &self.b) else { return false };
        let both = a.shown(self.part()).zip(b.shown(self.part()));
        both.is_some_and(|((a, in_a), (b, in_b))| look_alike(a, b) || in_a.beside != in_b.beside)
    }

    /// Shows both sides from where they part, given all that they say.
    pub fn reveal(&mut self, a: &Words, b: &Words) {
        let part = self.part();
        let (shown_a, shown_b) = parted(a, b);
        for (item, shown) in [(&mut self.a, shown_a), (&mut self.b, shown_b)] {
            if let Some(item) = item {
                item.show(part, shown);
            }
        }
    }
}

/// How something differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Only the first run has it.
    OnlyA,
    /// Only the second run has it.
    OnlyB,
    /// It says, or is given, something else.
    Said,
    /// The same was said, and something else came of it.
    Outcome,
}

impl Change {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Change::OnlyA => "only_in_a",
            Change::OnlyB => "only_in_b",
            Change::Said => "changed",
            Change::Outcome => "other_outcome",
        }
    }
}

/// One step in both runs, with how long it took in each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPair {
    /// The step.
    pub step: GroupKey,
    /// Its duration in the first run.
    pub a_ms: Option<u64>,
    /// Its duration in the second run.
    pub b_ms: Option<u64>,
}

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The steps that led to a run that was called; empty for the runs themselves.
    pub called_at: Vec<String>,
    /// The runs.
    pub runs: (RunId, RunId),
    /// Their names.
    pub names: (Option<String>, Option<String>),
    /// How they ended.
    pub statuses: (Option<String>, Option<String>),
    /// How long they took.
    pub durations: (u64, u64),
    /// What differs, in the order of the first run.
    pub differences: Vec<Difference>,
    /// How many things are the same.
    pub same: u64,
    /// Tokens by model that differ.
    pub tokens: BTreeMap<String, (TokenCounts, TokenCounts)>,
    /// Numbers of tool calls by tool that differ.
    pub tools: BTreeMap<String, (u64, u64)>,
    /// How long steps took that both runs have.
    pub steps: Vec<StepPair>,
    /// Where in the calling runs it stands, from the outside in.
    order: Vec<Place>,
}

impl Comparison {
    /// Tells whether the runs said and did the same, for the same tokens.
    pub fn is_equal(&self) -> bool {
        self.differences.is_empty() && self.tokens.is_empty()
    }

    /// Returns where the runs part.
    pub fn first(&self) -> Option<&Difference> {
        self.differences.first()
    }

    fn first_order(&self) -> Option<Vec<Place>> {
        let first = self.first()?.place;
        Some(self.order.iter().copied().chain([first]).collect())
    }
}

/// Compares two runs and the runs that the same steps of theirs called.
///
/// `lookup` answers with the outline of a run that was called, if there is one to be had. The runs
/// themselves come first. No pair is compared twice, so circles come to an end.
pub fn compare_all(
    a: &Outline,
    b: &Outline,
    lookup: &mut dyn FnMut(&RunId) -> Option<Outline>,
) -> Vec<Comparison> {
    let mut seen = HashSet::from([(a.run_id.clone(), b.run_id.clone())]);
    let mut comparisons = vec![compare(a, b)];
    let mut calls: VecDeque<_> = calls_of(a, b, &comparisons[0]).into();
    while let Some(Call { runs, at, order }) = calls.pop_front() {
        if !seen.insert(runs.clone()) {
            continue;
        }
        let (Some(a), Some(b)) = (lookup(&runs.0), lookup(&runs.1)) else { continue };
        let comparison = Comparison { called_at: at, order, ..compare(&a, &b) };
        calls.extend(calls_of(&a, &b, &comparison));
        comparisons.push(comparison);
    }
    comparisons
}

/// Returns the comparison in which the runs part first.
pub(super) fn earliest(comparisons: &[Comparison]) -> Option<&Comparison> {
    comparisons
        .iter()
        .filter_map(|comparison| Some((comparison.first_order()?, comparison)))
        .min_by(|(a, _), (b, _)| a.cmp(b))
        .map(|(_, comparison)| comparison)
}

/// Compares two runs.
pub fn compare(a: &Outline, b: &Outline) -> Comparison {
    let mut search = Search::default();
    let in_b: HashMap<&GroupKey, &Vec<Item>> = b.groups.iter().map(|(k, i)| (k, i)).collect();
    let in_a: HashSet<&GroupKey> = a.groups.iter().map(|(key, _)| key).collect();
    let none = Vec::new();
    for (key, items) in &a.groups {
        let others = in_b.get(key).copied().unwrap_or(&none);
        search.step(key, items, others);
    }
    for (key, items) in b.groups.iter().filter(|(key, _)| !in_a.contains(key)) {
        search.step(key, &none, items);
    }
    let (differences, same) = search.finish();
    let status = |outline: &Outline| outline.status.as_ref().map(|s| s.as_str().to_owned());
    Comparison {
        called_at: Vec::new(),
        runs: (a.run_id.clone(), b.run_id.clone()),
        names: (a.name.clone(), b.name.clone()),
        statuses: (status(a), status(b)),
        durations: (a.duration_ms, b.duration_ms),
        differences,
        same,
        tokens: unequal(&a.tokens, &b.tokens),
        tools: unequal(&a.tools, &b.tools),
        steps: step_pairs(a, b),
        order: Vec::new(),
    }
}

fn unequal<T: Copy + Default + PartialEq>(
    a: &BTreeMap<String, T>,
    b: &BTreeMap<String, T>,
) -> BTreeMap<String, (T, T)> {
    let of = |map: &BTreeMap<String, T>, key: &str| map.get(key).copied().unwrap_or_default();
    let keys = a.keys().chain(b.keys());
    let both = keys.map(|key| (key.clone(), (of(a, key), of(b, key))));
    both.filter(|(_, (a, b))| a != b).collect()
}

fn step_pairs(a: &Outline, b: &Outline) -> Vec<StepPair> {
    let keys: std::collections::BTreeSet<&GroupKey> =
        a.durations.keys().chain(b.durations.keys()).collect();
    let pair = |key: &GroupKey| StepPair {
        step: key.clone(),
        a_ms: a.durations.get(key).copied(),
        b_ms: b.durations.get(key).copied(),
    };
    keys.into_iter().map(pair).collect()
}

/// Two runs that the same step called.
struct Call {
    runs: (RunId, RunId),
    at: Vec<String>,
    order: Vec<Place>,
}

fn calls_of(a: &Outline, b: &Outline, comparison: &Comparison) -> Vec<Call> {
    let both = a.calls.iter().filter_map(|(key, run)| Some((key, run, b.calls.get(key)?)));
    let call = |(key, in_a, in_b): (&GroupKey, &RunId, &RunId)| {
        let start = a.groups.iter().find(|(other, _)| other == key);
        let start = start.and_then(|(_, items)| items.first()).map_or(0, |item| item.ordinal);
        Call {
            runs: (in_a.clone(), in_b.clone()),
            at: comparison.called_at.iter().chain([&key.path]).cloned().collect(),
            order: comparison.order.iter().copied().chain([(start, 0)]).collect(),
        }
    };
    both.map(call).collect()
}
