//! What is said to the agent: prompts, and what only looks like one.

use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::payload::Message;
use quipu_event::{BlockContent, ContentBlock, Fidelity, Kind, Purpose};
use serde_json::json;

use crate::outbox::{Outbox, Stamp};

use super::normalize::Events;
use super::notes;
use super::wire::Event;

impl Events {
    /// Takes something that is said to the agent.
    pub(super) fn take_input(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        match &*event.kind {
            "user.message" => self.prompt(event, stamp, out),
            "system.message" => self.system_message(event, stamp, out),
            kind => notes::put(out, stamp, kind, &event.data),
        }
    }

    fn prompt(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.put_drafts(&event.thread, out);
        self.thread(event).begin_turn();
        self.ending.go_on();
        let content = event.data.string("content").unwrap_or_default();
        let source = event.data.text("source").unwrap_or_default();
        // What one agent tells another is its prompt; what a skill or the autopilot says is not.
        let is_prompt = source.is_empty() || source == "user" || source.starts_with("agent-");
        let attachments = event.data.items("attachments");
        if !is_prompt || (content.is_empty() && attachments.is_empty()) {
            let kind = if source.is_empty() { "synthetic" } else { &*source };
            return out.system(stamp, "context", json!({ "topic": kind }));
        }
        let mut blocks = Vec::new();
        if !content.is_empty() {
            let text = ContentBlock::text(Fidelity::AgentEmitted, content);
            blocks.push(text.with_purpose(Purpose::Prompt));
        }
        for attachment in attachments {
            let (block_type, content) = ("attachment".to_owned(), Some(attachment.json()));
            let block = BlockContent::Other { block_type, content };
            blocks.push(block.vouched_by(Fidelity::AgentEmitted).with_purpose(Purpose::Prompt));
        }
        let message_id = event.data.string("messageId");
        let message = Message { message_id, ..Message::user(blocks) };
        out.message(stamp, Kind::MessageUser, message);
    }

    fn system_message(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let content = event.data.string("content").unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        (&event.thread, &content).hash(&mut hasher);
        let is_new = self.system_prompt.replace(hasher.finish()) != Some(hasher.finish());
        let is_system = event.data.text("role").is_some_and(|role| role == "system");
        if !is_new || !is_system || content.is_empty() {
            return out.system(stamp, "context", json!({ "topic": "system_prompt" }));
        }
        let block = ContentBlock::text(Fidelity::AgentEmitted, content);
        let message = Message::user(vec![block.with_purpose(Purpose::SystemPrompt)]);
        out.message(stamp, Kind::MessageUser, message);
    }
}
