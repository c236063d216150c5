//! Chats on disk: keeps the state that their records write, and tells it at the end.
//!
//! A message keeps the place of its first record whatever is written of it later. Nothing is told
//! while more may come: a rewind or a checkpoint may take back any message and its tokens.

use std::collections::{HashMap, HashSet};

use serde_json::json;

use super::held::Held;
use super::retelling::{Retelling, is_only_answers, is_prompt, told_types};
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
    opening: Opening,
    has_header: bool,
    /// The id of the chat, if it is a subagent's.
    subagent: Option<String>,
    messages: Vec<Held>,
    /// Where among them a message stands, by its id.
    places: HashMap<String, usize>,
    /// What checkpoints left out: a chat that is resumed forgets everything, and then recalls it.
    dropped: HashMap<String, Held>,
    /// How many places have been reserved.
    ranks: usize,
    /// Calls that are written down with an earlier reply than their own: with which, and whose.
    homes: HashMap<String, (String, String)>,
    /// Whether the last prompt was taken back before anybody replied.
    was_cut_short: bool,
}

/// A message of a checkpoint.
struct New<'a> {
    source: &'a str,
    fields: Fields<'a>,
    id: Option<String>,
}

impl<'a> New<'a> {
    fn read(message: Value<'a>) -> Self {
        let fields = message.fields().unwrap_or_default();
        New { source: message.source(), id: fields.string("id"), fields }
    }
}

impl Session {
    pub(super) fn new() -> Self {
        Session {
            opening: Opening::new("gemini", "session"),
            has_header: false,
            subagent: None,
            messages: Vec::new(),
            places: HashMap::new(),
            dropped: HashMap::new(),
            ranks: 0,
            homes: HashMap::new(),
            was_cut_short: false,
        }
    }

