//! Chats on disk: keeps the state that their records write, and tells it at the end.
//!
//! A message keeps the place of its first record whatever is written of it later. Nothing is told
//! while more may come: a rewind or a checkpoint may take back any message and its tokens.

use std::collections::{HashMap, HashSet};

use serde_json::json;

use super::retelling::{Retelling, told_types};
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Scraps, Slot, Stamp};
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
}

/// A message as it was last written.
struct Held {
    id: Option<String>,
    source: Box<str>,
    slot: Slot,
    scraps: Scraps,
}

/// A message of a checkpoint.
struct New<'a> {
    source: &'a str,
    fields: Option<Fields<'a>>,
    id: Option<String>,
}

impl<'a> New<'a> {
    fn read(message: Value<'a>) -> Self {
        let fields = message.fields();
        let id = fields.as_ref().and_then(|fields| fields.string("id"));
        New { source: message.source(), fields, id }
    }
}

/// What was there before a checkpoint.
struct Before {
    /// What the checkpoint repeats, and where it stood, by its id.
    kept: HashMap<String, (usize, Held)>,
    /// How many it does not repeat.
    dropped: usize,
}

impl Before {
    /// Returns the tokens of a message that the checkpoint repeats without them.
    fn tokens_forgotten(&self, message: &New<'_>) -> Option<u64> {
        let (_, held) = self.kept.get(message.id.as_ref()?)?;
        let has_tokens =
            message.fields.as_ref().is_some_and(|fields| fields.get("tokens").is_some());
        if has_tokens { None } else { total_tokens(&fields_of(&held.source)) }
    }
}

fn fields_of(source: &str) -> Fields<'_> {
    Value::parse(source).ok().and_then(Value::fields).unwrap_or_default()
}

fn total_tokens(message: &Fields<'_>) -> Option<u64> {
    message.fields("tokens")?.count("total")
}

impl Session {
    pub(super) fn new() -> Self {
        Session {
            opening: Opening::new("gemini", "session"),
            has_header: false,
            subagent: None,
            messages: Vec::new(),
            places: HashMap::new(),
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
            self.hold(message.source(), message.fields().as_ref(), out);
        }
    }

    /// Keeps a message, in the place of an earlier one with its id.
    fn hold(&mut self, source: &str, fields: Option<&Fields<'_>>, out: &mut Outbox<'_>) {
        let id = fields.and_then(|fields| fields.string("id"));
        let earlier = id.as_ref().and_then(|id| self.places.get(id));
        if let Some(earlier) = earlier.and_then(|place| self.messages.get_mut(*place)) {
            earlier.source = source.into();
            return out.absorb(&mut earlier.scraps);
        }
        let mut scraps = Scraps::default();
        out.absorb(&mut scraps);
        self.push(Held { id, source: source.into(), slot: out.reserve(), scraps });
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
        let mut before = self.keep(&messages, out);
        let (count, dropped) = (messages.len(), before.dropped);
        let forgotten = messages.iter().filter_map(|message| before.tokens_forgotten(message));
        let facts = json!({
            "messages": count,
            "dropped": dropped,
            "tokens_forgotten": forgotten.reduce(u64::saturating_add),
        });
        out.system(&self.stamp(set), "checkpoint", facts);
        let mut next = Some(0);
        for New { source, fields, id } in messages {
            let earlier = id.as_ref().and_then(|id| before.kept.remove(id));
            let Some((place, mut held)) = earlier else {
                // A repeated id is not news; a new one is behind all that were there.
                next = next.filter(|_| id.is_some_and(|id| self.places.contains_key(&id)));
                self.hold(source, fields.as_ref(), out);
                continue;
            };
            next = next.filter(|next| place >= *next).map(|_| place + 1);
            if next.is_none() {
                out.fill(held.slot, Scraps::default(), |_| {});
                held.slot = out.reserve();
            }
            held.source = source.into();
            self.push(held);
        }
    }

    /// Empties the chat for a checkpoint, and takes back what that does not repeat.
    fn keep(&mut self, messages: &[New<'_>], out: &mut Outbox<'_>) -> Before {
        let ids: HashSet<_> = messages.iter().filter_map(|message| message.id.as_deref()).collect();
        let mut before = Before { kept: HashMap::new(), dropped: 0 };
        self.places.clear();
        for (place, message) in std::mem::take(&mut self.messages).into_iter().enumerate() {
            match message.id.clone().filter(|id| ids.contains(&**id)) {
                Some(id) => drop(before.kept.insert(id, (place, message))),
                None => {
                    before.dropped += 1;
                    self.drop_message(message, "checkpoint", out);
                }
            }
        }
        before
    }

    /// Tells of a message that was taken back; its bytes are kept there.
    fn drop_message(&self, message: Held, reason: &str, out: &mut Outbox<'_>) {
        let Held { id, source, slot, scraps } = message;
        let fields = fields_of(&source);
        let facts = json!({
            "message_id": id,
            "message_type": fields.text("type"),
            "reason": reason,
            "total_tokens": total_tokens(&fields),
        });
        let stamp = self.stamp(&fields);
        out.fill(slot, scraps, |out| out.system(&stamp, "message_dropped", facts));
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
            self.hold(record.source, Some(fields), out);
        } else if let Some(set) = set {
            self.set(&set, out);
        } else if fields.has("sessionId") && (fields.has("projectHash") || fields.has("messages")) {
            self.header(fields, out);
        }
    }

    /// Does nothing: what looks final may still be taken back.
    fn settle(&mut self, _: &mut Outbox<'_>) {}

    fn finish(&mut self, out: &mut Outbox<'_>) {
        let mut retelling = Retelling::new(self.subagent.as_deref());
        self.places.clear();
        for message in std::mem::take(&mut self.messages) {
            let Held { id, source, slot, scraps } = message;
            out.fill(slot, scraps, |out| retelling.tell(id, &fields_of(&source), out));
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
