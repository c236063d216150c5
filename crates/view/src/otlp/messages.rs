//! What was said, as the conventions' JSON: instructions, input and output messages, tool calls.

use std::collections::BTreeMap;

use quipu_event::payload::ToolResult;
use quipu_event::{BlockContent, ContentBlock, Event, Json, Kind, Payload, Purpose, StepPath};

use super::wire::{Attribute, Message, Part, Value};
use crate::reading::read;
use crate::spans::{Span, Work};

/// So many bytes are kept for a reply that has not come; what is said beyond is left out.
const MOST: usize = 1024 * 1024;

/// What agents were told.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Since their last replies, by who and where.
    lately: BTreeMap<(Option<Box<str>>, StepPath), Words>,
    /// Before replies that are not written yet, by the numbers of those.
    before: BTreeMap<u64, Words>,
}

#[derive(Debug, Default)]
struct Words {
    instructions: Vec<Part>,
    messages: Vec<Message>,
    bytes: usize,
}

impl Heard {
    /// Takes what was said to an agent, what a tool answered it, or that it replied.
    pub(super) fn take(&mut self, event: &Event) {
        match event.kind {
            Kind::MessageUser | Kind::ToolResult => self.hear(event),
            Kind::MessageAssistant => {
                let words = self.lately.remove(&(event.source.clone(), event.path.clone()));
                self.before.extend(words.map(|words| (event.seq, words)));
            }
            _ => {}
        }
    }

    fn hear(&mut self, event: &Event) {
        if self.lately.len() > 1024 {
            self.lately.clear();
        }
        let words = self.lately.entry((event.source.clone(), event.path.clone())).or_default();
        words.bytes += event.payload.as_str().len();
        if words.bytes > MOST {
            return;
        }
        match read(event).payload {
            Payload::Message(message) => words.say(message.blocks),
            Payload::ToolResult(result) => words.answer(answer_part(*result)),
            _ => {}
        }
    }
}

impl Words {
    fn say(&mut self, blocks: Vec<ContentBlock>) {
        let (instructions, rest): (Vec<_>, Vec<_>) =
            (blocks.into_iter()).partition(|block| block.purpose == Some(Purpose::SystemPrompt));
        self.instructions.extend(parts(instructions));
        let (answers, parts): (Vec<_>, Vec<_>) =
            parts(rest).into_iter().partition(|part| matches!(part, Part::ToolCallResponse { .. }));
        answers.into_iter().for_each(|answer| self.answer(answer));
        if !parts.is_empty() {
            self.messages.push(Message { role: "user", parts, finish_reason: None });
        }
    }

    /// An answer may be told twice, as what a tool gave and as what was said to the agent.
    fn answer(&mut self, answer: Part) {
        let mut told = self.messages.iter().flat_map(|message| &message.parts);
        if !told.any(|part| part.answers_same_call(&answer)) {
            let parts = vec![answer];
            self.messages.push(Message { role: "tool", parts, finish_reason: None });
        }
    }
}

/// Returns the attributes of a span that say what was said.
pub(super) fn of(span: &Span, heard: &mut Heard) -> Vec<Attribute> {
    let mut attributes = Vec::new();
    let mut add = |key, value: Option<String>| {
        attributes.extend(value.map(|text| Attribute::new(key, Value::Text(text))));
    };
    match &span.work {
        Work::Reply(message) => {
            let words = heard.before.remove(&span.seq).unwrap_or_default();
            add("gen_ai.system_instructions", json(&words.instructions));
            add("gen_ai.input.messages", json(&words.messages));
            let finish_reason = Some(message.stop_reason.clone().unwrap_or_default());
            let parts = parts(message.blocks.clone());
            let said = [Message { role: "assistant", parts, finish_reason }];
            add("gen_ai.output.messages", json(&said));
        }
        Work::Tool { call, result } => {
            add("gen_ai.tool.call.arguments", text(&call.input));
            add("gen_ai.tool.call.result", text(&result.output));
        }
        _ => {}
    }
    attributes
}

fn parts(blocks: Vec<ContentBlock>) -> Vec<Part> {
    blocks.into_iter().filter_map(|block| part(block.content)).collect()
}

fn answer_part(result: ToolResult) -> Part {
    let error = result.error.as_ref().filter(|_| result.output.is_null());
    let response = error.and_then(|error| Json::encode(error).ok()).unwrap_or(result.output);
    Part::ToolCallResponse { id: result.call_id, response }
}

fn part(content: BlockContent) -> Option<Part> {
    Some(match content {
        BlockContent::Text { text } => Part::Text { content: text },
        BlockContent::Thinking { thinking, .. } => Part::Reasoning { content: thinking },
        BlockContent::ToolUse { tool_name, tool_id, tool_input } => {
            Part::ToolCall { id: tool_id, name: tool_name, arguments: tool_input }
        }
        BlockContent::ToolResult { tool_id, tool_content, .. } => {
            Part::ToolCallResponse { id: tool_id, response: tool_content }
        }
        BlockContent::Command { command, .. } => Part::Text { content: format!("$ {command}") },
        BlockContent::Stream { .. } => return None,
        BlockContent::Other { block_type, .. } => Part::Other { block_type },
    })
}

/// Lists of nothing say nothing.
fn json<T: serde::Serialize>(list: &[T]) -> Option<String> {
    if list.is_empty() { None } else { serde_json::to_string(list).ok() }
}

fn text(value: &Json) -> Option<String> {
    (!value.is_null()).then(|| value.as_str().to_owned())
}
