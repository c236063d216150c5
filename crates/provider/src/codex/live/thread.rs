//! One thread of Codex: what it says, what it costs, and how its turns go.

use std::collections::HashSet;

use quipu_event::payload::{Message, UsageScope};
use quipu_event::{BlockContent, ContentBlock, Fidelity, Kind, Purpose};
use serde_json::json;

use super::meter::{Meter, Totals};
use super::prints::print;
use super::trouble::Trouble;
use super::voice::Voice;
use crate::outbox::{Outbox, Scraps, Slot, Stamp};

/// One thread.
#[derive(Default)]
pub(in crate::codex) struct Thread {
    pub(in crate::codex) voice: Voice,
    pub(in crate::codex) meter: Meter,
    /// How its last turn ended; nothing while there was none, or while one is under way.
    pub(in crate::codex) end: Option<TurnEnd>,
    /// The turn that is under way.
    turn: Option<String>,
    turns: HashSet<String>,
    /// What went wrong in this turn, as it was told last.
    trouble: Option<String>,
    /// Calls that somebody refused.
    refused: HashSet<String>,
    prompt: Option<Prompt>,
    /// What the last prompt without an id said, in short.
    last_prompt: Option<u64>,
    /// The item that repeats a prompt which had no id.
    repeated_prompt: Option<String>,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::codex) enum TurnEnd {
    Completed,
    Failed(String),
    Interrupted,
}

/// A prompt of which the end may still be told.
struct Prompt {
    id: String,
    slot: Slot,
    scraps: Scraps,
    stamp: Stamp,
    message: Message,
}

impl Thread {
    /// Takes the beginning of a turn.
    pub(in crate::codex) fn begin_turn(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, id: &str) {
        if !id.is_empty() && self.turn.as_deref() == Some(id) {
            return out.system(stamp, "repeated", json!({ "turn_id": id }));
        }
        self.rest(out);
        self.turns.insert(id.to_owned());
        self.turn = Some(id.to_owned());
        self.end = None;
        self.trouble = None;
        let turn_id = (!id.is_empty()).then_some(id);
        out.system(stamp, "turn_started", json!({ "turn_id": turn_id }));
    }

    /// Takes the end of a turn.
    pub(in crate::codex) fn end_turn(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        end: TurnEnd,
        duration_ms: Option<u64>,
    ) {
        self.cut_off(out, stamp);
        let status = match &end {
            TurnEnd::Completed => "completed",
            TurnEnd::Failed(_) => "failed",
            TurnEnd::Interrupted => "interrupted",
        };
        let turn_id = self.turn.take().filter(|id| !id.is_empty());
        if end == TurnEnd::Interrupted {
            out.system(stamp, "interrupted", json!({ "turn_id": turn_id }));
        }
        let facts = json!({ "status": status, "duration_ms": duration_ms, "turn_id": turn_id });
        out.system(stamp, "turn_completed", facts);
        self.end = Some(end);
    }

    /// Notes that a turn belongs to this input.
    pub(in crate::codex) fn know_turn(&mut self, id: &str) {
        if !self.turns.contains(id) {
            self.turns.insert(id.to_owned());
        }
    }

    /// Tells whether a turn belongs to this input.
    pub(in crate::codex) fn knows_turn(&self, id: &str) -> bool {
        self.turns.contains(id)
    }

    /// Tells whether a turn is under way.
    pub(in crate::codex) fn is_in_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// Takes an error, unless the same has just been told; returns whether it was new.
    pub(in crate::codex) fn fail(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        trouble: &Trouble,
    ) -> bool {
        let is_new = self.trouble.as_deref() != Some(&*trouble.message);
        if is_new {
            self.voice.end_reply(out);
            out.error(stamp, &trouble.report());
        }
        self.trouble = Some(trouble.message.clone());
        is_new
    }

    /// Returns what went wrong in this turn.
    pub(in crate::codex) fn trouble(&self) -> Option<String> {
        self.trouble.clone()
    }

    /// Takes a report of the running total; `last` is what the last response added.
    pub(in crate::codex) fn count(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        scope: UsageScope,
        total: Totals,
        last: Option<Totals>,
    ) -> bool {
        let usage = self.meter.take(total, last, scope, self.voice.model.clone());
        if let Some(usage) = &usage {
            // A response is counted when it is complete.
            self.rest(out);
            out.usage(stamp, usage);
        }
        usage.is_some()
    }

