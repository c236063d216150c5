//! A sum of money with how it was obtained.

use crate::price::Amount;

/// How a figure was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// The provider named it.
    Reported,
    /// Tokens times a price list.
    Priced,
    /// Nobody knows it, or all of it.
    Unknown,
}

impl How {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            How::Reported => "reported",
            How::Priced => "priced",
            How::Unknown => "unknown",
        }
    }
}

/// What something cost, as far as it is known.
///
/// Nothing at all means that nothing was used, or that nobody said so: it is not a cost of zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The sum of what providers named.
    pub reported: Option<Amount>,
    /// The sum of what was priced.
    pub priced: Option<Amount>,
    /// How many `usage` events, replies without one, and runs cost something that is not known in
    /// full.
    pub unknown: u64,
}

impl Cost {
    /// Adds `other`.
    pub fn add(&mut self, other: &Cost) {
        let sum = |total: &mut Option<Amount>, part: Option<Amount>| {
            if let Some(part) = part {
                *total.get_or_insert_default() += part;
            }
        };
        sum(&mut self.reported, other.reported);
        sum(&mut self.priced, other.priced);
        self.unknown = self.unknown.saturating_add(other.unknown);
    }

    /// Returns the sum of what is known; nothing if that is nothing and there is more to know.
    pub fn known(&self) -> Option<Amount> {
        let parts = [self.reported, self.priced].into_iter().flatten();
        let is_known = self.reported.is_some() || self.priced.is_some();
        let known = is_known.then(|| parts.sum());
        known.filter(|known| self.unknown == 0 || *known > Amount::default())
    }

    /// Returns how the figure was obtained; several ways for a mixed sum, none where there is none.
    pub fn how(&self) -> Vec<How> {
        let ways = [
            (self.reported.is_some(), How::Reported),
            (self.priced.is_some(), How::Priced),
            (self.unknown > 0, How::Unknown),
        ];
        ways.into_iter().filter_map(|(is_so, how)| is_so.then_some(how)).collect()
    }

    /// Returns the figure for people: `$0.41`, `≥ $0.41`, `unknown`, or nothing.
    pub fn figure(&self) -> Option<String> {
        match (self.known(), self.unknown) {
            (Some(known), 0) => Some(known.short()),
            (Some(known), _) => Some(format!("≥ {}", known.short())),
            (None, 0) => None,
            (None, _) => Some("unknown".to_owned()),
        }
    }

    /// Returns how the figure was obtained, for people: `reported + priced`.
    pub fn how_words(&self) -> String {
        self.how().into_iter().map(How::word).collect::<Vec<_>>().join(" + ")
    }
}
