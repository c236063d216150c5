//! What rewrites a chat: rewinds, checkpoints, and documents that are written anew.
//!
//! Messages that were told before they are taken back stay told. They are remembered, so that
//! nothing is told twice when they come back.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::json;

use super::held::Held;
use super::retelling::input::{is_only_answers, is_prompt};
use super::session::Session;
use crate::outbox::{Outbox, Scraps};
use crate::value::{Fields, Value};

/// A message of a checkpoint or a document.
pub(super) struct New<'a> {
    pub(super) source: &'a str,
    pub(super) fields: Fields<'a>,
    pub(super) id: Option<String>,
}

impl<'a> New<'a> {
    pub(super) fn read(message: Value<'a>) -> Self {
        let fields = message.fields().unwrap_or_default();
        New { source: message.source(), id: fields.string("id"), fields }
    }
}

/// What a checkpoint repeats.
#[derive(Default)]
struct Kept {
    by_id: HashMap<String, Held>,
    /// Messages without ids that have been told.
    nameless: Vec<Held>,
    /// How many messages are not repeated.
    dropped: usize,
}

impl Kept {
    fn take(&mut self, message: &New<'_>) -> Option<Held> {
        let Some(id) = &message.id else {
            let place = self.nameless.iter().position(|held| held.is_same(message.source))?;
            return Some(self.nameless.swap_remove(place));
        };
        self.by_id.remove(id)
    }
}

impl Session {
    /// Takes back a message and all behind it; if nobody knows the message, all there are.
    pub(super) fn rewind(&mut self, id: &str, out: &mut Outbox<'_>) {
        let from = self.places.get(id).copied().unwrap_or(0);
        let dropped = self.messages.split_off(from.min(self.messages.len()));
        let facts = json!({ "message_id": id, "dropped": dropped.len() });
        for mut message in dropped {
            if let Some(id) = &message.id {
                self.places.remove(id);
            }
            self.drop_message(&mut message, "rewound", out);
        }
        out.system(&self.stamp(&Fields::default()), "rewound", facts);
    }

    /// Takes a change of what is known of the chat.
    pub(super) fn set(&mut self, set: &Fields<'_>, out: &mut Outbox<'_>) {
        if let Some(messages) = set.get("messages").filter(|messages| messages.is_list()) {
            return self.checkpoint(set, &messages.items(), out);
        }
        let fields: Vec<_> = set.iter().map(|(field, _)| field).collect();
        match self.messages.last_mut().filter(|last| last.slot.is_some()) {
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
        let recalled = messages.iter().filter_map(|message| message.id.as_ref());
        let recalled = recalled.filter(|id| self.dropped.contains_key(*id)).count();
        let kept = self.keep(&messages, out);
        let facts = json!({
            "messages": messages.len(),
            "dropped": kept.dropped,
            "recalled": (recalled > 0).then_some(recalled),
        });
        out.system(&self.stamp(set), "checkpoint", facts);
        self.replace(messages, kept, out);
    }

    /// Takes a document that was written anew, after what it said before has been told.
    pub(super) fn version(
        &mut self,
        before: &BTreeMap<String, String>,
        fields: &Fields<'_>,
        messages: Vec<New<'_>>,
        out: &mut Outbox<'_>,
    ) {
        let changed: BTreeSet<&str> = {
            let now = self.header.iter().flatten();
            let names = now.map(|(name, _)| name).chain(before.keys());
            let header = self.header.as_ref();
            let is_changed =
                |name: &&String| header.and_then(|now| now.get(*name)) != before.get(*name);
            names.filter(is_changed).map(String::as_str).collect()
        };
        let stamp = self.stamp(fields);
        let metadata = json!({ "fields": &changed });
        let is_other = changed.contains("sessionId");
        let says_more = changed.iter().any(|name| *name != "lastUpdated");
        let kept = self.keep(&messages, out);
        if is_other {
            let facts = json!({ "session_id": fields.string("sessionId"), "resumed": true });
            out.system(&stamp, "session_started", facts);
        } else if says_more {
            out.system(&stamp, "metadata", metadata.clone());
        }
        if kept.dropped > 0 {
            let facts = json!({ "messages": messages.len(), "dropped": kept.dropped });
            out.system(&stamp, "checkpoint", facts);
        }
        self.replace(messages, kept, out);
        if !out.is_carried() {
            out.system(&stamp, "metadata", metadata);
        }
    }

    /// Fills the chat, which is empty, with messages; those that are kept stay what they were.
    fn replace(&mut self, messages: Vec<New<'_>>, mut kept: Kept, out: &mut Outbox<'_>) {
        let mut last_rank = Some(0);
        for message in messages {
            let Some(mut held) = kept.take(&message) else {
                let New { source, fields, id } = message;
                // A new message is behind all that were there, unless it says nothing new.
                let is_known = id.as_ref().is_some_and(|id| self.places.contains_key(id));
                last_rank = last_rank.filter(|_| is_known || is_only_answers(&fields));
                self.hold(source, &fields, id, out);
                continue;
            };
            if held.slot.is_none() {
                if held.is_told && held.is_same(message.source) {
                    self.push(held);
                    continue;
                }
                self.move_behind(&mut held, out);
            }
            last_rank = last_rank.filter(|rank| held.rank > *rank).map(|_| held.rank);
            if last_rank.is_none() {
                self.move_behind(&mut held, out);
            }
            out.absorb(&mut held.scraps);
            held.renew(message.source);
            self.push(held);
        }
    }

    /// Empties the chat for a checkpoint; returns what that repeats.
    fn keep(&mut self, messages: &[New<'_>], out: &mut Outbox<'_>) -> Kept {
        let ids: HashSet<_> = messages.iter().filter_map(|message| message.id.as_ref()).collect();
        let mut kept = Kept::default();
        self.places.clear();
        let before = std::mem::take(&mut self.messages);
        if let Some(last) = before.last().filter(|last| is_prompt(&last.fields())) {
            self.was_cut_short |= last.id.as_ref().is_none_or(|id| !ids.contains(id));
        }
        for id in ids.iter().copied() {
            kept.by_id.extend(self.dropped.remove_entry(id));
        }
        let is_repeated = |held: &Held| {
            held.is_told && messages.iter().any(|new| new.id.is_none() && held.is_same(new.source))
        };
        for mut message in before {
            match message.id.clone() {
                Some(id) if ids.contains(&id) => drop(kept.by_id.insert(id, message)),
                Some(id) => {
                    kept.dropped += 1;
                    self.dropped.insert(id, message);
                }
                None if is_repeated(&message) => kept.nameless.push(message),
                None => {
                    kept.dropped += 1;
                    self.drop_message(&mut message, "checkpoint", out);
                }
            }
        }
        kept
    }

    /// Tells of a message that was taken back, unless it has been told; its bytes are kept there.
    pub(super) fn drop_message(&self, message: &mut Held, reason: &str, out: &mut Outbox<'_>) {
        let Some(slot) = message.slot.take() else { return };
        if message.is_told && !message.scraps.is_owed() {
            return out.fill(slot, Scraps::default(), |_| {});
        }
        message.tell(true, |id, scraps, fields| {
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
}