    /// Takes a prompt that is complete.
    pub(in crate::codex) fn prompt(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        blocks: Vec<ContentBlock>,
    ) {
        self.rest(out);
        out.message(stamp, Kind::MessageUser, Message::user(blocks));
    }

    /// Takes a prompt of plain text; the same one told twice in a row is one.
    pub(in crate::codex) fn prompt_text(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        text: String,
    ) {
        let print = print(&*text);
        if self.last_prompt.take() == Some(print) {
            return out.system(stamp, "repeated", json!({ "topic": "prompt" }));
        }
        self.last_prompt = Some(print);
        self.prompt(out, stamp, vec![prompt_block(text)]);
    }

    /// Takes a prompt as it begins: its end, which says the same, follows.
    pub(in crate::codex) fn begin_prompt(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        id: &str,
        blocks: Vec<ContentBlock>,
    ) {
        if self.is_prompt_again(id, &blocks) {
            return out.system(stamp, "repeated", json!({ "topic": "prompt" }));
        }
        self.rest(out);
        let mut scraps = Scraps::default();
        let slot = out.reserve();
        out.absorb(&mut scraps);
        let message = Message::user(blocks);
        self.prompt =
            Some(Prompt { id: id.to_owned(), slot, scraps, stamp: stamp.clone(), message });
    }

    /// Takes the end of a prompt.
    pub(in crate::codex) fn end_prompt(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        id: &str,
        blocks: Vec<ContentBlock>,
    ) {
        if let Some(prompt) = self.prompt.as_mut().filter(|prompt| prompt.id == id) {
            out.absorb(&mut prompt.scraps);
            prompt.message = Message::user(blocks);
            return self.put_prompt(out);
        }
        if self.is_prompt_again(id, &blocks) {
            return out.system(stamp, "repeated", json!({ "topic": "prompt" }));
        }
        self.prompt(out, stamp, blocks);
    }

    /// Takes a refusal of a call, told once.
    pub(in crate::codex) fn refuse(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        call_id: &str,
        decision: Option<&str>,
    ) {
        if self.refused.insert(call_id.to_owned()) {
            let facts = json!({ "tool_id": call_id, "decision": decision });
            out.system(stamp, "permission_denied", facts);
        }
    }

    /// Ends what is complete, so that others do not wait behind it.
    pub(in crate::codex) fn rest(&mut self, out: &mut Outbox<'_>) {
        self.put_prompt(out);
        self.voice.end_reply(out);
    }

    /// Ends everything that is under way.
    pub(in crate::codex) fn cut_off(&mut self, out: &mut Outbox<'_>, stamp: &Stamp) {
        self.put_prompt(out);
        self.voice.cut_off(out);
        self.voice.give_outputs(out, stamp);
    }

    /// Gives what is held back, although more may come.
    pub(in crate::codex) fn settle(&mut self, out: &mut Outbox<'_>) {
        self.put_prompt(out);
        self.voice.cut_off(out);
    }

    /// Tells whether an item is a prompt that was told before without an id.
    fn is_prompt_again(&mut self, id: &str, blocks: &[ContentBlock]) -> bool {
        if self.repeated_prompt.as_deref() == Some(id) {
            return true;
        }
        let text = blocks.iter().find_map(|block| match &block.content {
            BlockContent::Text { text } => Some(&**text),
            _ => None,
        });
        let is_again = text.is_some() && text.map(print) == self.last_prompt;
        if is_again {
            self.last_prompt = None;
            self.repeated_prompt = Some(id.to_owned());
        }
        is_again
    }

    fn put_prompt(&mut self, out: &mut Outbox<'_>) {
        if let Some(Prompt { slot, scraps, stamp, message, .. }) = self.prompt.take() {
            out.fill(slot, scraps, |out| out.message(&stamp, Kind::MessageUser, message));
        }
    }
}

/// Makes the block of a prompt.
pub(super) fn prompt_block(text: impl Into<String>) -> ContentBlock {
    ContentBlock::text(Fidelity::AgentEmitted, text).with_purpose(Purpose::Prompt)
}
