//! Chats on disk: keeps the state that their records write, and tells it when nothing else comes.
//!
//! A message keeps the place of its first record whatever is written of it later, until it is
//! told. Nothing is told while more may come: a rewind or a checkpoint may take back any message
//! and its tokens. What was told stays told, and only what is new is told of it later.

use std::collections::{BTreeMap, HashMap, HashSet};

use quipu_event::payload::{RunCompleted, Status};
use serde_json::json;

use super::held::{Held, Last};
use super::retelling::{Retelling, told_types};
use super::rewriting::New;
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Scraps, Stamp};
use crate::record::Record;
use crate::registry::Likeness;
use crate::value::{Fields, Value};

/// Tells how much a record looks like one of a chat.
pub(super) fn likeness(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let is_update = fields.fields("$set").is_some() || fields.text("$rewindTo").is_some();
    if is_update || fields.has("sessionId") && fields.has("projectHash") {
        return Likeness::Sure;
    }
    let is_message = ["id", "timestamp", "content"].iter().all(|key| fields.has(key));
    match fields.text("type").as_deref() {
        Some("gemini") if is_message => Likeness::Sure,
        Some(told) if is_message && told_types().contains(&told) => Likeness::Maybe,
        _ => Likeness::No,
    }
}

/// A chat as far as it has been read.
pub(super) struct Session {
    pub(super) opening: Opening,
    /// What the header said, but for the messages, once there was one.
    pub(super) header: Option<BTreeMap<String, String>>,
    /// The id of the chat, if it is a subagent's.
    subagent: Option<String>,
    pub(super) messages: Vec<Held>,
    /// Where among them a message stands, by its id.
    pub(super) places: HashMap<String, usize>,
    /// What checkpoints left out: a chat that is resumed forgets everything, and then recalls it.
    pub(super) dropped: HashMap<String, Held>,
    /// How many places have been reserved.
    ranks: usize,
    /// Calls that are written down with an earlier reply than their own: with which, and whose.
    homes: HashMap<String, (String, String)>,
    /// Whether the last prompt was taken back before anybody replied.
    pub(super) was_cut_short: bool,
    retelling: Retelling,
}

impl Session {
    pub(super) fn new() -> Self {
        Session {
            opening: Opening::new("gemini", "session"),
            header: None,
            subagent: None,
            messages: Vec::new(),
            places: HashMap::new(),
            dropped: HashMap::new(),
            ranks: 0,
            homes: HashMap::new(),
            was_cut_short: false,
            retelling: Retelling::default(),
        }
    }

    fn header(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        let start = fields.time("startTime");
        self.opening.begin(start);
        self.opening.begin(fields.time("lastUpdated"));
        let session_id = fields.string("sessionId");
        let messages: Vec<_> = fields.items("messages").into_iter().map(New::read).collect();
        let header = facts_of(fields);
        if let Some(before) = self.header.replace(header) {
            if self.opening.is_put() && fields.has("messages") {
                return self.version(&before, fields, messages, out);
            }
            let facts = json!({ "session_id": session_id, "resumed": true });
            out.system(&self.stamp(fields), "session_started", facts);
        } else {
            if fields.text("kind").as_deref() == Some("subagent") {
                self.subagent.clone_from(&session_id);
            }
            let directories = fields.items("directories");
            let cwd = directories.first().and_then(|directory| directory.text());
            self.opening.started.cwd = cwd.map(Into::into);
            self.opening.started.session_id = session_id;
            self.opening.absorb(out);
        }
        for New { source, fields, id } in messages {
            self.hold(source, &fields, id, out);
        }
    }

    /// Keeps a message, in the place of an earlier one with its id.
    pub(super) fn hold(
        &mut self,
        source: &str,
        fields: &Fields<'_>,
        id: Option<String>,
        out: &mut Outbox<'_>,
    ) {
        let earlier = id.as_ref().and_then(|id| self.places.get(id)).copied();
        if let Some(place) = earlier {
            self.note_homes(place, fields);
            if let Some(earlier) = self.messages.get_mut(place) {
                out.absorb(&mut earlier.scraps);
                earlier.renew(source);
                if earlier.slot.is_none() {
                    self.ranks += 1;
                    (earlier.slot, earlier.rank) = (Some(out.reserve()), self.ranks);
                }
                return;
            }
        }
        self.was_cut_short = false;
        if let Some(mut held) = id.as_ref().and_then(|id| self.dropped.remove(id)) {
            out.absorb(&mut held.scraps);
            held.renew(source);
            self.move_behind(&mut held, out);
            return self.push(held);
        }
        let mut scraps = Scraps::default();
        out.absorb(&mut scraps);
        let place = (out.reserve(), self.next_rank());
        self.push(Held::new(id, source, place, scraps));
    }

    /// Notes the calls that a message has more than before, if it is not the last reply.
    ///
    /// An agent that is driven by an editor writes all calls of a turn into one message, while
    /// the replies that made them stand behind it.
    pub(super) fn note_homes(&mut self, place: usize, fields: &Fields<'_>) {
        let behind = self.messages.get(place + 1..).unwrap_or_default();
        let is_reply = |held: &&Held| held.fields().text("type").as_deref() == Some("gemini");
        let home = behind.iter().rev().find(is_reply).and_then(|held| held.id.as_ref());
        let held = self.messages.get(place).and_then(|held| Some((held, held.id.as_ref()?)));
        let (Some(home), Some((held, with))) = (home, held) else { return };
        let known = call_ids(&held.fields());
        if known.is_empty() {
            return;
        }
        for call_id in call_ids(fields).into_iter().filter(|id| !known.contains(id)) {
            self.homes.entry(call_id).or_insert_with(|| (with.clone(), home.clone()));
        }
    }

