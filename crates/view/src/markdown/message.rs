//! Messages: prompts, replies, thinking, and the blocks of other sorts among them.

use quipu_event::payload::Message;
use quipu_event::{BlockContent, ContentBlock, Event, Kind, Purpose};

use super::asked::Asked;
use super::escape::code;
use super::opening::{add, add_foreign, close, open};
use super::speech::quoted;
use super::{Length, fence, value};

/// Appends a message. The calls in it go to `asked`.
pub(crate) fn message(
    out: &mut String,
    event: &Event,
    message: &Message,
    length: Length,
    asked: &mut Asked,
) {
    let is_reply = event.kind == Kind::MessageAssistant;
    let calls = |block: &&ContentBlock| matches!(block.content, BlockContent::ToolUse { .. });
    let only_calls = !message.blocks.is_empty() && message.blocks.iter().all(|b| calls(&b));
    if !only_calls {
        let word = match () {
            () if is_reply => "Assistant",
            () if message.blocks.iter().any(|b| b.purpose == Some(Purpose::Prompt)) => "Prompt",
            () => "User",
        };
        open(out, word, "");
        add_foreign(out, message.model.as_deref().unwrap_or_default());
        let reason = message.stop_reason.as_deref().unwrap_or_default();
        if !matches!(reason, "end_turn" | "tool_use" | "stop") {
            add_foreign(out, reason);
        }
        close(out, event);
    }
    if message.blocks.is_empty() {
        out.push_str("*nothing was said*\n\n");
    }
    for item in &message.blocks {
        match &item.content {
            BlockContent::ToolUse { tool_name, tool_id, tool_input } => {
                asked.note(event, tool_name, tool_id, tool_input);
            }
            _ => block(out, item, length),
        }
    }
}

/// Appends one block.
pub(crate) fn block(out: &mut String, block: &ContentBlock, length: Length) {
    match &block.content {
        BlockContent::Text { text } if block.purpose == Some(Purpose::SystemPrompt) => {
            folded(out, "System prompt", |out| quoted(out, text));
        }
        BlockContent::Text { text } => quoted(out, text),
        BlockContent::Thinking { thinking, .. } if thinking.is_empty() => {
            out.push_str("*thinking that is not shown*\n\n");
        }
        BlockContent::Thinking { thinking, .. } => {
            folded(out, "Thinking", |out| quoted(out, thinking));
        }
        BlockContent::ToolUse { tool_name, tool_input, .. } => {
            open(out, "→", tool_name);
            out.push_str("\n\n");
            value::facts(out, tool_input, length);
        }
        BlockContent::ToolResult { tool_id, tool_content, is_error } => {
            open(out, if *is_error == Some(true) { "✗ result" } else { "← result" }, "");
            out.push_str(" of ");
            code(out, tool_id);
            out.push_str("\n\n");
            value::answer(out, tool_content, length);
        }
        BlockContent::Command { command, exit_code, output } => {
            fence::fenced(out, "sh", command, Length::Full);
            if let Some(output) = output {
                fence::fenced(out, "", output, length);
            }
            if let Some(exit_code) = exit_code {
                out.push_str("exit code");
                add(out, &exit_code.to_string());
                out.push_str("\n\n");
            }
        }
        BlockContent::Stream { chunk } => quoted(out, chunk),
        BlockContent::Other { block_type, content } => {
            out.push_str("*a block of type* ");
            code(out, block_type);
            out.push_str("\n\n");
            if let Some(content) = content {
                value::answer(out, content, length);
            }
        }
    }
}

/// Appends what is shown only when it is asked for.
fn folded(out: &mut String, summary: &str, inside: impl FnOnce(&mut String)) {
    out.push_str("<details><summary>");
    out.push_str(summary);
    out.push_str("</summary>\n\n");
    inside(out);
    out.push_str("</details>\n\n");
}
