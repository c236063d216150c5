//! What was used in one place, by speaker, model and day.

use std::collections::BTreeMap;
use std::fmt;

use quipu_event::Timestamp;
use quipu_event::payload::TokenCounts;

use super::cost::Cost;

/// A day in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

const MICROS_A_DAY: i64 = 86_400_000_000;

impl Day {
    /// Returns the day of `moment`.
    pub fn of(moment: Timestamp) -> Self {
        Day(moment.as_micros().div_euclid(MICROS_A_DAY))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Timestamp::from_micros(self.0.saturating_mul(MICROS_A_DAY)).to_string();
        f.pad(text.split('T').next().unwrap_or(&text))
    }
}

/// Who used something, and when.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartKey {
    /// The subagent that spoke, or `subagents` for all of them; nothing for the main agent.
    pub source: Option<Box<str>>,
    /// Which model, if anybody says.
    pub model: Option<String>,
    /// On which day.
    pub day: Day,
}

/// What was used, and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// How many `usage` events it covers.
    pub events: u64,
    /// Their tokens; a kind that nobody named is absent.
    pub tokens: TokenCounts,
    /// What they cost.
    pub cost: Cost,
}

impl Part {
    /// Adds `other`.
    pub fn add(&mut self, other: &Part) {
        self.events += other.events;
        self.tokens.add(&other.tokens);
        self.cost.add(&other.cost);
    }
}

/// What was used in one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bill {
    /// What was used, by who and when.
    pub parts: BTreeMap<PartKey, Part>,
    /// How many runs belong to it that could not be read.
    pub lacking_runs: u64,
}

impl Bill {
    /// Adds a part.
    pub fn add(&mut self, key: PartKey, part: &Part) {
        self.parts.entry(key).or_default().add(part);
    }

    /// Adds another bill.
    pub fn merge(&mut self, other: &Bill) {
        self.lacking_runs += other.lacking_runs;
        for (key, part) in &other.parts {
            match self.parts.get_mut(key) {
                Some(sum) => sum.add(part),
                None => drop(self.parts.insert(key.clone(), *part)),
            }
        }
    }

    /// Returns the sum over all parts.
    pub fn total(&self) -> Part {
        let mut total = Part::default();
        self.parts.values().for_each(|part| total.add(part));
        total.cost.unknown += self.lacking_runs;
        total
    }

    /// Returns the parts by speaker and model, whatever the day.
    pub fn by_speaker(&self) -> BTreeMap<(Option<&str>, Option<&str>), Part> {
        let mut sums: BTreeMap<_, Part> = BTreeMap::new();
        for (key, part) in &self.parts {
            sums.entry((key.source.as_deref(), key.model.as_deref())).or_default().add(part);
        }
        sums
    }

    /// Tells whether nothing was used as far as anybody said.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.lacking_runs == 0
    }
}
