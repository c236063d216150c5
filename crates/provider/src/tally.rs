//! How many of what came out, so that a summary needs no second look at the events.

use std::collections::BTreeMap;

use quipu_event::payload::{TokenCounts, Usage};
use quipu_event::{ContentBlock, Kind};

use crate::record::Place;

/// At most this many problems are described one by one.
const PROBLEMS_DESCRIBED: usize = 1_000;

/// What a normaliser has seen and made so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// JSON values recovered from the input.
    pub records: u64,
    /// Events by type.
    pub events: BTreeMap<String, u64>,
    /// Blocks of messages by type.
    pub blocks: BTreeMap<String, u64>,
    /// Tokens by model.
    pub usage: BTreeMap<String, TokenCounts>,
    /// What is wrong with the input, in its order; the first thousand.
    pub problems: Vec<Problem>,
    /// How many problems there were.
    pub problem_count: u64,
}

/// Something that is wrong with the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What.
    pub what: String,
}

impl Tally {
    /// Returns how many records nobody understood.
    pub fn unknown(&self) -> u64 {
        self.events.get(Kind::Unknown.as_str()).copied().unwrap_or(0)
    }

    /// Returns the tokens of all models together.
    pub fn total_usage(&self) -> TokenCounts {
        self.usage.values().fold(TokenCounts::default(), |mut total, counts| {
            total.add(counts);
            total
        })
    }

    pub(crate) fn count_event(&mut self, kind: &Kind) {
        count(&mut self.events, kind.as_str());
    }

    pub(crate) fn count_blocks(&mut self, blocks: &[ContentBlock]) {
        for block in blocks {
            self.count_block(block.content.block_type());
        }
    }

    pub(crate) fn count_block(&mut self, block_type: &str) {
        count(&mut self.blocks, block_type);
    }

    pub(crate) fn count_usage(&mut self, usage: &Usage) {
        let model = usage.model.as_deref().unwrap_or("unknown");
        self.usage.entry(model.to_owned()).or_default().add(&usage.tokens());
    }

    pub(crate) fn report(&mut self, place: Place, what: &str) {
        self.problem_count += 1;
        if self.problems.len() < PROBLEMS_DESCRIBED {
            self.problems.push(Problem { place, what: what.to_owned() });
        }
    }
}

fn count(counts: &mut BTreeMap<String, u64>, word: &str) {
    match counts.get_mut(word) {
        Some(number) => *number += 1,
        None => drop(counts.insert(word.to_owned(), 1)),
    }
}
