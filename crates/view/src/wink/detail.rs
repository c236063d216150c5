//! What an entry says in the words of its adapter, so that WINK's readers find text, tool and call.
//!
//! The agent's own record says it, where the run has it. Our own event stays beside it, whole.

use quipu_event::payload::{Message, ToolCall, ToolResult, ToolStatus};
use quipu_event::{BlockContent, ContentBlock, Json, Kind, Payload};
use serde::Deserialize;

use super::line::in_a_line;
use super::native;
use super::wire::{Detail, Item, Notification, SdkBlock, SdkEntry, SdkMessage, encode};
use crate::entries::{Entry, EntryType};

/// What an entry was made from, beside our event.
#[derive(Default)]
pub(super) struct Source<'a> {
    /// The agent's own record.
    pub(super) record: Option<&'a Json>,
    /// Whether thoughts of the same record are entries of their own.
    pub(super) has_thoughts: bool,
    /// What a call is called here, if that is not its own id.
    pub(super) call_id: Option<&'a str>,
}

/// Returns the detail of an entry with the adapter's own shape beside our event.
pub(super) fn in_words_of_adapter(entry: &Entry, source: &Source<'_>) -> Option<Json> {
    let ours = entry.detail.as_ref()?;
    let Ok(Ours { event, subtype }) = ours.decode() else { return Some(ours.clone()) };
    let About { kind, path, payload } = event.decode().unwrap_or_default();
    let payload = payload.unwrap_or_else(Json::null);
    let said = match entry.entry_type {
        EntryType::UserMessage | EntryType::AssistantMessage | EntryType::Thinking => {
            with_message(entry, source, &message(&kind, &payload), &event)
        }
        EntryType::ToolUse => {
            let call: ToolCall = payload.decode().unwrap_or_default();
            with_call(entry, source, &call, &event)
        }
        EntryType::ToolResult => {
            let result: ToolResult = payload.decode().unwrap_or_default();
            with_result(entry, source, result, &event)
        }
        _ => {
            let mut detail = Detail { subtype: subtype.as_deref(), ..Detail::of(&event) };
            detail.text = Some(in_a_line(&kind, &path, &payload));
            let native = source.record.map(|record| (Speech::of(entry), record));
            match native {
                Some((Speech::ClaudeSdk, record)) => {
                    detail.sdk_entry = native::sdk_entry(record).map(SdkEntry::Native);
                }
                Some((Speech::CodexServer, record)) => {
                    detail.notification = native::params(record).map(Notification::Native);
                }
                _ => {}
            }
            encode(&detail)
        }
    };
    Some(said)
}

#[derive(Deserialize)]
struct Ours {
    event: Json,
    #[serde(default)]
    subtype: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct About {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    payload: Option<Json>,
}

impl Source<'_> {
    /// Returns what Codex' own record is about, unless the call is called otherwise here.
    fn notification<'a>(&self) -> Option<Notification<'a>> {
        let record = self.record.filter(|_| self.call_id.is_none())?;
        native::params(record).map(Notification::Native)
    }
}

/// Whose words.
enum Speech {
    ClaudeSdk,
    CodexServer,
    Plain,
}

impl Speech {
    fn of(entry: &Entry) -> Speech {
        match entry.adapter.as_str() {
            "claude_agent_sdk" => Speech::ClaudeSdk,
            "codex_app_server" => Speech::CodexServer,
            _ => Speech::Plain,
        }
    }
}

fn message(kind: &str, payload: &Json) -> Message {
    match Payload::decode(&Kind::from(kind), payload) {
        Ok(Payload::Message(message)) => message,
        _ => Message::default(),
    }
}

fn with_message(entry: &Entry, source: &Source<'_>, message: &Message, event: &Json) -> Json {
    let mut detail = Detail::of(event);
    let is_thought = entry.entry_type == EntryType::Thinking;
    match Speech::of(entry) {
        Speech::ClaudeSdk if is_thought => {
            let thinking = text_of(&message.blocks);
            detail.sdk_entry = Some(SdkEntry::Block(SdkBlock::Thinking { thinking }));
        }
        Speech::ClaudeSdk => {
            let role = match entry.entry_type {
                EntryType::UserMessage => "user",
                _ => "assistant",
            };
            let native = |record| native::sdk_message(record, source.has_thoughts);
            let made = || {
                let content = message.blocks.iter().filter_map(sdk_block).collect();
                SdkEntry::Message { kind: role, message: SdkMessage { role, content } }
            };
            let native = source.record.and_then(native).map(SdkEntry::Native);
            detail.sdk_entry = Some(native.unwrap_or_else(made));
        }
        Speech::CodexServer if entry.entry_type != EntryType::UserMessage => {
            let kind = if is_thought { "reasoning" } else { "agentMessage" };
            let made =
                || Notification::Item { item: Item { kind, text: text_of(&message.blocks) } };
            detail.notification = Some(source.notification().unwrap_or_else(made));
        }
        Speech::CodexServer | Speech::Plain => detail.text = Some(text_of(&message.blocks)),
    }
    encode(&detail)
}

