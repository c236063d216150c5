//! Messages: what was said to an agent, and what it replied.

use quipu_event::payload::Message;
use quipu_event::{BlockContent, ContentBlock, Purpose};

use super::{Entry, Part, Tone, json};

pub(super) fn message(message: Message) -> Entry {
    let facts = [
        message.turn.map(|turn| format!("turn {turn}")),
        message.model,
        message.stop_reason.filter(|reason| reason != "end_turn" && reason != "tool_use"),
    ];
    let head: Vec<String> = facts.into_iter().flatten().collect();
    Entry::headed(head.join(", "))
        .toned(Tone::Faint)
        .with_all(message.blocks.into_iter().flat_map(parts_of_block))
}

pub(super) fn parts_of_block(block: ContentBlock) -> Vec<Part> {
    let is_system = block.purpose == Some(Purpose::SystemPrompt);
    match block.content {
        BlockContent::Text { text } if is_system => {
            vec![Part::speech(text).labelled("system prompt").toned(Tone::Faint)]
        }
        BlockContent::Text { text } => vec![Part::speech(text)],
        BlockContent::Thinking { thinking, .. } => {
            vec![Part::speech(thinking).labelled("thinking").toned(Tone::Faint)]
        }
        BlockContent::ToolUse { tool_name, tool_input, .. } => {
            let (inline, parts) = json::input_parts(&tool_input);
            let call = format!("→ {tool_name} {inline}");
            let call = Part::output(call.trim_end()).toned(Tone::Action);
            std::iter::once(call).chain(parts).collect()
        }
        BlockContent::ToolResult { tool_content, is_error, .. } => {
            let tone = if is_error == Some(true) { Tone::Bad } else { Tone::Neutral };
            let mut parts = json::answer_parts(&tool_content);
            parts.iter_mut().for_each(|part| part.tone = tone);
            let head = Part::output("← result").toned(Tone::Action);
            std::iter::once(head).chain(parts).collect()
        }
        BlockContent::Command { command, exit_code, output } => {
            command_parts(&command, exit_code, output)
        }
        BlockContent::Stream { chunk } => vec![Part::speech(chunk).labelled("stream")],
        BlockContent::Other { block_type, content } => {
            let head = Part::output(format!("a block of type {block_type}")).toned(Tone::Faint);
            let parts = content.iter().flat_map(json::answer_parts);
            std::iter::once(head).chain(parts).collect()
        }
    }
}

fn command_parts(command: &str, exit_code: Option<i64>, output: Option<String>) -> Vec<Part> {
    let mut parts = vec![Part::output(format!("$ {command}")).toned(Tone::Action)];
    parts.extend(output.map(Part::output));
    parts.extend(exit_code.map(|code| {
        let tone = if code == 0 { Tone::Faint } else { Tone::Bad };
        Part::output(code.to_string()).labelled("exit code").toned(tone)
    }));
    parts
}
