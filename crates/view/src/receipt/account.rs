//! The `usage` events of one place until it is known which of them a reported cost covers.
//!
//! A provider may name the cost of a whole session beside the tokens of its messages. Those tokens
//! are paid for with that cost, and are not priced a second time.

use std::collections::BTreeMap;

use quipu_event::Event;
use quipu_event::payload::{TokenCounts, Usage, UsageScope};

use super::bill::{Bill, Day, Part, PartKey};
use crate::price::{Amount, Pricer};

/// What was used in one place, not yet settled.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    items: BTreeMap<PartKey, Item>,
    /// Whether a cost was named without tokens of its own: it covers those beside it.
    has_bare_cost: bool,
    /// The number of the last `usage` event that belongs to a bill of a whole session with a cost.
    billed_at: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Item {
    part: Part,
    /// The price lists that were used, one bit each.
    sheets: u64,
}

impl Account {
    /// Takes a `usage` event. Answers whether it named a cost.
    pub(super) fn add(
        &mut self,
        event: &Event,
        usage: &Usage,
        key: PartKey,
        pricer: &mut Pricer,
    ) -> bool {
        let tokens = TokenCounts { cost_usd: None, ..usage.tokens() };
        let total = tokens.total();
        let cost = usage.cost_usd.and_then(Amount::from_dollars);
        let is_covered = cost.is_none() && self.is_of_the_same_bill(event, usage);
        if (cost.is_some() || is_covered) && usage.scope == Some(UsageScope::Session) {
            self.billed_at = Some(event.seq);
        }
        let model = key.model.clone();
        let item = self.items.entry(key).or_default();
        item.part.events += 1;
        item.part.tokens.add(&tokens);
        if let Some(cost) = cost {
            *item.part.cost.reported.get_or_insert_default() += cost;
            self.has_bare_cost |= total.unwrap_or(0) == 0 && cost > Amount::default();
            return true;
        }
        if is_covered || total == Some(0) {
            return false;
        }
        let quote = model.filter(|_| total.is_some());
        match quote.and_then(|model| pricer.quote(usage, &model, event.timestamp)) {
            Some(quote) => {
                *item.part.cost.priced.get_or_insert_default() += quote.amount;
                item.part.cost.unknown += u64::from(quote.is_partial);
                item.sheets |= 1 << quote.sheet.min(63);
            }
            None => item.part.cost.unknown += 1,
        }
        false
    }

    /// Takes the cost of everything in this place, named apart from every `usage` event.
    pub(super) fn add_bare_cost(&mut self, cost: Amount, day: Day, model: Option<String>) {
        let mut models = self.items.keys().filter_map(|key| key.model.as_ref());
        let model = match models.next() {
            None => model,
            // Of several, nobody says how much of it is whose.
            Some(first) => models.all(|other| other == first).then(|| first.clone()),
        };
        let key = PartKey { source: None, model, day };
        *self.items.entry(key).or_default().part.cost.reported.get_or_insert_default() += cost;
        self.has_bare_cost = true;
    }

    /// Puts everything on `bill`, and the lists it was priced by into `sheets`.
    pub(super) fn settle(mut self, bill: &mut Bill, sheets: &mut u64) {
        if self.has_bare_cost {
            for item in self.items.values_mut() {
                (item.part.cost.priced, item.part.cost.unknown, item.sheets) = (None, 0, 0);
            }
        }
        self.note_missing_kinds();
        for (key, item) in self.items {
            *sheets |= item.sheets;
            bill.add(key, &item.part);
        }
    }

    /// Tells whether the event stands in one bill with an event before it that named a cost.
    fn is_of_the_same_bill(&self, event: &Event, usage: &Usage) -> bool {
        usage.scope == Some(UsageScope::Session)
            && self.billed_at.is_some_and(|seq| seq.checked_add(1) == Some(event.seq))
    }

    /// A price of output alone, or of input alone, is not the whole price.
    fn note_missing_kinds(&mut self) {
        let mut by_model: BTreeMap<Option<&str>, TokenCounts> = BTreeMap::new();
        for (key, item) in &self.items {
            by_model.entry(key.model.as_deref()).or_default().add(&item.part.tokens);
        }
        let lacks = |tokens: &TokenCounts| {
            let input = [tokens.input_tokens, tokens.cache_read_tokens, tokens.cache_write_tokens];
            input.iter().all(Option::is_none) || tokens.output_tokens.is_none()
        };
        let lacking = by_model.into_iter().filter(|(_, tokens)| lacks(tokens));
        let lacking: Vec<Option<String>> =
            lacking.map(|(model, _)| model.map(str::to_owned)).collect();
        for (key, item) in &mut self.items {
            let cost = &mut item.part.cost;
            if cost.priced.is_some() && cost.unknown == 0 && lacking.contains(&key.model) {
                cost.unknown = item.part.events;
            }
        }
    }
}
