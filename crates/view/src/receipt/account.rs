//! The replies and `usage` events of one place until it is known which of them a reported cost covers.
//!
//! A provider may name the cost of a whole session beside the tokens of its messages. What came
//! before it is paid for with that cost, and is not priced a second time.

use std::collections::BTreeMap;

use quipu_event::Event;
use quipu_event::payload::{TokenCounts, Usage, UsageScope};

use super::bill::{Bill, Day, Part, PartKey};
use super::unpaid::Unpaid;
use crate::price::{Amount, Pricer};

/// What was used in one place, not yet settled.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    items: BTreeMap<PartKey, Item>,
    /// What was priced by its input or by its output alone, until the other half is told.
    halves: BTreeMap<HalfKey, Half>,
    unpaid: Unpaid,
    /// The number of the last `usage` event that belongs to a bill of a whole session with a cost.
    billed_at: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Item {
    part: Part,
    /// The price lists that were used, one bit each.
    sheets: u64,
}

/// Which message of which model, as far as anybody says.
type HalfKey = (Option<String>, Option<String>);

/// Events that told only what went in, or only what came out.
#[derive(Clone, Debug)]
struct Half {
    has_input: bool,
    has_output: bool,
    /// Whose they are, and how many.
    key: PartKey,
    events: u64,
}

impl Account {
    /// Takes a reply, which was paid for.
    pub(super) fn note_reply(&mut self, event: &Event, message_id: Option<&str>, key: PartKey) {
        self.unpaid.note_reply(event.source.clone(), message_id, key);
    }

    /// Takes note that a `usage` event tells what replies used, wherever that is counted.
    pub(super) fn note_usage(&mut self, event: &Event, usage: &Usage) {
        self.unpaid.note_usage(event.source.clone(), usage);
    }

    /// Takes a `usage` event. Answers whether it named a cost.
    pub(super) fn add(
        &mut self,
        event: &Event,
        usage: &Usage,
        key: PartKey,
        pricer: &mut Pricer,
    ) -> bool {
        self.note_usage(event, usage);
        let tokens = TokenCounts { cost_usd: None, ..usage.tokens() };
        let total = tokens.total();
        let cost = usage.cost_usd.and_then(Amount::from_dollars);
        let is_covered = cost.is_none() && self.is_of_the_same_bill(event, usage);
        if (cost.is_some() || is_covered) && usage.scope == Some(UsageScope::Session) {
            self.billed_at = Some(event.seq);
        }
        // A cost without tokens of its own; that of a message or a turn covers no other.
        let is_bare = cost.is_some_and(|cost| cost > Amount::default()) && total.unwrap_or(0) == 0;
        if is_bare && usage.scope == Some(UsageScope::Session) {
            self.cover_all();
        }
        let item = self.items.entry(key.clone()).or_default();
        item.part.events += 1;
        item.part.tokens.add(&tokens);
        if let Some(cost) = cost {
            *item.part.cost.reported.get_or_insert_default() += cost;
        } else if !is_covered && total != Some(0) {
            self.price(event, usage, key, pricer);
        }
        cost.is_some()
    }

    fn price(&mut self, event: &Event, usage: &Usage, key: PartKey, pricer: &mut Pricer) {
        let tokens = usage.tokens();
        let model = key.model.as_ref().filter(|_| tokens.total().is_some());
        let quote = model.and_then(|model| pricer.quote(usage, model, event.timestamp));
        let item = self.items.entry(key.clone()).or_default();
        let cost = &mut item.part.cost;
        let Some(quote) = quote else {
            cost.unknown += 1;
            return;
        };
        *cost.priced.get_or_insert_default() += quote.amount;
        cost.unknown += u64::from(quote.is_partial);
        item.sheets |= 1 << quote.sheet.min(63);
        if !quote.is_partial {
            self.note_half(&tokens, usage.message_id.clone(), &key);
        }
    }

    /// A price of output alone, or of input alone, is not the whole price. Some providers tell the
    /// two in events of their own.
    fn note_half(&mut self, tokens: &TokenCounts, message_id: Option<String>, key: &PartKey) {
        let input = [tokens.input_tokens, tokens.cache_read_tokens, tokens.cache_write_tokens];
        let has_input = input.iter().any(Option::is_some);
        let has_output = tokens.output_tokens.is_some();
        if has_input && has_output {
            return;
        }
        let name = (message_id, key.model.clone());
        let half = self.halves.entry(name.clone()).or_insert_with(|| Half {
            has_input: false,
            has_output: false,
            key: key.clone(),
            events: 0,
        });
        half.has_input |= has_input;
        half.has_output |= has_output;
        half.events += 1;
        if half.has_input && half.has_output {
            self.halves.remove(&name);
        }
    }

    /// Takes note that all that came so far is paid for.
    fn cover_all(&mut self) {
        for item in self.items.values_mut() {
            (item.part.cost.priced, item.part.cost.unknown, item.sheets) = (None, 0, 0);
        }
        self.halves.clear();
        self.unpaid.clear();
    }

    /// Takes the cost of everything in this place, named apart from every `usage` event.
    pub(super) fn add_bare_cost(&mut self, cost: Amount, day: Day, model: Option<String>) {
        let key = PartKey { source: None, model: self.model_of_all(model), day };
        self.cover_all();
        *self.items.entry(key).or_default().part.cost.reported.get_or_insert_default() += cost;
    }

    /// Returns the model of everything in this place: `assumed` where none is named, and nothing
    /// where several are, because nobody says how much is whose.
    pub(super) fn model_of_all(&self, assumed: Option<String>) -> Option<String> {
        let used = self.items.keys().filter_map(|key| key.model.as_ref());
        let mut models = used.chain(self.unpaid.models());
        match models.next() {
            None => assumed,
            Some(first) => models.all(|other| other == first).then(|| first.clone()),
        }
    }

    /// Puts everything on `bill`, and the lists it was priced by into `sheets`.
    pub(super) fn settle(mut self, bill: &mut Bill, sheets: &mut u64) {
        for half in self.halves.into_values() {
            self.items.entry(half.key).or_default().part.cost.unknown += half.events;
        }
        for (key, replies) in self.unpaid.into_replies() {
            self.items.entry(key).or_default().part.cost.unknown += replies;
        }
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
}
