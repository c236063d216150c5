//! One price list: a file of ours or of the user's, read and checked.

use quipu_event::Timestamp;

use super::amount::Amount;
use super::{matching, wire};

/// What is wrong with a price list, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for PriceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for PriceError {}

/// A price list.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceSheet {
    /// What the list calls itself, usually the day on which it was checked.
    pub version: String,
    pub(super) entries: Vec<Entry>,
}

/// What some models cost in some stretch of time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) patterns: Vec<String>,
    /// The first moment at which it holds.
    pub(super) from: Option<Timestamp>,
    /// The first moment at which it no longer holds.
    pub(super) until: Option<Timestamp>,
    pub(super) rates: Rates,
    /// What long prompts cost instead.
    pub(super) above: Option<Above>,
}

/// Dollars for a million tokens of each kind, as far as the list says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) input: Option<Amount>,
    pub(super) output: Option<Amount>,
    pub(super) cache_read: Option<Amount>,
    pub(super) cache_write: Option<Amount>,
}

/// The rates of a request whose prompt is longer than so many tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Above {
    pub(super) prompt: u64,
    pub(super) rates: Rates,
}

impl PriceSheet {
    /// Reads a price list.
    ///
    /// Fails, with the line, on what is no JSON, on a key that is not known, on a price or a day
    /// that is none, and on an entry that can mean nothing: a slip in a price list must not become
    /// a wrong sum.
    pub fn parse(text: &str) -> Result<Self, PriceError> {
        let sheet: wire::SheetWire = serde_json::from_str(text).map_err(|error| {
            let whole = error.to_string();
            let message = whole.split(" at line ").next().unwrap_or(&whole).to_owned();
            PriceError { line: error.line().max(1), message }
        })?;
        let entries = sheet.prices.into_iter().map(|entry| Entry::from(entry.0)).collect();
        Ok(PriceSheet { version: sheet.version.0, entries })
    }
}

impl Entry {
    /// Tells whether it says what the plain name `model` costs.
    pub(super) fn means(&self, model: &str) -> bool {
        self.patterns.iter().any(|pattern| matching::is_meant(pattern, model))
    }

    /// Tells whether it holds at `moment`.
    pub(super) fn holds(&self, moment: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= moment) && self.until.is_none_or(|until| moment < until)
    }
}

impl From<wire::EntryWire> for Entry {
    fn from(wire: wire::EntryWire) -> Self {
        let rate = |rate: Option<wire::Rate>| rate.map(|rate| rate.0);
        Entry {
            patterns: wire.models.iter().map(|name| matching::plain_pattern(name)).collect(),
            from: wire.from.map(|day| day.0),
            until: wire.until.map(|day| day.0),
            rates: Rates {
                input: rate(wire.input),
                output: rate(wire.output),
                cache_read: rate(wire.cache_read),
                cache_write: rate(wire.cache_write),
            },
            above: wire.above.map(|above| Above {
                prompt: above.prompt,
                rates: Rates {
                    input: rate(above.input),
                    output: rate(above.output),
                    cache_read: rate(above.cache_read),
                    cache_write: rate(above.cache_write),
                },
            }),
        }
    }
}
