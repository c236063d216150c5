//! Which messages of the user's role are prompts.
//!
//! What the user wrote and what the agent adds stand in the same kind of item. The agent's own
//! event tells a prompt; where no event comes, whatever does not look like an addition is one.
//! Event and item of one prompt come in either order and are one message.

use std::collections::VecDeque;

use quipu_event::payload::Message;
use quipu_event::{BlockContent, ContentBlock, Fidelity, Kind, Purpose};
use serde_json::json;

use super::speech::Speech;
use super::twins::{Remembered, is_same, said_by};
use crate::outbox::{Outbox, Scraps, Stamp};

/// So many prompts may wait for their other half.
const REMEMBERED: usize = 16;

/// The prompts of one rollout.
#[derive(Default)]
pub(super) struct Prompts {
    held: Option<(HeldMessage, Scraps)>,
    /// What prompts say of which only one half has come.
    halves: VecDeque<(Half, Vec<Remembered>)>,
}

/// Who tells a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Event,
    Item,
}

/// A message of the user's role that may be a prompt or something injected.
pub(super) struct HeldMessage {
    pub(super) stamp: Stamp,
    pub(super) id: Option<String>,
    /// What was injected; nothing if it looks like a prompt.
    pub(super) injected: Option<String>,
    /// What it says that does not look injected.
    pub(super) texts: Vec<String>,
    /// Images and the like, which the event does not have.
    pub(super) attachments: Vec<ContentBlock>,
}

impl Prompts {
    /// Tells whether a message is held back that is a prompt if no event comes.
    pub(super) fn awaits(&self) -> bool {
        self.held.as_ref().is_some_and(|(message, _)| message.injected.is_none())
    }

    /// Tells whether the other half of a prompt has come before, which is then complete.
    fn complete<T: AsRef<str>>(&mut self, other: Half, texts: &[T]) -> bool {
        let is_said = |said: &Remembered| texts.iter().any(|text| said.is_alike(text.as_ref()));
        let is_it =
            |(half, said): &(Half, Vec<Remembered>)| *half == other && said.iter().any(is_said);
        let place = self.halves.iter().position(is_it);
        place.and_then(|place| self.halves.remove(place)).is_some()
    }

    fn remember<T: AsRef<str>>(&mut self, half: Half, texts: &[T]) {
        if self.halves.len() == REMEMBERED {
            self.halves.pop_front();
        }
        let texts = texts.iter().map(|text| Remembered::of(text.as_ref()));
        self.halves.push_back((half, texts.collect()));
    }

    /// Takes the message held back if it is what an event tells in `texts`.
    fn take_held(&mut self, texts: &[&str]) -> Option<(HeldMessage, Scraps)> {
        self.held.take_if(|(message, _)| {
            // What is taken for something injected may well be what the user wrote.
            message.injected.is_some()
                || message.texts.is_empty()
                || texts.iter().all(|text| text.is_empty())
                || message.texts.iter().any(|said| texts.iter().any(|told| is_same(said, told)))
        })
    }
}

impl Speech {
    /// Holds a message of the user's role back until it is known what it is.
    pub(super) fn hold(&mut self, out: &mut Outbox<'_>, message: HeldMessage) {
        if self.prompts.complete(Half::Event, &message.texts) {
            return out.system(&message.stamp, "repeated", json!({ "topic": "prompt" }));
        }
        let mut scraps = Scraps::default();
        out.absorb(&mut scraps);
        self.prompts.held = Some((message, scraps));
    }

    /// Puts the message held back, for no event has called it a prompt.
    pub(super) fn release(&mut self, out: &mut Outbox<'_>) {
        let Some((held, scraps)) = self.prompts.held.take() else { return };
        let HeldMessage { stamp, id, injected, texts, attachments } = held;
        if let Some(kind) = injected {
            let facts = json!({ "topic": kind });
            return out.put_with(scraps, |out| out.system(&stamp, "context", facts));
        }
        self.begin_turn(out);
        self.prompts.remember(Half::Item, &texts);
        let blocks = texts.into_iter().map(prompt_text).chain(attachments).collect();
        let message = Message { message_id: id, ..Message::user(blocks) };
        out.put_with(scraps, |out| out.message(&stamp, Kind::MessageUser, message));
    }

    /// Puts a prompt that an event tells; the message held back is its other half.
    pub(super) fn prompt(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        id: Option<String>,
        mut blocks: Vec<ContentBlock>,
    ) {
        let texts = blocks.iter().filter_map(|block| said_by(&block.content));
        let texts: Vec<_> = texts.map(|(_, text)| text).collect();
        let held = self.prompts.take_held(&texts);
        if held.is_none() {
            self.release(out);
            if self.prompts.complete(Half::Item, &texts) {
                return out.system(stamp, "repeated", json!({ "topic": "prompt" }));
            }
            self.prompts.remember(Half::Event, &texts);
        }
        self.begin_turn(out);
        let (mut scraps, mut begun) = (Scraps::default(), stamp.clone());
        if let Some((held, bytes)) = held {
            (scraps, begun) = (bytes, held.stamp);
            if !blocks.iter().any(is_attachment) {
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
