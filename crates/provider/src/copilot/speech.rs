//! What an agent says: pieces that are folded, and the message they become.
//!
//! Pieces hold no place in the order, because the pieces of a subagent may come between those of
//! the main agent. Their bytes travel with the message they become. A message waits for the next
//! event of its thread, as its reasoning may be told behind it.

use quipu_event::payload::{Message, ToolCall, Usage};
use quipu_event::{BlockContent, ContentBlock, Fidelity, Kind};

use crate::outbox::{Outbox, Scraps, Stamp};

use super::wire::{self, Event};

/// What one agent is about to say.
#[derive(Default)]
pub(super) struct Thread {
    /// Messages of which only pieces have come.
    drafts: Vec<Draft>,
    /// A message that is whole.
    said: Option<Said>,
    /// Whether the last message that was put has told its reasoning.
    has_thought: bool,
    /// Usage of a message that is still to come, by the id of the model call.
    pub(super) usage: Option<(Option<String>, Accounted)>,
}

/// Usage, and the record that tells of it.
pub(super) struct Accounted {
    pub(super) stamp: Stamp,
    pub(super) usage: Usage,
    pub(super) scraps: Scraps,
}

impl Accounted {
    pub(super) fn put(self, out: &mut Outbox<'_>) {
        let Accounted { stamp, usage, scraps } = self;
        out.put_with(scraps, |out| out.usage(&stamp, &usage));
    }
}

/// A message that is whole, with what goes behind it.
pub(super) struct Said {
    pub(super) stamp: Stamp,
    pub(super) message: Message,
    pub(super) calls: Vec<ToolCall>,
    /// Usage that the message itself names.
    pub(super) usage: Option<Usage>,
    /// Usage that another record names.
    pub(super) accounted: Option<Accounted>,
    pub(super) scraps: Scraps,
}

/// The pieces of one message.
#[derive(Default)]
struct Draft {
    stamp: Stamp,
    message_id: Option<String>,
    thinking: String,
    text: String,
    calls: Vec<DraftCall>,
    scraps: Scraps,
}

struct DraftCall {
    call_id: String,
    name: String,
    input: String,
}

impl Thread {
    /// Folds a piece.
    pub(super) fn piece(&mut self, event: &Event<'_>, out: &mut Outbox<'_>) {
        let draft = self.draft(event);
        out.absorb(&mut draft.scraps);
        let piece = event.data.text("deltaContent").unwrap_or_default();
        match &*event.kind {
            "assistant.message_delta" => draft.text.push_str(&piece),
            "assistant.reasoning_delta" => draft.thinking.push_str(&piece),
            "assistant.tool_call_delta" => draft.call_piece(event),
            _ => {}
        }
    }

    /// Returns the draft that a piece belongs to.
    fn draft(&mut self, event: &Event<'_>) -> &mut Draft {
        let message_id = event.data.string("messageId");
        let found = match &message_id {
            Some(id) => {
                let is_it = |draft: &Draft| draft.message_id.as_ref().is_none_or(|own| own == id);
                self.drafts.iter().rposition(is_it)
            }
            None => self.drafts.len().checked_sub(1),
        };
        let index = found.unwrap_or_else(|| {
            self.drafts.push(Draft { stamp: event.stamp(), ..Draft::default() });
            self.drafts.len() - 1
        });
        let draft = &mut self.drafts[index];
        draft.message_id = draft.message_id.take().or(message_id);
        draft
    }

    /// Takes a whole message; the pieces that it was announced with go into it.
    pub(super) fn message(
        &mut self,
        event: &Event<'_>,
        usage: Option<Usage>,
        out: &mut Outbox<'_>,
    ) {
        let mut said = self.read_message(event);
        out.absorb(&mut said.scraps);
        said.usage = usage;
        let api_call = event.data.string("apiCallId");
        said.accounted = self.usage.take_if(|(call, _)| *call == api_call).map(|(_, usage)| usage);
        self.said = Some(said);
    }

    /// Takes a further part of the message that has just been taken.
    pub(super) fn continue_message(&mut self, event: &Event<'_>, out: &mut Outbox<'_>) -> bool {
        let message_id = event.data.string("messageId");
        let is_part = event.data.count("chunkIndex").is_some_and(|index| index > 0);
        let Some(said) = &mut self.said else { return false };
        if !is_part || message_id.is_none() || said.message.message_id != message_id {
            return false;
        }
        out.absorb(&mut said.scraps);
        said.calls
            .extend(event.data.items("toolRequests").into_iter().filter_map(wire::tool_request));
        for block in blocks(event, String::new()) {
            join(&mut said.message.blocks, block);
        }
        true
    }

    fn read_message(&mut self, event: &Event<'_>) -> Said {
        let message_id = event.data.string("messageId");
        let is_it = |draft: &Draft| draft.message_id.is_none() || draft.message_id == message_id;
        let draft = match self.drafts.iter().position(is_it) {
            Some(index) => self.drafts.remove(index),
            None => Draft::default(),
        };
        let requests = event.data.items("toolRequests");
        let mut blocks = blocks(event, draft.thinking);
        if !event.data.has("content") && !draft.text.is_empty() {
            let behind_thinking = blocks.iter().take_while(|block| is_thinking(block)).count();
            blocks.insert(behind_thinking, ContentBlock::text(Fidelity::AgentEmitted, draft.text));
        }
        let message = Message { message_id, model: event.model(), ..Message::assistant(blocks) };
        Said {
            stamp: event.stamp(),
            message,
            calls: requests.into_iter().filter_map(wire::tool_request).collect(),
            usage: None,
            accounted: None,
            scraps: draft.scraps,
        }
    }

