//! What is said: chunks folded into messages, and the tool calls between them.

use std::collections::{HashMap, HashSet};

use quipu_event::payload::Message;
use quipu_event::{ContentBlock, Fidelity, Kind, Purpose};
use serde_json::json;

use crate::calls::Calls;
use crate::outbox::{Outbox, Scraps, Slot, Stamp};
use crate::value::{Fields, Value};

use super::calling::{Progress, Tool};
use super::wire;

/// What sort of thing an agent says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    Thought,
    Text,
}

/// The conversation of one input.
#[derive(Default)]
pub(super) struct Speech {
    pub(super) calls: Calls,
    reply: Option<Telling>,
    prompt: Option<Prompt>,
    tools: HashMap<String, Tool>,
    /// Ids of messages that have been put.
    told: HashSet<String>,
}

/// A reply that is being told, at its place in the order.
struct Telling {
    stamp: Stamp,
    parts: Vec<Part>,
    slot: Slot,
    scraps: Scraps,
}

enum Part {
    Said { voice: Voice, message_id: Option<String>, text: String },
    Block { message_id: Option<String>, block: ContentBlock },
    Tool(String),
}

/// A prompt that the agent tells back bit by bit.
#[derive(Default)]
struct Prompt {
    stamp: Stamp,
    message_id: Option<String>,
    text: String,
    others: Vec<ContentBlock>,
    scraps: Scraps,
}

impl Speech {
    /// Folds a chunk of what the agent thinks or says.
    pub(super) fn chunk(
        &mut self,
        voice: Voice,
        update: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let message_id = update.string("messageId");
        let is_other = message_id.is_some() && self.id_of(voice).is_some_and(|id| id != message_id);
        if is_other {
            self.close_reply(out);
        }
        let parts = self.tell(stamp, out);
        if let Some(content) = update.get("content") {
            add(parts, voice, message_id, content);
        }
    }

    /// Takes a whole message that may replace what was told of it; returns whether it could.
    pub(super) fn replace(
        &mut self,
        voice: Voice,
        update: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) -> bool {
        let message_id = update.string("messageId");
        if message_id.as_ref().is_some_and(|id| self.told.contains(id)) {
            return false;
        }
        if self.id_of(voice).is_some_and(|id| id != message_id) {
            self.close_reply(out);
        }
        let parts = self.tell(stamp, out);
        if update.has("content") {
            parts.retain(|part| !part.is_of(voice, &message_id));
        }
        for content in update.items("content") {
            add(parts, voice, message_id.clone(), content);
        }
        true
    }

    /// Folds a chunk of a prompt that is told back.
    pub(super) fn prompt_chunk(
        &mut self,
        update: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let message_id = update.string("messageId");
        if self.prompt.as_ref().is_some_and(|prompt| prompt.message_id != message_id) {
            self.close_prompt(out);
        }
        self.close_reply(out);
        let prompt = self.prompt.get_or_insert_with(|| Prompt {
            stamp: stamp.clone(),
            message_id,
            ..Prompt::default()
        });
        out.absorb(&mut prompt.scraps);
        let content = update.get("content");
        let items =
            content.map(|content| if content.is_list() { content.items() } else { vec![content] });
        for item in items.unwrap_or_default() {
            match wire::text_of(item) {
                Some(text) => prompt.text.push_str(&text),
                None => prompt.others.push(wire::other_block(item)),
            }
        }
    }

    /// Puts a prompt that was told back.
    pub(super) fn close_prompt(&mut self, out: &mut Outbox<'_>) {
        let Some(Prompt { stamp, message_id, text, others, scraps }) = self.prompt.take() else {
            return;
        };
        let mut blocks = Vec::new();
        if !text.is_empty() {
            blocks.push(ContentBlock::text(Fidelity::AgentEmitted, text));
        }
        blocks.extend(others);
        let blocks = blocks.into_iter().map(|block| block.with_purpose(Purpose::Prompt)).collect();
        let message = Message { message_id, ..Message::user(blocks) };
        out.put_with(scraps, |out| out.message(&stamp, Kind::MessageUser, message));
    }

