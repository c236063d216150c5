//! Responses items: what the model was given and what it said.

use quipu_event::payload::{ToolCall, ToolResult};
use quipu_event::{BlockContent, ContentBlock, Fidelity};
use serde_json::json;

use super::Rollout;
use super::outcome::Outcome;
use super::prompts::HeldMessage;
use super::twins::Sort;
use super::wire::{CallItem, injected_kind, texts};
use crate::calls::Seen;
use crate::outbox::{Outbox, Stamp};
use crate::said::Given;
use crate::value::Fields;

/// Items that are known and of no use here, and what they are told as.
const NOTED: &[(&str, &str)] = &[
    ("additional_tools", "context"),
    ("ghost_snapshot", "snapshot"),
    ("configuration_update", "metadata"),
    ("compaction", "compaction"),
    ("compaction_summary", "compaction"),
    ("context_compaction", "compaction"),
    ("compaction_trigger", "metadata"),
    ("other", "metadata"),
];

impl Rollout {
    /// Takes an item.
    pub(super) fn take_item(&mut self, item: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let Some(kind) = item.text("type") else { return };
        match &*kind {
            "message" => self.take_message(item, stamp, out),
            "reasoning" => self.take_reasoning(item, stamp, out),
            "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => {
                self.take_call(CallItem::read(&kind, item), stamp, out);
            }
            "function_call_output" | "custom_tool_call_output" => {
                self.take_answer(item, "output", stamp, out);
            }
            "tool_search_output" => self.take_answer(item, "tools", stamp, out),
            "web_search_call" => self.take_hosted(item, "web_search", "action", stamp, out),
            "image_generation_call" => {
                self.take_hosted(item, "image_generation", "revised_prompt", stamp, out);
            }
            "agent_message" => take_agent_message(item, stamp, out),
            _ => {
                if let Some((_, subtype)) = NOTED.iter().find(|(name, _)| *name == kind) {
                    out.system(stamp, subtype, json!({ "topic": kind }));
                }
            }
        }
    }

    /// Takes an item of the format before 0.32, where no event tells a prompt.
    pub(super) fn take_bare_item(
        &mut self,
        item: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        self.take_item(item, stamp, out);
        self.release(out);
    }

    fn take_message(&mut self, item: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let role = item.text("role").unwrap_or_default();
        match &*role {
            "assistant" => self.take_assistant_message(item, stamp, out),
            "user" => self.speech.hold(out, user_message(item, stamp)),
            _ => out.system(stamp, "context", json!({ "topic": role })),
        }
    }

    fn take_assistant_message(&mut self, item: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.begin_work(out);
        let mut blocks = Vec::new();
        let mut is_given = false;
        if let Some(text) = item.string("content") {
            let rest = self.speech.note(Sort::Text, &text);
            is_given = rest.is_none();
            blocks.extend(rest.map(|rest| ContentBlock::text(Fidelity::AgentEmitted, rest)));
        }
        for part in item.items("content") {
            let Some(fields) = part.fields() else { continue };
            let content = match fields.string("text").or_else(|| fields.string("refusal")) {
                Some(text) => match self.speech.note(Sort::Text, &text) {
                    Some(rest) if rest.len() == text.len() => BlockContent::Text { text },
                    Some(rest) => BlockContent::Text { text: rest.to_owned() },
                    None => {
                        is_given = true;
                        continue;
                    }
                },
                None => BlockContent::Other {
                    block_type: fields.string("type").unwrap_or_default(),
                    content: Some(part.json()),
                },
            };
            blocks.push(content.vouched_by(Fidelity::AgentEmitted));
        }
        if is_given && blocks.is_empty() {
            return self.speech.repeat(out, stamp);
        }
        let reply = self.speech.reply(out, stamp, self.model.as_deref());
        if reply.message.message_id.is_none() {
            reply.message.message_id = item.string("id");
        }
        blocks.into_iter().for_each(|block| reply.add(block));
    }

    fn take_reasoning(&mut self, item: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.begin_work(out);
        let (mut parts, mut content) = (texts(item, "summary"), texts(item, "content"));
        let had_parts = !parts.is_empty() || !content.is_empty();
        // Events tell the summary, or the reasoning itself, or both.
        for list in [&mut parts, &mut content] {
            list.retain_mut(|part| {
                let rest = self.speech.note(Sort::Thinking, part).map(str::len);
                if let Some(rest) = rest.filter(|rest| *rest < part.len()) {
                    *part = part[part.len() - rest..].to_owned().into();
                }
                rest.is_some()
            });
        }
        if had_parts && parts.is_empty() && content.is_empty() {
            return self.speech.repeat(out, stamp);
        }
        if parts.is_empty() {
            parts = content;
        }
        let thinking = match parts.len() {
            1 => parts.remove(0).into_owned(),
            _ => parts.join("\n\n"),
        };
        let content =
            BlockContent::Thinking { thinking, signature: item.string("encrypted_content") };
        let reply = self.speech.reply(out, stamp, self.model.as_deref());
        reply.add(content.vouched_by(Fidelity::AgentEmitted));
    }

    /// Takes a call; returns its id.
    fn take_call(&mut self, call: CallItem, stamp: &Stamp, out: &mut Outbox<'_>) -> String {
        self.begin_work(out);
        let call_id = call.call_id.unwrap_or_else(|| {
            self.unnamed_calls += 1;
            format!("unnamed_{}", self.unnamed_calls)
        });
        if self.calls.knows(&call_id) {
            out.system(stamp, "repeated", json!({ "tool_id": call_id }));
            return call_id;
        }
        let content = BlockContent::ToolUse {
            tool_name: call.name.clone(),
            tool_id: call_id.clone(),
            tool_input: call.input.clone(),
        };
        let reply = self.speech.reply(out, stamp, self.model.as_deref());
        reply.add(content.vouched_by(Fidelity::AgentEmitted));
        let provider = match call.server {
            Some(server) => format!("mcp:{server}"),
            None => "agent".to_owned(),
        };
        let call = ToolCall {
            name: call.name,
            call_id: call_id.clone(),
            input: call.input,
            provider: Some(provider),
            ..ToolCall::default()
        };
        self.calls.call(out, stamp, call);
        call_id
    }

    fn take_answer(&mut self, item: &Fields<'_>, key: &str, stamp: &Stamp, out: &mut Outbox<'_>) {
        let call_id = item.string("call_id").or_else(|| item.string("id")).unwrap_or_default();
        let outcome = self.outcomes.remove(&call_id).unwrap_or_default();
        let outcome = outcome.complete_from(item.get(key));
        self.answer(call_id, item.get(key).into(), outcome, stamp, out);
    }

    fn answer(
        &mut self,
        call_id: String,
        output: Given<'_>,
        outcome: Outcome,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let result = ToolResult {
            call_id: call_id.clone(),
            status: outcome.status,
            error: outcome.error,
            duration_ms: outcome.duration_ms,
            ..ToolResult::default()
        };
        if self.calls.knows(&call_id) {
            self.speech.answered(out);
        }
        if self.calls.answer(out, stamp, result, output) == Seen::Again {
            out.system(stamp, "repeated", json!({ "tool_id": call_id }));
        }
    }

    /// Takes a call of a tool that runs at the model's provider: it is over when it is told.
    fn take_hosted(
        &mut self,
        item: &Fields<'_>,
        name: &str,
        input: &str,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let (told_id, told_input) = match self.search.take().filter(|_| name == "web_search") {
            Some((id, input)) => (Some(id), input),
            None => (None, None),
        };
        let call = CallItem {
            name: name.to_owned(),
            call_id: item.string("id").or(told_id),
            input: item.json(input).or(told_input).unwrap_or_default(),
            server: None,
        };
        let call_id = self.take_call(call, stamp, out);
        let outcome = Outcome::read(item);
        let result = ToolResult {
            call_id,
            status: outcome.status,
            error: outcome.error,
            ..ToolResult::default()
        };
        // The model goes on in the same reply.
        self.calls.result(out, stamp, result);
    }
}

