//! Where normalisers put what they make: in order, with the foreign bytes, nothing forgotten.
//!
//! Every record's exact bytes travel once, on the first event made from it. A record that made
//! nothing and was absorbed by nothing becomes an `unknown` event here, so that no normaliser can
//! lose one. A place in the order can be reserved for an event that is not finished yet: what
//! comes behind it waits. It knows no provider.

use std::collections::VecDeque;
use std::sync::Arc;

use quipu_event::payload::{
    ErrorReport, Message, RunCompleted, RunStarted, SpokenMessage, ToolCall, ToolResult, Usage,
};
use quipu_event::{Draft, EncodeError, Json, Kind, Raw, Timestamp};
use serde::Serialize;

use crate::companions::Companions;
use crate::record::{Place, Record};
use crate::said::{Answered, Given, SaidBlock};
use crate::tally::Tally;

/// A draft, and where the record stood that it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The draft.
    pub draft: Draft,
    /// Where its first record stood; nowhere if the input never said it.
    pub place: Option<Place>,
}

/// Which foreign bytes are kept beside the events made from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeptBytes {
    /// All.
    #[default]
    Full,
    /// Those that nobody understood.
    Unknown,
}

/// When something happened, and who did it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stamp {
    /// When, if the record says.
    pub(crate) time: Option<Timestamp>,
    /// Who, when not the main agent: `subagent:<id>`.
    pub(crate) source: Option<Box<str>>,
}

impl Stamp {
    /// The main agent, at `time`.
    pub(crate) fn at(time: Option<Timestamp>) -> Self {
        Stamp { time, source: None }
    }

    /// The subagent `id`, at `time`.
    pub(crate) fn of_subagent(id: &str, time: Option<Timestamp>) -> Self {
        Stamp { time, source: Some(format!("subagent:{id}").into()) }
    }
}

/// The bytes of records that went into an event which is not finished.
#[derive(Debug, Default)]
pub(crate) struct Scraps {
    raw: Option<Raw>,
    place: Option<Place>,
    /// Whether a record has no other event than the one that is not finished.
    is_owed: bool,
}

impl Scraps {
    /// Tells whether there is a record of which nothing is told if this is not.
    pub(crate) fn is_owed(&self) -> bool {
        self.is_owed
    }

    /// Returns the bytes of the records so far, if they are kept.
    pub(crate) fn bytes(&self) -> Option<&Arc<Vec<u8>>> {
        match &self.raw {
            Some(Raw::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }
}

/// A place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u64);

impl Slot {
    /// The place before everything else, which every input has: the run's beginning.
    pub(crate) const FIRST: Slot = Slot(0);
}

/// What has been made and not been taken yet.
#[derive(Default)]
pub(crate) struct Queue {
    entries: VecDeque<Entry>,
    /// How many entries have been taken; a slot is where its entry stands if they are counted.
    taken: u64,
    kept: KeptBytes,
    pub(crate) companions: Option<Box<dyn Companions>>,
    pub(crate) tally: Tally,
}

enum Entry {
    Made(Made),
    Reserved,
    Filled(Vec<Made>),
}

impl Queue {
    pub(crate) fn new(kept: KeptBytes) -> Self {
        Queue { entries: [Entry::Reserved].into(), kept, ..Queue::default() }
    }

    /// Gives up the place of a beginning that there was none of.
    pub(crate) fn give_up_first(&mut self) {
        if let (0, Some(entry @ Entry::Reserved)) = (self.taken, self.entries.front_mut()) {
            *entry = Entry::Filled(Vec::new());
        }
    }

    /// Moves what waits for nothing to `out`.
    pub(crate) fn drain_into(&mut self, out: &mut Vec<Made>) {
        while let Some(entry) = self.entries.pop_front() {
            match entry {
                Entry::Made(made) => out.push(made),
                Entry::Filled(several) => out.extend(several),
                Entry::Reserved => {
                    self.entries.push_front(entry);
                    return;
                }
            }
            self.taken += 1;
        }
    }
}

/// What a normaliser writes to while it looks at one record.
pub(crate) struct Outbox<'a> {
    queue: &'a mut Queue,
    record: Option<&'a Record<'a>>,
    /// Whether the record's bytes have found their event.
    carried: bool,
    /// Where drafts go while a slot is filled, and the bytes that the first of them takes.
    filling: Option<(Vec<Made>, Scraps)>,
}

impl<'a> Outbox<'a> {
    pub(crate) fn new(queue: &'a mut Queue, record: Option<&'a Record<'a>>) -> Self {
        Outbox { queue, record, carried: false, filling: None }
    }

