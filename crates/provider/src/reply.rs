//! One reply of an agent, folded from however many records it comes in.
//!
//! The reply holds its place in the order from its first record on: tool calls and results that
//! are seen before it is whole stand behind it.

use quipu_event::payload::{Message, Usage};
use quipu_event::{ContentBlock, Kind};

use crate::outbox::{Outbox, Scraps, Slot, Stamp};

/// A reply that is not finished.
pub(crate) struct Reply {
    /// What has been said so far.
    pub(crate) message: Message,
    /// When it began, and who speaks.
    pub(crate) stamp: Stamp,
    /// What it cost, as far as is known; put behind the message.
    pub(crate) usage: Option<Usage>,
    slot: Slot,
    scraps: Scraps,
}

impl Reply {
    /// Begins a reply at this place of the order, with the record at hand.
    pub(crate) fn open(out: &mut Outbox<'_>, stamp: Stamp) -> Self {
        let mut reply = Reply {
            message: Message::assistant(Vec::new()),
            stamp,
            usage: None,
            slot: out.reserve(),
            scraps: Scraps::default(),
        };
        reply.absorb(out);
        reply
    }

    /// Keeps the bytes of the record at hand with the reply.
    pub(crate) fn absorb(&mut self, out: &mut Outbox<'_>) {
        out.absorb(&mut self.scraps);
    }

    /// Adds a block.
    pub(crate) fn add(&mut self, block: ContentBlock) {
        self.message.blocks.push(block);
    }

    /// Puts the reply where it began, and its usage behind it.
    pub(crate) fn close(self, out: &mut Outbox<'_>) {
        let Reply { message, stamp, usage, slot, scraps } = self;
        out.fill(slot, scraps, |out| {
            out.message(&stamp, Kind::MessageAssistant, message);
            if let Some(usage) = &usage {
                out.usage(&stamp, usage);
            }
        });
    }
}