    /// Takes what a record says of a call.
    pub(super) fn tool(
        &mut self,
        fields: &Fields<'_>,
        stamp: &Stamp,
        now: Option<u64>,
        out: &mut Outbox<'_>,
    ) {
        let Some(call_id) = fields.string("toolCallId") else { return };
        let tool = self.tools.entry(call_id.clone()).or_default();
        tool.since = tool.since.or(now);
        tool.update(fields);
        self.advance(&call_id, stamp, now, out);
    }

    /// Takes what a request for permission says of a call; it is news only if nobody knew it.
    pub(super) fn ask(
        &mut self,
        fields: &Fields<'_>,
        stamp: &Stamp,
        now: Option<u64>,
        out: &mut Outbox<'_>,
    ) {
        let Some(call_id) = fields.string("toolCallId") else { return };
        let is_known =
            self.tools.get(&call_id).is_some_and(|tool| tool.progress != Progress::Unasked);
        if !is_known {
            self.tool(fields, stamp, now, out);
        }
    }

    /// Adds to what is shown of a call.
    pub(super) fn tool_content(
        &mut self,
        fields: &Fields<'_>,
        stamp: &Stamp,
        now: Option<u64>,
        out: &mut Outbox<'_>,
    ) {
        let Some(call_id) = fields.string("toolCallId") else { return };
        if let Some(content) = fields.get("content") {
            self.tools.entry(call_id.clone()).or_default().add_content(content);
        }
        self.advance(&call_id, stamp, now, out);
    }

    /// Puts what follows from a record about a call.
    fn advance(&mut self, call_id: &str, stamp: &Stamp, now: Option<u64>, out: &mut Outbox<'_>) {
        let tool = self.tools.entry(call_id.to_owned()).or_default();
        let (progress, is_over, is_named) = (tool.progress, tool.is_over(), tool.is_named());
        match progress {
            Progress::Unasked if is_over && !is_named => {
                return self.answer(call_id, stamp, now, out);
            }
            Progress::Unasked => {
                tool.progress = Progress::Asked;
                self.tell(stamp, out).push(Part::Tool(call_id.to_owned()));
            }
            Progress::Asked if !is_over => self.absorb(out),
            Progress::Asked => {}
            Progress::Called if !is_over => {
                let facts = json!({ "tool_id": call_id, "status": tool.status() });
                out.system(stamp, "progress", facts);
            }
            Progress::Called => {}
            Progress::Answered => {
                return out.system(stamp, "repeated", json!({ "tool_id": call_id }));
            }
        }
        if is_over {
            self.close_reply(out);
            self.answer(call_id, stamp, now, out);
        }
    }

    fn answer(&mut self, call_id: &str, stamp: &Stamp, now: Option<u64>, out: &mut Outbox<'_>) {
        let Some(tool) = self.tools.get_mut(call_id) else { return };
        let result = tool.result(call_id, now);
        // A result that came before anybody said what was called waits for that.
        if tool.progress != Progress::Unasked {
            *tool = Tool::answered();
        }
        self.calls.result(out, stamp, result);
    }

    /// Notes that somebody refused a call.
    pub(super) fn deny(&mut self, call_id: &str) {
        self.tools.entry(call_id.to_owned()).or_default().is_denied = true;
    }

    /// Takes the end of a turn: puts what is being told, and the results of refused calls.
    pub(super) fn end_turn(&mut self, stamp: &Stamp, now: Option<u64>, out: &mut Outbox<'_>) {
        self.close_prompt(out);
        self.close_reply(out);
        let is_refused = |tool: &Tool| tool.is_denied && tool.progress == Progress::Called;
        let refused = self.tools.iter().filter(|(_, tool)| is_refused(tool));
        let mut refused: Vec<String> = refused.map(|(call_id, _)| call_id.clone()).collect();
        refused.sort();
        for call_id in refused {
            self.answer(&call_id, stamp, now, out);
        }
    }