    fn header(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        let start = fields.time("startTime");
        self.opening.begin(start);
        self.opening.begin(fields.time("lastUpdated"));
        let session_id = fields.string("sessionId");
        if std::mem::replace(&mut self.has_header, true) {
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
        for message in fields.items("messages") {
            let New { source, fields, id } = New::read(message);
            self.hold(source, &fields, id, out);
        }
    }

    /// Keeps a message, in the place of an earlier one with its id.
    fn hold(
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
                return earlier.renew(source);
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
    fn note_homes(&mut self, place: usize, fields: &Fields<'_>) {
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

    /// Returns the replies that calls belong to, as far as those are still to be told.
    fn take_homes(&mut self) -> HashMap<String, String> {
        let places = std::mem::take(&mut self.places);
        let homes = std::mem::take(&mut self.homes).into_iter();
        let is_behind = |(with, home): &(String, String)| {
            places.get(home).zip(places.get(with)).is_some_and(|(home, with)| home > with)
        };
        let homes = homes.filter(|(_, pair)| is_behind(pair));
        homes.map(|(call_id, (_, home))| (call_id, home)).collect()
    }

    fn next_rank(&mut self) -> usize {
        self.ranks += 1;
        self.ranks
    }

    /// Gives up the place of a message for one behind all others.
    fn move_behind(&mut self, message: &mut Held, out: &mut Outbox<'_>) {
        out.fill(message.slot, Scraps::default(), |_| {});
        message.slot = out.reserve();
        message.rank = self.next_rank();
    }

    fn push(&mut self, message: Held) {
        if let Some(id) = &message.id {
            self.places.insert(id.clone(), self.messages.len());
        }
        self.messages.push(message);
    }

    /// Takes back a message and all behind it; if nobody knows the message, all there are.
    fn rewind(&mut self, id: &str, out: &mut Outbox<'_>) {
        let from = self.places.get(id).copied().unwrap_or(0);
        let dropped = self.messages.split_off(from.min(self.messages.len()));
        let facts = json!({ "message_id": id, "dropped": dropped.len() });
        for message in dropped {
            if let Some(id) = &message.id {
                self.places.remove(id);
            }
            self.drop_message(message, "rewound", out);
        }
        out.system(&self.stamp(&Fields::default()), "rewound", facts);
    }

    fn set(&mut self, set: &Fields<'_>, out: &mut Outbox<'_>) {
        if let Some(messages) = set.get("messages").filter(|messages| messages.is_list()) {
            return self.checkpoint(set, &messages.items(), out);
        }
        let fields: Vec<_> = set.iter().map(|(field, _)| field).collect();
        match self.messages.last_mut() {
            // Every message is followed by the time at which it was written.
            Some(last) if fields == ["lastUpdated"] => out.absorb(&mut last.scraps),
            _ => {
                let session_id = &mut self.opening.started.session_id;
                *session_id = session_id.take().or_else(|| set.string("sessionId"));
                out.system(&self.stamp(set), "metadata", json!({ "fields": fields }));
            }
        }
    }

    /// Replaces all messages; those that were there keep their places as long as the order holds.
    fn checkpoint(&mut self, set: &Fields<'_>, messages: &[Value<'_>], out: &mut Outbox<'_>) {
        let messages: Vec<_> = messages.iter().map(|message| New::read(*message)).collect();
        let count = messages.len();
        let recalled = messages.iter().filter_map(|message| message.id.as_ref());
        let recalled = recalled.filter(|id| self.dropped.contains_key(*id)).count();
        let (mut kept, dropped) = self.keep(&messages, out);
        let facts = json!({
            "messages": count,
            "dropped": dropped,
            "recalled": (recalled > 0).then_some(recalled),
        });
        out.system(&self.stamp(set), "checkpoint", facts);
        let mut last_rank = Some(0);
        for New { source, fields, id } in messages {
            let earlier = id.as_ref().and_then(|id| kept.remove(id));
            let Some(mut held) = earlier else {
                // A new message is behind all that were there, unless it says nothing new.
                let is_known = id.as_ref().is_some_and(|id| self.places.contains_key(id));
                last_rank = last_rank.filter(|_| is_known || is_only_answers(&fields));
                self.hold(source, &fields, id, out);
                continue;
            };
            last_rank = last_rank.filter(|rank| held.rank > *rank).map(|_| held.rank);
            if last_rank.is_none() {
                self.move_behind(&mut held, out);
            }
            held.renew(source);
            self.push(held);
        }
    }

    /// Empties the chat for a checkpoint; returns what that repeats, and how many it does not.
    fn keep(
        &mut self,
        messages: &[New<'_>],
        out: &mut Outbox<'_>,
    ) -> (HashMap<String, Held>, usize) {
        let ids: HashSet<_> = messages.iter().filter_map(|message| message.id.as_ref()).collect();
        let (mut kept, mut dropped) = (HashMap::new(), 0);
        self.places.clear();
        let before = std::mem::take(&mut self.messages);
        if let Some(last) = before.last().filter(|last| is_prompt(&last.fields())) {
            self.was_cut_short |= last.id.as_ref().is_none_or(|id| !ids.contains(id));
        }
        for id in ids.iter().copied() {
            kept.extend(self.dropped.remove_entry(id));
        }
        for message in before {
            match message.id.clone() {
                Some(id) if ids.contains(&id) => drop(kept.insert(id, message)),
                Some(id) => {
                    dropped += 1;
                    self.dropped.insert(id, message);
                }
                None => {
                    dropped += 1;
                    self.drop_message(message, "checkpoint", out);
                }
            }
        }
        (kept, dropped)
    }

    /// Tells of a message that was taken back; its bytes are kept there.
    fn drop_message(&self, message: Held, reason: &str, out: &mut Outbox<'_>) {
        message.tell(|id, slot, scraps, fields| {
            let facts = json!({
                "message_id": id,
                "message_type": fields.text("type"),
                "reason": reason,
                "total_tokens": fields.fields("tokens").and_then(|tokens| tokens.count("total")),
            });
            let stamp = self.stamp(fields);
            out.fill(slot, scraps, |out| out.system(&stamp, "message_dropped", facts));
        });
    }

    fn stamp(&self, fields: &Fields<'_>) -> Stamp {
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

    /// Does nothing: what looks final may still be taken back.
    fn settle(&mut self, _: &mut Outbox<'_>) {}

    fn finish(&mut self, out: &mut Outbox<'_>) {
        for (_, message) in std::mem::take(&mut self.dropped) {
            self.drop_message(message, "checkpoint", out);
        }
        let homes = self.take_homes();
        let mut retelling = Retelling::new(self.subagent.as_deref(), homes);
        for message in std::mem::take(&mut self.messages) {
            message.tell(|id, slot, scraps, fields| {
                out.fill(slot, scraps, |out| retelling.tell(id, fields, out));
            });
        }
        if self.was_cut_short {
            retelling.cut_short();
        }
        if let Some(end) = retelling.last_end {
            self.opening.begin(Some(end));
        }
        let started = &mut self.opening.started;
        started.cwd = started.cwd.take().or_else(|| retelling.cwd.take());
        self.opening.agent.model = retelling.model.take();
        self.opening.complete(out, retelling.end());
    }
}

fn call_ids(message: &Fields<'_>) -> HashSet<String> {
    let calls = message.items("toolCalls").into_iter().filter_map(Value::fields);
    calls.filter_map(|call| call.string("id")).collect()
}
