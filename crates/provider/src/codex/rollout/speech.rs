//! What is being said: the reply that is not finished, and the prompt that is not sure.
//!
//! A reply is all reasoning, text and calls up to the tokens it cost, or to the first answer of a
//! tool when they are known already. The agent's own events repeat what the items say; they
//! only lend their bytes, unless the items never come. Which message is a prompt is decided in
//! [`super::prompts`].

use std::collections::HashSet;

use quipu_event::payload::Usage;
use quipu_event::{BlockContent, Fidelity};

use super::prompts::Prompts;
use super::twins::{self, Remembered, Sort, Told};
use crate::outbox::{Outbox, Stamp};
use crate::reply::Reply;

/// What is being said.
#[derive(Default)]
pub(super) struct Speech {
    pub(super) prompts: Prompts,
    open: Option<OpenReply>,
    /// What items of this turn have said before any event did, to know late repetitions.
    said: HashSet<u64>,
    /// What replies of this turn have taken from events, whose items may still come.
    given: Vec<(Sort, Remembered)>,
}

struct OpenReply {
    reply: Reply,
    /// What events told and no item has said yet.
    told: Vec<Told>,
    /// Whether a tool has answered: whatever is said next is another reply.
    is_answered: bool,
}

impl Speech {
    /// Returns the reply that the record at hand belongs to, begun if need be, with its bytes.
    pub(super) fn reply(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        model: Option<&str>,
    ) -> &mut Reply {
        if self.open.as_ref().is_some_and(|open| open.is_answered) {
            self.end(out);
        }
        let open = self.open.get_or_insert_with(|| {
            let mut reply = Reply::open(out, stamp.clone());
            reply.message.model = model.map(str::to_owned);
            OpenReply { reply, told: Vec::new(), is_answered: false }
        });
        open.reply.absorb(out);
        &mut open.reply
    }

    /// Notes that an item says `text`; returns what no reply has taken from an event already.
    pub(super) fn note<'t>(&mut self, sort: Sort, text: &'t str) -> Option<&'t str> {
        if let Some(from) = twins::take_given(&mut self.given, sort, text) {
            return text.get(from..).filter(|rest| !rest.is_empty());
        }
        let print = twins::fingerprint(sort, text);
        let is_told =
            self.open.as_mut().is_some_and(|open| twins::settle(&mut open.told, sort, text));
        if !is_told {
            self.said.insert(print);
        }
        Some(text)
    }

    /// Keeps the bytes of a record that says nothing new.
    pub(super) fn repeat(&mut self, out: &mut Outbox<'_>, stamp: &Stamp) {
        match &mut self.open {
            Some(open) => open.reply.absorb(out),
            None => out.system(stamp, "repeated", serde_json::Value::Null),
        }
    }

    /// Takes what an event tells of the reply.
    pub(super) fn tell(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        model: Option<&str>,
        content: BlockContent,
    ) {
        let is_said = twins::said_by(&content).is_none_or(|(sort, text)| {
            let reply = self.open.as_ref().map(|open| &*open.reply.message.blocks);
            self.said.contains(&twins::fingerprint(sort, text))
                || reply.is_some_and(|blocks| twins::is_said_in(blocks, sort, text))
        });
        if is_said {
            return self.repeat(out, stamp);
        }
        self.reply(out, stamp, model);
        if let Some(open) = &mut self.open {
            let at = open.reply.message.blocks.len();
            open.told.push(Told { at, block: content.vouched_by(Fidelity::AgentEmitted) });
        }
    }

    /// Takes the cost of the reply, or of what was said before if there is none.
    pub(super) fn cost(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, usage: Usage) {
        let Some(open) = self.open.as_mut().filter(|open| open.reply.usage.is_none()) else {
            out.usage(stamp, &usage);
            return;
        };
        open.reply.absorb(out);
        open.reply.usage = Some(usage);
        if !open.reply.message.blocks.is_empty() {
            self.end(out);
        }
    }

    /// Notes that a tool has answered.
    pub(super) fn answered(&mut self, out: &mut Outbox<'_>) {
        let Some(open) = &mut self.open else { return };
        open.is_answered = true;
        if open.reply.usage.is_some() {
            self.end(out);
        }
    }

    /// Ends the reply at the end of a turn, unless its items are still to come.
    ///
    /// An interrupted turn's items are written behind its end.
    pub(super) fn pause(&mut self, out: &mut Outbox<'_>) {
        let is_whole = |open: &OpenReply| {
            open.told.iter().all(Told::is_silent) && !open.reply.message.blocks.is_empty()
        };
        if self.open.as_ref().is_some_and(is_whole) {
            self.end(out);
        }
    }

    /// Ends the reply; what only events have told of it is said where they told it.
    pub(super) fn end(&mut self, out: &mut Outbox<'_>) {
        let Some(OpenReply { mut reply, told, .. }) = self.open.take() else { return };
        twins::fold(&mut reply.message.blocks, told, &mut self.given);
        if let Some(usage) = &mut reply.usage {
            usage.message_id.clone_from(&reply.message.message_id);
        }
        reply.close(out);
    }

    /// Forgets what was said when another turn begins.
    pub(super) fn begin_turn(&mut self, out: &mut Outbox<'_>) {
        self.end(out);
        self.said.clear();
        self.given.clear();
    }
}