    /// Puts the reply that is being told, and the calls it asks for.
    pub(super) fn close_reply(&mut self, out: &mut Outbox<'_>) {
        let Some(Telling { stamp, parts, slot, scraps }) = self.reply.take() else { return };
        let mut message = Message::assistant(Vec::new());
        message.message_id = message_id(&parts);
        let mut asked = Vec::new();
        for part in parts {
            self.told.extend(part.message_id().cloned());
            if let Part::Tool(call_id) = &part {
                let tool = self.tools.entry(call_id.clone()).or_default();
                tool.progress = Progress::Called;
                asked.push(tool.call(call_id));
                message.blocks.push(tool.block(call_id));
            }
            message.blocks.extend(part.block());
        }
        out.fill(slot, scraps, |out| {
            out.message(&stamp, Kind::MessageAssistant, message);
            for call in asked {
                self.calls.call(out, &stamp, call);
            }
        });
    }

    /// Keeps the bytes of the record at hand with the reply.
    fn absorb(&mut self, out: &mut Outbox<'_>) {
        if let Some(telling) = &mut self.reply {
            out.absorb(&mut telling.scraps);
        }
    }

    /// Returns the parts of the reply that is being told by whoever speaks.
    fn tell(&mut self, stamp: &Stamp, out: &mut Outbox<'_>) -> &mut Vec<Part> {
        self.close_prompt(out);
        if self.reply.as_ref().is_some_and(|telling| telling.stamp.source != stamp.source) {
            self.close_reply(out);
        }
        let telling = self.reply.get_or_insert_with(|| Telling {
            stamp: stamp.clone(),
            parts: Vec::new(),
            slot: out.reserve(),
            scraps: Scraps::default(),
        });
        out.absorb(&mut telling.scraps);
        &mut telling.parts
    }

    /// Returns the id of the message that is being told in this voice, if any is.
    fn id_of(&self, voice: Voice) -> Option<Option<String>> {
        let parts = &self.reply.as_ref()?.parts;
        parts.iter().rev().find_map(|part| match part {
            Part::Said { voice: own, message_id, .. } if *own == voice => Some(message_id.clone()),
            _ => None,
        })
    }
}

impl Part {
    fn message_id(&self) -> Option<&String> {
        match self {
            Part::Said { message_id, .. } | Part::Block { message_id, .. } => message_id.as_ref(),
            Part::Tool(_) => None,
        }
    }

    /// Makes the block of what was said, if it was anything.
    fn block(self) -> Option<ContentBlock> {
        match self {
            Part::Said { text, .. } if text.is_empty() => None,
            Part::Said { voice: Voice::Thought, text, .. } => {
                Some(ContentBlock::thinking(Fidelity::AgentEmitted, text))
            }
            Part::Said { voice: Voice::Text, text, .. } => {
                Some(ContentBlock::text(Fidelity::AgentEmitted, text))
            }
            Part::Block { block, .. } => Some(block),
            Part::Tool(_) => None,
        }
    }

    fn is_of(&self, wanted: Voice, message_id: &Option<String>) -> bool {
        match self {
            Part::Said { voice, message_id: own, .. } => *voice == wanted && own == message_id,
            Part::Block { message_id: own, .. } => wanted == Voice::Text && own == message_id,
            Part::Tool(_) => false,
        }
    }
}

/// Returns the id of the message that is told, or else of the thoughts before it.
fn message_id(parts: &[Part]) -> Option<String> {
    let is_thought = |part: &&Part| matches!(part, Part::Said { voice: Voice::Thought, .. });
    let spoken = parts.iter().filter(|part| !is_thought(part)).find_map(Part::message_id);
    spoken.or_else(|| parts.iter().find_map(Part::message_id)).cloned()
}

fn add(parts: &mut Vec<Part>, voice: Voice, message_id: Option<String>, content: Value<'_>) {
    let Some(piece) = wire::text_of(content) else {
        parts.push(Part::Block { message_id, block: wire::other_block(content) });
        return;
    };
    match parts.last_mut() {
        Some(Part::Said { voice: own, text, .. }) if *own == voice => text.push_str(&piece),
        _ => parts.push(Part::Said { voice, message_id, text: piece.into_owned() }),
    }
}