    /// Takes reasoning that is told for itself; returns whether it found its message.
    pub(super) fn reasoning(&mut self, event: &Event<'_>, out: &mut Outbox<'_>) -> bool {
        let content = event.data.string("content").unwrap_or_default();
        if let Some(said) = &mut self.said {
            out.absorb(&mut said.scraps);
            add_thinking(&mut said.message.blocks, content);
            return true;
        }
        if self.has_thought {
            return false;
        }
        // The message is still to come.
        let draft = self.draft(event);
        out.absorb(&mut draft.scraps);
        draft.thinking = content;
        true
    }

    /// Forgets the pieces of a turn that is tried again; returns their bytes.
    pub(super) fn discard(&mut self) -> Vec<Scraps> {
        self.drafts.drain(..).map(|draft| draft.scraps).collect()
    }

    /// Returns the message that is whole, as its thread goes on.
    pub(super) fn take_said(&mut self) -> Option<Said> {
        let said = self.said.take()?;
        self.has_thought = said.message.blocks.iter().any(is_thinking);
        Some(said)
    }

    /// Begins a turn.
    pub(super) fn begin_turn(&mut self) {
        self.has_thought = false;
    }

    /// Puts what there is of messages that will not be finished; returns the calls they ask for.
    pub(super) fn put_drafts(&mut self, out: &mut Outbox<'_>) -> Vec<(Stamp, ToolCall)> {
        let mut calls = Vec::new();
        for draft in std::mem::take(&mut self.drafts) {
            draft.put(out, &mut calls);
        }
        calls
    }
}

impl Draft {
    fn call_piece(&mut self, event: &Event<'_>) {
        let Some(call_id) = event.data.string("toolCallId") else { return };
        let piece = event.data.text("inputDelta").unwrap_or_default();
        match self.calls.iter_mut().rev().find(|call| call.call_id == call_id) {
            Some(call) => call.input.push_str(&piece),
            None => self.calls.push(DraftCall {
                call_id,
                name: event.data.string("toolName").unwrap_or_default(),
                input: piece.into_owned(),
            }),
        }
    }

    fn put(self, out: &mut Outbox<'_>, calls: &mut Vec<(Stamp, ToolCall)>) {
        let Draft { stamp, message_id, thinking, text, calls: asked, scraps } = self;
        let mut blocks = Vec::new();
        add_thinking(&mut blocks, thinking);
        if !text.is_empty() {
            blocks.push(ContentBlock::text(Fidelity::AgentEmitted, text));
        }
        for DraftCall { call_id, name, input } in asked {
            let is_whole = serde_json::from_str::<serde::de::IgnoredAny>(&input).is_ok();
            let call = ToolCall {
                name,
                call_id,
                input: wire::finished_arguments(&input),
                provider: Some("agent".to_owned()),
                ..ToolCall::default()
            };
            blocks.push(tool_use(&call));
            // Half of the arguments is no call yet, only something that was being said.
            if is_whole {
                calls.push((stamp.clone(), call));
            }
        }
        let message = Message { message_id, ..Message::assistant(blocks) };
        out.put_with(scraps, |out| out.message(&stamp, Kind::MessageAssistant, message));
    }
}

/// Makes the blocks of a message: reasoning, text, calls.
fn blocks(event: &Event<'_>, announced_thinking: String) -> Vec<ContentBlock> {
    let data = &event.data;
    let mut blocks = Vec::new();
    let thinking = data.string("reasoningText").filter(|text| !text.is_empty());
    let thinking = thinking.unwrap_or(announced_thinking);
    let signature = data.string("reasoningOpaque").or_else(|| data.string("encryptedContent"));
    let signature = signature.filter(|text| !text.is_empty());
    if !thinking.is_empty() || signature.is_some() {
        let thinking = BlockContent::Thinking { thinking, signature };
        blocks.push(thinking.vouched_by(Fidelity::AgentEmitted));
    }
    if let Some(text) = data.string("content").filter(|text| !text.is_empty()) {
        blocks.push(ContentBlock::text(Fidelity::AgentEmitted, text));
    }
    for request in data.items("toolRequests") {
        let block = match wire::tool_request(request) {
            Some(call) => tool_use(&call),
            None => {
                let content = Some(request.json());
                let block_type = "tool_request".to_owned();
                BlockContent::Other { block_type, content }.vouched_by(Fidelity::AgentEmitted)
            }
        };
        blocks.push(block);
    }
    blocks
}

/// Makes the block that says that the model asks for a tool.
pub(super) fn tool_use(call: &ToolCall) -> ContentBlock {
    let content = BlockContent::ToolUse {
        tool_name: call.name.clone(),
        tool_id: call.call_id.clone(),
        tool_input: call.input.clone(),
    };
    content.vouched_by(Fidelity::AgentEmitted)
}

/// Adds a block; text goes on in the text before it.
fn join(blocks: &mut Vec<ContentBlock>, block: ContentBlock) {
    match (blocks.last_mut().map(|last| &mut last.content), block) {
        (
            Some(BlockContent::Text { text }),
            ContentBlock { content: BlockContent::Text { text: more }, .. },
        ) => text.push_str(&more),
        (_, block) => blocks.push(block),
    }
}

fn is_thinking(block: &ContentBlock) -> bool {
    matches!(block.content, BlockContent::Thinking { .. })
}

/// Adds reasoning to a message that has not told any.
fn add_thinking(blocks: &mut Vec<ContentBlock>, content: String) {
    if content.is_empty() {
        return;
    }
    match blocks.first_mut().map(|block| &mut block.content) {
        Some(BlockContent::Thinking { thinking, .. }) if thinking.is_empty() => *thinking = content,
        Some(BlockContent::Thinking { .. }) => {}
        _ => blocks.insert(0, ContentBlock::thinking(Fidelity::AgentEmitted, content)),
    }
}
