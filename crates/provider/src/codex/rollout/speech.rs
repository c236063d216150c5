//! What is being said: the reply that is not finished, and the prompt that is not sure.
//!
//! A reply is all reasoning, text and calls up to the tokens it cost, or to the first answer of a
//! tool when they are known already. The agent's own events repeat what the items say; they
//! only lend their bytes, unless the items never come. A message of the user's role is a prompt
//! only if the agent's own event about it follows.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::payload::{Message, Usage};
use quipu_event::{BlockContent, ContentBlock, Fidelity, Kind, Purpose};

use crate::outbox::{Outbox, Scraps, Stamp};
use crate::reply::Reply;

/// What is being said.
#[derive(Default)]
pub(super) struct Speech {
    open: Option<OpenReply>,
    held: Option<HeldMessage>,
    /// What items of this turn have said, to know late repetitions.
    said: HashSet<u64>,
}

struct OpenReply {
    reply: Reply,
    /// What events told before the items did.
    told: Vec<ContentBlock>,
    /// Whether a tool has answered: whatever is said next is another reply.
    is_answered: bool,
}

/// A message of the user's role that may be a prompt or something injected.
struct HeldMessage {
    stamp: Stamp,
    kind: String,
    /// Images and the like, which the event does not have.
    attachments: Vec<ContentBlock>,
    scraps: Scraps,
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

    /// Notes that an item has said `text`.
    pub(super) fn note(&mut self, text: &str) {
        self.said.insert(fingerprint(text));
    }

    /// Takes what an event tells of the reply.
    pub(super) fn tell(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        model: Option<&str>,
        content: BlockContent,
    ) {
        let text = match &content {
            BlockContent::Text { text } => text,
            BlockContent::Thinking { thinking, .. } => thinking,
            _ => return,
        };
        if self.said.contains(&fingerprint(text)) {
            match &mut self.open {
                Some(open) => open.reply.absorb(out),
                None => out.system(stamp, "repeated", serde_json::Value::Null),
            }
            return;
        }
        self.reply(out, stamp, model);
        if let Some(open) = &mut self.open {
            open.told.push(content.vouched_by(Fidelity::AgentEmitted));
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
        if self.open.as_ref().is_some_and(|open| !open.reply.message.blocks.is_empty()) {
            self.end(out);
        }
    }

    /// Ends the reply.
    pub(super) fn end(&mut self, out: &mut Outbox<'_>) {
        let Some(OpenReply { mut reply, told, .. }) = self.open.take() else { return };
        if reply.message.blocks.is_empty() {
            reply.message.blocks = told;
        }
        if let Some(usage) = &mut reply.usage {
            usage.message_id.clone_from(&reply.message.message_id);
        }
        reply.close(out);
    }

    /// Forgets what was said when another turn begins.
    pub(super) fn begin_turn(&mut self, out: &mut Outbox<'_>) {
        self.end(out);
        self.said.clear();
    }

    /// Holds a message of the user's role back until it is known what it is.
    pub(super) fn hold(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        kind: String,
        attachments: Vec<ContentBlock>,
    ) {
        let mut scraps = Scraps::default();
        out.absorb(&mut scraps);
        self.held = Some(HeldMessage { stamp: stamp.clone(), kind, attachments, scraps });
    }

    /// Puts the message held back as what was injected, for nobody has called it a prompt.
    pub(super) fn release(&mut self, out: &mut Outbox<'_>) {
        let Some(HeldMessage { stamp, kind, scraps, .. }) = self.held.take() else { return };
        let facts = serde_json::json!({ "topic": kind });
        out.put_with(scraps, |out| out.system(&stamp, "context", facts));
    }

    /// Puts a prompt; the message held back is its other half.
    pub(super) fn prompt(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        id: Option<String>,
        mut blocks: Vec<ContentBlock>,
    ) {
        self.begin_turn(out);
        let (mut scraps, mut begun) = (Scraps::default(), stamp.clone());
        if let Some(held) = self.held.take() {
            (scraps, begun) = (held.scraps, held.stamp);
            let has_attachments = |block: &ContentBlock| is_attachment(block);
            if !blocks.iter().any(has_attachments) {
                blocks.extend(held.attachments);
            }
        }
        out.absorb(&mut scraps);
        let message = Message { message_id: id, ..Message::user(blocks) };
        out.put_with(scraps, |out| out.message(&begun, Kind::MessageUser, message));
    }
}

/// Makes a block of what the user wrote.
pub(super) fn prompt_text(text: impl Into<String>) -> ContentBlock {
    ContentBlock::text(Fidelity::AgentEmitted, text).with_purpose(Purpose::Prompt)
}

fn is_attachment(block: &ContentBlock) -> bool {
    matches!(block.content, BlockContent::Other { .. })
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