    /// Tells whether anybody answers for what lies beside the input.
    pub(crate) fn has_companions(&self) -> bool {
        self.queue.companions.is_some()
    }

    /// Returns what lies at `place` beside the input, if that can be had.
    pub(crate) fn companion(&self, place: &str) -> Option<Vec<u8>> {
        self.queue.companions.as_ref()?.body(place)
    }

    /// Tells whether the record's bytes have found their event.
    pub(crate) fn is_carried(&self) -> bool {
        self.carried
    }

    /// Tells whether anything has been put into the slot that is being filled.
    pub(crate) fn has_filled(&self) -> bool {
        self.filling.as_ref().is_some_and(|(made, _)| !made.is_empty())
    }

    /// Sees to it that the record is not lost.
    pub(crate) fn close(mut self) {
        if !self.carried && self.record.is_some() {
            self.unknown("no event was made from it");
        }
    }

    /// Puts what was said.
    pub(crate) fn message(&mut self, stamp: &Stamp, kind: Kind, message: Message) {
        self.queue.tally.count_blocks(&message.blocks);
        let payload = message.into_payload();
        self.put_draft(stamp, payload.map(|json| Draft::with_json(kind, json)));
    }

    /// Puts what was said and has been written already; `rest` is what else is known of it.
    pub(crate) fn spoken(
        &mut self,
        stamp: &Stamp,
        kind: Kind,
        spoken: SpokenMessage,
        rest: &Message,
    ) {
        self.put_draft(stamp, Ok(Draft::with_json(kind, spoken.end(rest))));
    }

    /// Counts a block that has been written.
    pub(crate) fn count_spoken(&mut self, block: &SaidBlock<'_>) {
        self.queue.tally.count_block(block.block_type());
    }

    /// Puts a call.
    pub(crate) fn tool_call(&mut self, stamp: &Stamp, call: &ToolCall) {
        self.put(stamp, Kind::ToolCall, call);
    }

    /// Puts a call's result, whose output is `output`.
    pub(crate) fn tool_result(&mut self, stamp: &Stamp, result: ToolResult, output: Given<'_>) {
        let payload = match output {
            Given::Json(output) => ToolResult { output, ..result }.into_payload(),
            Given::Value(_) => Json::encode(&Answered { result: &result, output: &output }),
        };
        self.put_draft(stamp, payload.map(|json| Draft::with_json(Kind::ToolResult, json)));
    }

    /// Puts what something cost, once.
    pub(crate) fn usage(&mut self, stamp: &Stamp, usage: &Usage) {
        self.queue.tally.count_usage(usage);
        self.put(stamp, Kind::Usage, usage);
    }

    /// Puts a fact; those that are `null` are left out.
    pub(crate) fn system(&mut self, stamp: &Stamp, subtype: &str, facts: serde_json::Value) {
        let facts = match facts {
            serde_json::Value::Object(mut facts) => {
                facts.retain(|_, fact| !fact.is_null());
                facts
            }
            _ => serde_json::Map::new(),
        };
        let payload = quipu_event::payload::System { subtype: subtype.to_owned(), facts };
        self.put(stamp, Kind::System, &payload);
    }

    /// Puts what went wrong.
    pub(crate) fn error(&mut self, stamp: &Stamp, report: &ErrorReport) {
        self.put(stamp, Kind::Error, report);
    }

    /// Puts the run's beginning.
    pub(crate) fn run_started(&mut self, stamp: &Stamp, started: &RunStarted) {
        self.put(stamp, Kind::RunStarted, started);
    }

    /// Puts the run's end, with the sum of its usage.
    pub(crate) fn run_completed(&mut self, stamp: &Stamp, completed: &RunCompleted) {
        let usage = Some(self.queue.tally.total_usage()).filter(|usage| !usage.is_empty());
        self.put(stamp, Kind::RunCompleted, &RunCompleted { usage, ..completed.clone() });
    }

