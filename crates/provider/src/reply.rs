//! One reply of an agent, folded from however many records it comes in.
//!
//! The reply holds its place in the order from its first record on: tool calls and results that
//! are seen before it is whole stand behind it.

use quipu_event::payload::{Message, SpokenMessage, Usage};
use quipu_event::{ContentBlock, Kind};

use crate::outbox::{Outbox, Scraps, Slot, Stamp};
use crate::said::{SaidBlock, Spoken};

/// A reply that is not finished.
pub(crate) struct Reply {
    /// What has been said so far, and not been written.
    pub(crate) message: Message,
    /// When it began, and who speaks.
    pub(crate) stamp: Stamp,
    /// What it cost, as far as is known; put behind the message.
    pub(crate) usage: Option<Usage>,
    /// What has been said so far, and been written.
    spoken: Option<SpokenMessage>,
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
            spoken: None,
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

    /// Adds a block that may still change. Whoever adds blocks so adds all of them so.
    pub(crate) fn add(&mut self, block: ContentBlock) {
        debug_assert!(self.spoken.is_none(), "a reply is said in one way");
        self.message.blocks.push(block);
    }

    /// Adds a block for good: it is written at once and not held beside what is written.
    pub(crate) fn say(&mut self, out: &mut Outbox<'_>, block: &SaidBlock<'_>) {
        debug_assert!(self.message.blocks.is_empty(), "a reply is said in one way");
        let spoken = self.spoken.get_or_insert_with(|| SpokenMessage::by(&self.message.role));
        // Foreign values are bounded where they are written, so this is not expected to fail.
        if spoken.add(&Spoken(block, None), block.room()).is_ok() {
            out.count_spoken(block);
        }
    }

    /// Puts the reply where it began, and its usage behind it.
    pub(crate) fn close(self, out: &mut Outbox<'_>) {
        let Reply { message, stamp, usage, spoken, slot, scraps } = self;
        out.fill(slot, scraps, |out| {
            match spoken {
                Some(spoken) => out.spoken(&stamp, Kind::MessageAssistant, spoken, &message),
                None => out.message(&stamp, Kind::MessageAssistant, message),
            }
            if let Some(usage) = &usage {
                out.usage(&stamp, usage);
            }
        });
    }
}