    /// Returns the replies that calls belong to, as far as those are there.
    fn homes(&self) -> HashMap<String, String> {
        let place = |id: &String| self.places.get(id);
        let homes = self.homes.iter().filter(|(_, (with, home))| {
            place(home).zip(place(with)).is_some_and(|(home, with)| home > with)
        });
        homes.map(|(call_id, (_, home))| (call_id.clone(), home.clone())).collect()
    }

    fn next_rank(&mut self) -> usize {
        self.ranks += 1;
        self.ranks
    }

    /// Gives up the place of a message, if it has one, for one behind all others.
    pub(super) fn move_behind(&mut self, message: &mut Held, out: &mut Outbox<'_>) {
        if let Some(slot) = message.slot {
            out.fill(slot, Scraps::default(), |_| {});
        }
        message.slot = Some(out.reserve());
        message.rank = self.next_rank();
    }

    pub(super) fn push(&mut self, message: Held) {
        if let Some(id) = &message.id {
            self.places.insert(id.clone(), self.messages.len());
        }
        self.messages.push(message);
    }

    /// Tells what is new of all messages; `stays` if more may come. Returns how things stand.
    fn tell(&mut self, stays: bool, out: &mut Outbox<'_>) -> Last {
        let mut dropped = std::mem::take(&mut self.dropped);
        for message in dropped.values_mut() {
            self.drop_message(message, "checkpoint", out);
        }
        if stays {
            self.dropped = dropped;
        }
        let homes = self.homes();
        let retelling = &mut self.retelling;
        retelling.subagent.clone_from(&self.subagent);
        (retelling.homes, retelling.remembers) = (homes, stays);
        let mut last = Last::Well;
        for mut message in std::mem::take(&mut self.messages) {
            let slot = message.slot.take();
            let awaited = || retelling.awaits(message.id.as_deref()).then(|| out.reserve());
            if let Some(slot) = slot.or_else(awaited) {
                let mut left = None;
                message.tell(stays, |id, scraps, fields| {
                    let is_owed = scraps.is_owed();
                    out.fill(slot, scraps, |out| left = retelling.tell(id, fields, is_owed, out));
                });
                message.is_told = true;
                message.left = left.or(message.left);
            }
            if let Some(left) = &message.left {
                last = left.clone();
            }
            if stays {
                self.messages.push(message);
            }
        }
        self.note_beginning();
        last
    }

    /// Takes over what the messages tell about the run.
    fn note_beginning(&mut self) {
        if let Some(end) = self.retelling.last_end {
            self.opening.begin(Some(end));
        }
        let started = &mut self.opening.started;
        started.cwd = started.cwd.take().or_else(|| self.retelling.cwd.clone());
        self.opening.agent.model.clone_from(&self.retelling.model);
    }

    pub(super) fn stamp(&self, fields: &Fields<'_>) -> Stamp {
        let times = ["timestamp", "startTime", "lastUpdated"];
        let time = times.into_iter().find_map(|key| fields.time(key));
        match &self.subagent {
            Some(id) => Stamp::of_subagent(id, time),
            None => Stamp::at(time),
        }
    }
}

impl Normalize for Session {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        let set = fields.fields("$set");
        let time = set.as_ref().and_then(|set| set.time("lastUpdated"));
        self.opening.begin(time.or_else(|| fields.time("timestamp")));
        let is_told = fields.text("type").is_some_and(|kind| told_types().contains(&&*kind));
        if let Some(id) = fields.text("$rewindTo") {
            self.rewind(&id, out);
        } else if fields.has("id") && is_told {
            self.hold(record.source, fields, fields.string("id"), out);
        } else if let Some(set) = set {
            self.set(&set, out);
        } else if fields.has("sessionId") && (fields.has("projectHash") || fields.has("messages")) {
            self.header(fields, out);
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.tell(true, out);
        self.opening.put(out);
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        // A chat has no end of its own, so the last message has to tell.
        let (status, error) = match self.tell(false, out) {
            Last::Failed(error) => (Status::Failed, Some(error)),
            Last::Well if !self.was_cut_short => (Status::Succeeded, None),
            Last::Well | Last::Interrupted => (Status::Aborted, None),
        };
        let end = RunCompleted { status: Some(status), error, ..RunCompleted::default() };
        self.opening.complete(out, end);
    }
}

fn call_ids(message: &Fields<'_>) -> HashSet<String> {
    let calls = message.items("toolCalls").into_iter().filter_map(Value::fields);
    calls.filter_map(|call| call.string("id")).collect()
}

/// Returns what a header says beside its messages.
fn facts_of(header: &Fields<'_>) -> BTreeMap<String, String> {
    let facts = header.iter().filter(|(name, _)| *name != "messages");
    facts.map(|(name, value)| (name.to_owned(), value.source().to_owned())).collect()
}