    /// Puts the record as one that nobody understood.
    pub(crate) fn unknown(&mut self, reason: &str) {
        let Some(record) = self.record else { return };
        let native_type = record.fields.text("type").or_else(|| record.fields.text("method"));
        let mut draft = Draft::unknown(&[], native_type.as_deref(), reason);
        draft.raw = (!self.carried).then(|| record.raw());
        self.carried = true;
        self.push(Made { draft, place: Some(record.place) });
    }

    /// Puts bytes that are no record.
    pub(crate) fn damage(&mut self, exact: &[u8], place: Place, what: &str) {
        self.push(Made { draft: Draft::unknown(exact, None, what), place: Some(place) });
    }

    /// Takes the record's bytes for an event that is not finished.
    pub(crate) fn absorb(&mut self, scraps: &mut Scraps) {
        let Some(record) = self.record else { return };
        scraps.place.get_or_insert(record.place);
        if std::mem::replace(&mut self.carried, true) {
            return;
        }
        scraps.is_owed = true;
        if self.queue.kept == KeptBytes::Full {
            match &mut scraps.raw {
                Some(raw) => raw.extend(record.exact),
                None => scraps.raw = Some(record.raw()),
            }
        }
    }

    /// Keeps a place in the order for an event that is not finished.
    pub(crate) fn reserve(&mut self) -> Slot {
        let slot = Slot(self.queue.taken + self.queue.entries.len() as u64);
        self.queue.entries.push_back(Entry::Reserved);
        slot
    }

    /// Puts what `write` puts into `slot`; the first of it carries `scraps`.
    pub(crate) fn fill(&mut self, slot: Slot, scraps: Scraps, write: impl FnOnce(&mut Self)) {
        let outer = self.filling.replace((Vec::new(), scraps));
        write(self);
        let filled = std::mem::replace(&mut self.filling, outer).map(|(made, _)| made);
        let at = slot.0.checked_sub(self.queue.taken).and_then(|at| usize::try_from(at).ok());
        if let Some(entry @ Entry::Reserved) = at.and_then(|at| self.queue.entries.get_mut(at)) {
            *entry = Entry::Filled(filled.unwrap_or_default());
        }
    }

    /// Puts what `write` puts next; the first of it carries `scraps`.
    pub(crate) fn put_with(&mut self, scraps: Scraps, write: impl FnOnce(&mut Self)) {
        if let Some((made, outer)) = self.filling.take() {
            self.filling = Some((made, scraps));
            write(self);
            self.filling = self.filling.take().map(|(made, _)| (made, outer));
            return;
        }
        let slot = self.reserve();
        self.fill(slot, scraps, write);
    }

    fn put(&mut self, stamp: &Stamp, kind: Kind, payload: &impl Serialize) {
        self.put_draft(stamp, Draft::new(kind, payload));
    }

    fn put_draft(&mut self, stamp: &Stamp, draft: Result<Draft, EncodeError>) {
        let draft = match draft {
            Ok(mut draft) => {
                draft.timestamp = stamp.time;
                draft.source.clone_from(&stamp.source);
                draft
            }
            // Foreign values are bounded where they are taken over, so this is not expected.
            Err(_) => return self.unknown("it nests too deep"),
        };
        let (raw, place) = self.take_bytes();
        self.push(Made { draft: Draft { raw, ..draft }, place });
    }

    /// Takes the bytes that the next event carries, and the place they stood at.
    fn take_bytes(&mut self) -> (Option<Raw>, Option<Place>) {
        if let Some((_, scraps)) = &mut self.filling {
            return (scraps.raw.take(), scraps.place);
        }
        let Some(record) = self.record else { return (None, None) };
        let keeps = !self.carried && self.queue.kept == KeptBytes::Full;
        self.carried = true;
        (keeps.then(|| record.raw()), Some(record.place))
    }

    fn push(&mut self, made: Made) {
        self.queue.tally.count_event(&made.draft.kind);
        match &mut self.filling {
            Some((filled, _)) => filled.push(made),
            None => self.queue.entries.push_back(Entry::Made(made)),
        }
    }
}

#[cfg(test)]
mod tests;
