//! What was said in a step, and what its tools did: lines of its transcript.

use quipu_event::payload::{Message, ToolCall, ToolResult, ToolStatus};
use quipu_event::{BlockContent, Event, Json, Kind};
use serde_json::json;

use super::calls::{Answer, moment, written};
use super::said::{Said, cut, text_of};
use super::tell::Telling;
use super::wire::{Spoken, line};
use crate::files::Shelf;

/// So many characters of a message, and of what a tool got or gave, stand in the log.
const MOST_SAID: usize = 500;
const MOST_OF_TOOL: usize = 200;
/// What a reply begins with that nobody gave.
const STUB_MARK: &str = "[STUB]";

impl Telling {
    /// Writes what a message says; returns whether it says anything that can be written.
    pub(super) fn say(&mut self, event: &Event, message: &Message, shelf: &mut dyn Shelf) -> bool {
        let mut said = Said::of(&event.kind, message, self.prompts_by_place);
        let (acts, thinks_only) = (tools_in(message), said.lines().next().is_none());
        if thinks_only && !acts {
            return false;
        }
        let execution = self.at(event, shelf);
        execution.note_model(message.model.as_deref());
        if let Some(reply) = said.assistant.as_mut() {
            execution.has_reply = true;
            if execution.is_stub && !reply.starts_with(STUB_MARK) {
                reply.insert_str(0, "[STUB] ");
            }
        }
        let mut lines = Vec::new();
        for (role, content) in said.lines() {
            let timestamp = moment(event.timestamp);
            lines.extend(line(&Spoken { timestamp, role, content }));
        }
        for block in &message.blocks {
            match &block.content {
                BlockContent::ToolUse { tool_name, tool_id, tool_input } => {
                    let at = event.timestamp;
                    lines.extend(execution.calls.announce(tool_id, tool_name, tool_input, at));
                }
                BlockContent::ToolResult { tool_id, tool_content, is_error } => {
                    let is_error = is_error.unwrap_or(false);
                    let answer = Answer { text: text_of(tool_content), is_error, is_cut: false };
                    let answered =
                        execution.calls.answer_announced(tool_id, &answer, event.timestamp);
                    lines.extend(answered.into_iter().flatten());
                }
                BlockContent::Command { command, output, .. } => {
                    let input = Json::encode(&json!({ "command": command })).unwrap_or_default();
                    let answer =
                        output.clone().map(|text| Answer { text, is_error: false, is_cut: false });
                    lines.extend(written(event.timestamp, "Bash", &input, answer.as_ref()));
                }
                _ => {}
            }
        }
        self.append(event, &lines, shelf);
        for (role, content) in said.lines() {
            let is_reply = event.kind == Kind::MessageAssistant;
            let kind = if is_reply { "assistant_message" } else { "user_message" };
            let payload = json!({ "role": role, "content": cut(content, MOST_SAID) });
            self.write(event, kind, payload, shelf);
        }
        true
    }

    /// Notes a call, which is written with its answer.
    pub(super) fn call(&mut self, event: &Event, call: &ToolCall, shelf: &mut dyn Shelf) {
        let execution = self.at(event, shelf);
        execution.tool_calls += 1;
        let ToolCall { call_id, name, input, .. } = call;
        let unanswered = execution.calls.call(call_id, name, input, event.timestamp);
        self.append(event, &unanswered, shelf);
        let input = text_of(input);
        let payload = json!({
            "tool": name, "input": cut(&input, MOST_OF_TOOL), "tool_use_id": call_id,
        });
        self.write(event, "tool_start", payload, shelf);
    }

    /// Writes a call with its answer.
    pub(super) fn answer(&mut self, event: &Event, result: &ToolResult, shelf: &mut dyn Shelf) {
        let answered = self.at(event, shelf).calls.answer(result, event.timestamp);
        self.append(event, &answered, shelf);
        let output = text_of(&result.output);
        let status = result.status.as_ref();
        let payload = json!({
            "tool": result.name,
            "success": status == Some(&ToolStatus::Completed),
            "output": cut(&output, MOST_OF_TOOL),
            "error": result.error,
            "status": status.map(ToolStatus::as_str),
            "duration_ms": result.duration_ms,
            "tool_use_id": result.call_id,
        });
        self.write(event, "tool_end", payload, shelf);
    }

    /// Adds lines to the transcript of the execution that `event` is of.
    pub(super) fn append(&mut self, event: &Event, lines: &[u8], shelf: &mut dyn Shelf) {
        if lines.is_empty() {
            return;
        }
        self.at(event, shelf);
        let key = self.key_of(event);
        if let Some(execution) = self.slots.open.get(&key) {
            shelf.append(&self.slots.transcript(execution), lines);
        }
    }
}

/// Tells whether a message has calls, answers or commands in it.
fn tools_in(message: &Message) -> bool {
    message.blocks.iter().any(|block| {
        matches!(
            block.content,
            BlockContent::ToolUse { .. }
                | BlockContent::ToolResult { .. }
                | BlockContent::Command { .. }
        )
    })
}
