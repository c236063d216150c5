//! Price lists in the order in which they are asked, and the price of one `usage` event.

use std::collections::HashMap;
use std::sync::Arc;

use quipu_event::Timestamp;
use quipu_event::payload::{Usage, UsageScope};

use super::amount::Amount;
use super::matching;
use super::sheet::{Entry, PriceError, PriceSheet, Rates};

/// The list that comes with the program.
const BUILT_IN: &str = include_str!("../../prices.json");

/// Price lists, the one that is asked first in front.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriceTable {
    sheets: Vec<PriceSheet>,
}

/// What one `usage` event costs by the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The price of what could be priced.
    pub amount: Amount,
    /// Whether more was used than could be priced.
    pub is_partial: bool,
    /// The list that was used, as an index for [`PriceTable::version`].
    pub sheet: usize,
}

impl PriceTable {
    /// Returns the list that comes with the program.
    pub fn built_in() -> Self {
        // A test reads the list, so a broken one does not leave the house.
        PriceSheet::parse(BUILT_IN).map(PriceTable::from).unwrap_or_default()
    }

    /// Puts a list in front: its prices win.
    #[must_use]
    pub fn overridden_by(mut self, sheet: PriceSheet) -> Self {
        self.sheets.insert(0, sheet);
        self
    }

    /// Returns what the list at `index` calls itself.
    pub fn version(&self, index: usize) -> Option<&str> {
        self.sheets.get(index).map(|sheet| sheet.version.as_str())
    }

    /// Reads the list that comes with the program, to find out whether it is sound.
    pub fn check_built_in() -> Result<PriceSheet, PriceError> {
        PriceSheet::parse(BUILT_IN)
    }

    /// Returns the entries that mean `model`, by list and place, the first to be asked first.
    fn entries_for(&self, model: &str) -> Vec<(usize, usize)> {
        let plain = matching::plain(model);
        let sheets = self.sheets.iter().enumerate();
        let found = sheets.flat_map(|(at, sheet)| {
            let entries = sheet.entries.iter().enumerate();
            let meant = entries.filter(|(_, entry)| entry.means(&plain));
            meant.map(move |(entry, _)| (at, entry)).collect::<Vec<_>>()
        });
        found.collect()
    }
}

impl From<PriceSheet> for PriceTable {
    fn from(sheet: PriceSheet) -> Self {
        PriceTable { sheets: vec![sheet] }
    }
}

/// Prices events, and remembers which entries a model's name leads to.
#[derive(Clone, Debug)]
pub struct Pricer {
    table: Arc<PriceTable>,
    known: HashMap<String, Vec<(usize, usize)>>,
}

impl Pricer {
    /// Makes a pricer for `table`.
    pub fn new(table: Arc<PriceTable>) -> Self {
        Pricer { table, known: HashMap::new() }
    }

    /// Returns the table.
    pub fn table(&self) -> &PriceTable {
        &self.table
    }

    /// Returns what `usage` of `model` cost at `moment`; nothing if no list says any of it.
    pub fn quote(&mut self, usage: &Usage, model: &str, moment: Timestamp) -> Option<Quote> {
        if !self.known.contains_key(model) {
            self.known.insert(model.to_owned(), self.table.entries_for(model));
        }
        let entry_at = |(sheet, entry): &(usize, usize)| {
            let found = self.table.sheets.get(*sheet)?.entries.get(*entry)?;
            found.holds(moment).then_some((*sheet, found))
        };
        let (sheet, entry) = self.known.get(model)?.iter().find_map(entry_at)?;
        let (rates, is_ambiguous) = rates_for(entry, usage);
        let mut quote = Quote { amount: Amount::default(), is_partial: is_ambiguous, sheet };
        let kinds = [
            (usage.input_tokens, rates.input),
            (usage.output_tokens, rates.output),
            (usage.cache_read_tokens, rates.cache_read),
            (usage.cache_write_tokens, rates.cache_write),
        ];
        let mut has_price = false;
        for (tokens, rate) in kinds {
            let tokens = tokens.unwrap_or(0);
            match rate.and_then(|rate| Amount::of_tokens(rate, tokens)) {
                Some(amount) => {
                    quote.amount += amount;
                    has_price |= tokens > 0;
                }
                None => quote.is_partial |= tokens > 0,
            }
        }
        // A price of nothing that was used is no price of zero.
        (has_price || !quote.is_partial).then_some(quote)
    }
}

/// Returns the rates for a prompt of that length, and whether they are certain.
///
/// A turn or a session is many prompts, whose lengths nobody told: the lower rates are what it cost
/// at least.
fn rates_for(entry: &Entry, usage: &Usage) -> (Rates, bool) {
    let Some(above) = entry.above else { return (entry.rates, false) };
    let parts = [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
    let prompt = parts.into_iter().flatten().fold(0, u64::saturating_add);
    let is_one_prompt = matches!(usage.scope, None | Some(UsageScope::Message));
    match (prompt > above.prompt, is_one_prompt) {
        (false, _) => (entry.rates, false),
        (true, true) => (above.rates, false),
        (true, false) => (entry.rates, true),
    }
}