fn with_call(entry: &Entry, source: &Source<'_>, call: &ToolCall, event: &Json) -> Json {
    let mut detail = Detail::of(event);
    let ToolCall { name, input, .. } = call;
    let call_id = source.call_id.unwrap_or(&call.call_id);
    let content = encode(&input.as_str());
    match Speech::of(entry) {
        Speech::ClaudeSdk => {
            let block = SdkBlock::ToolUse { id: call_id, name, input };
            detail.sdk_entry = Some(SdkEntry::Block(block));
        }
        Speech::CodexServer => {
            let made = || Notification::Call { tool: name, call_id, arguments: input };
            detail.notification = Some(source.notification().unwrap_or_else(made));
            detail.content = Some(&content);
        }
        Speech::Plain => {
            detail.tool_name = Some(name);
            detail.tool_call_id = Some(call_id);
            detail.content = Some(&content);
        }
    }
    encode(&detail)
}

fn with_result(entry: &Entry, source: &Source<'_>, call: ToolResult, event: &Json) -> Json {
    let mut detail = Detail::of(event);
    let ToolResult { name, call_id, input, output, error, status, .. } = call;
    let call_id = source.call_id.unwrap_or(&call_id);
    let failed = status.as_ref().is_some_and(|status| *status != ToolStatus::Completed)
        || error.as_deref().is_some_and(|error| !error.is_empty());
    let answer = match error {
        Some(error) if output.is_null() => encode(&error),
        _ => output,
    };
    match Speech::of(entry) {
        Speech::ClaudeSdk => {
            detail.sdk_entry = Some(SdkEntry::Block(SdkBlock::ToolResult {
                tool_use_id: call_id,
                tool_name: Some(name.as_str()).filter(|name| !name.is_empty()),
                content: &answer,
                is_error: failed,
            }));
        }
        Speech::CodexServer => {
            let made = || Notification::Call { tool: &name, call_id, arguments: &input };
            detail.notification = Some(source.notification().unwrap_or_else(made));
            detail.result = Some(&answer);
        }
        Speech::Plain => {
            detail.tool_name = Some(&name);
            detail.tool_call_id = Some(call_id);
            detail.status = Some(if failed { "failed" } else { "completed" });
            detail.content = Some(&answer);
        }
    }
    encode(&detail)
}

fn sdk_block(block: &ContentBlock) -> Option<SdkBlock<'_>> {
    Some(match &block.content {
        BlockContent::Text { text } => SdkBlock::Text { text },
        BlockContent::Thinking { thinking, .. } => {
            SdkBlock::Thinking { thinking: thinking.clone() }
        }
        BlockContent::ToolUse { tool_name, tool_id, tool_input } => {
            SdkBlock::ToolUse { id: tool_id, name: tool_name, input: tool_input }
        }
        BlockContent::ToolResult { tool_id, tool_content, is_error } => SdkBlock::ToolResult {
            tool_use_id: tool_id,
            tool_name: None,
            content: tool_content,
            is_error: is_error.unwrap_or(false),
        },
        BlockContent::Command { command, .. } => SdkBlock::Text { text: command },
        BlockContent::Stream { chunk } => SdkBlock::Text { text: chunk },
        BlockContent::Other { content, .. } => SdkBlock::Foreign(content.as_ref()?),
    })
}

fn text_of(blocks: &[ContentBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match &block.content {
        BlockContent::Text { text: said }
        | BlockContent::Thinking { thinking: said, .. }
        | BlockContent::Command { command: said, .. }
        | BlockContent::Stream { chunk: said } => Some(said.clone()),
        BlockContent::ToolResult { tool_content, .. } => {
            Some(tool_content.decode().unwrap_or_else(|_| tool_content.as_str().to_owned()))
        }
        BlockContent::Other { block_type, .. } => Some(format!("[{block_type}]")),
        BlockContent::ToolUse { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
