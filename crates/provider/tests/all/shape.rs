//! The same conversation through every wire format.

use quipu_event::payload::Message;
use quipu_event::{BlockContent, Kind, Payload, Purpose};
use quipu_provider::KeptBytes;

use crate::case;
use crate::reading::{payloads, read};

/// What every surface shows of the conversation, in this order.
///
/// Lines that begin with `?` are shown by those surfaces only that have the fact: not every agent
/// repeats the prompt, shows its thoughts or says that a call has begun.
const SHAPE: &[&str] = &[
    "run.started",
    "? message.user: text \"List the files.\"",
    "message.assistant:",
    "? thinking \"I should look.\"",
    "? text \"Let me look.\"",
    "tool_use",
    "tool.call",
    "tool.result",
    "message.assistant:",
    "text \"There are two files.\"",
    "run.completed",
];

/// Surfaces that show less by their nature, and what they show.
const LESS: &[(&str, &[&str])] = &[
    // One object at the end, with the last text alone.
    (
        "gemini/json",
        &["run.started", "message.assistant:", "text \"There are two files.\"", "run.completed"],
    ),
];

#[test]
fn the_same_conversation_has_the_same_shape_with_every_provider() {
    let cases = case::called("hello_tool");
    let surfaces = quipu_provider::PROVIDERS.iter().flat_map(|provider| provider.surfaces).count();
    assert_eq!(cases.len(), surfaces, "every surface has the conversation");
    for case in cases {
        let title = format!("{}/{}", case.provider.name, case.surface.name);
        let (made, _) = read(case.surface, KeptBytes::Unknown, &case.input);
        let actual = describe(&payloads(&made));
        let less = LESS.iter().find(|(surface, _)| *surface == title).map(|(_, shape)| *shape);
        let mut expected = less.unwrap_or(SHAPE).iter().peekable();
        for line in &actual {
            while let Some(optional) = expected.peek().and_then(|line| line.strip_prefix("? ")) {
                if optional == line {
                    break;
                }
                expected.next();
            }
            let wanted = expected.next().map(|wanted| wanted.trim_start_matches("? "));
            assert_eq!(wanted, Some(line.as_str()), "{title}: {actual:#?}");
        }
        assert_eq!(expected.next(), None, "{title}: {actual:#?}");
    }
}

/// Describes events without their documented extras: facts and prompts of the system, and tokens.
fn describe(payloads: &[(Kind, Payload)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (kind, payload) in payloads {
        match payload {
            Payload::System(_) | Payload::Usage(_) => {}
            Payload::Message(message) if is_system_prompt(message) => {}
            Payload::Message(message) => {
                let blocks: Vec<_> =
                    message.blocks.iter().map(|block| block_of(&block.content)).collect();
                if *kind == Kind::MessageUser {
                    lines.push(format!("{kind}: {}", blocks.join(", ")));
                } else {
                    lines.push(format!("{kind}:"));
                    lines.extend(blocks);
                }
            }
            _ => lines.push(kind.to_string()),
        }
    }
    lines
}

fn is_system_prompt(message: &Message) -> bool {
    message.blocks.iter().any(|block| block.purpose == Some(Purpose::SystemPrompt))
}

fn block_of(content: &BlockContent) -> String {
    match content {
        BlockContent::Text { text } => format!("text {text:?}"),
        BlockContent::Thinking { thinking, .. } => format!("thinking {thinking:?}"),
        other => other.block_type().to_owned(),
    }
}