/// Takes what agents write to each other; mostly it is sealed.
fn take_agent_message(item: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
    let facts = json!({
        "id": item.text("id"),
        "author": item.text("author"),
        "recipient": item.text("recipient"),
    });
    out.system(stamp, "agent_message", facts);
}

/// Reads a message of the user's role.
fn user_message(item: &Fields<'_>, stamp: &Stamp) -> HeldMessage {
    let (mut kind, mut said) = (None, Vec::new());
    let parts = texts(item, "content").into_iter().chain(item.text("content"));
    for text in parts.filter(|text| !is_image_mark(text)) {
        match injected_kind(&text) {
            Some(injected) => kind = kind.or(Some(injected)),
            None => said.push(text.into_owned()),
        }
    }
    let attachments = attachments(item);
    let is_prompt = !said.is_empty() || !attachments.is_empty();
    let kind = kind.unwrap_or_else(|| "user".to_owned());
    HeldMessage {
        stamp: stamp.clone(),
        id: item.string("id"),
        injected: (!is_prompt).then_some(kind),
        texts: said,
        attachments,
    }
}

/// Tells whether a text only stands around an image: `<image name=[Image #1]>`, `</image>`.
fn is_image_mark(text: &str) -> bool {
    let text = text.trim();
    text == "</image>" || (text.starts_with("<image") && text.find('>') == Some(text.len() - 1))
}

/// Returns what a message has besides text.
fn attachments(item: &Fields<'_>) -> Vec<ContentBlock> {
    let parts = item.items("content").into_iter();
    let others = parts.filter_map(|part| {
        let fields = part.fields().filter(|fields| !fields.has("text"))?;
        let block_type = fields.string("type")?;
        Some(BlockContent::Other { block_type, content: Some(part.json()) })
    });
    others.map(|content| content.vouched_by(Fidelity::AgentEmitted)).collect()
}
