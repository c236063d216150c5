//! What a stub says when a step scripts it: thoughts, tool calls and texts, as an agent would.
//!
//! ```yaml
//! options:
//!   stub_script:
//!     - {thinking: "Where is it read?"}
//!     - {tool: Grep, input: {pattern: cache}, output: "src/cache.rs:7"}
//!     - {wait_ms: 300}
//!     - {text: "It is read too early."}
//!     - {usage: {input_tokens: 812, output_tokens: 40}}
//! ```

use std::time::Duration;

use quipu_event::payload::{Message, TokenCounts, ToolCall, ToolResult, ToolStatus};
use quipu_event::{BlockContent, ContentBlock, Draft, Fidelity, Json, Kind};
use serde::Deserialize;
use serde_json::Value;

use super::super::cli::as_text;
use super::super::desk::Desk;

/// The longest time that a script waits at a place: it is there to be watched, not to hang.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// What a stub says, in order.
pub(super) struct Script(Vec<Line>);

enum Line {
    Thinking(String),
    Text(String),
    Tool {
        name: String,
        input: Value,
        output: Value,
        error: Option<String>,
    },
    Wait(Duration),
    /// What the answer is said to have taken.
    Usage(TokenCounts),
}

impl Script {
    /// Reads a script. What is no line of one is left out.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let lines: Vec<_> = value.as_array()?.iter().filter_map(line).collect();
        (!lines.is_empty()).then_some(Script(lines))
    }

    /// Returns what it says last.
    pub(super) fn answer(&self) -> Option<String> {
        self.0.iter().rev().find_map(|line| match line {
            Line::Text(text) => Some(text.clone()),
            _ => None,
        })
    }

    /// Returns what the answer is said to have taken, if the script says.
    pub(super) fn tokens(&self) -> Option<TokenCounts> {
        let mut told = self.0.iter().filter_map(|line| match line {
            Line::Usage(tokens) => Some(tokens),
            _ => None,
        });
        let mut sum = *told.next()?;
        told.for_each(|tokens| sum.add(tokens));
        Some(sum)
    }

    /// Plays what comes before the answer. The blocks that belong to the answer's own message are
    /// returned.
    pub(super) async fn play(&self, model: &str, desk: &Desk) -> Vec<ContentBlock> {
        let last_text = self.0.iter().rposition(|line| matches!(line, Line::Text(_)));
        let mut blocks = Vec::new();
        for (index, line) in self.0.iter().enumerate() {
            match line {
                Line::Thinking(text) => {
                    blocks.push(ContentBlock::thinking(Fidelity::AgentEmitted, text));
                }
                Line::Text(_) if Some(index) == last_text => {}
                Line::Usage(_) => {}
                Line::Text(text) => blocks.push(ContentBlock::text(Fidelity::AgentEmitted, text)),
                Line::Tool { name, input, output, error } => {
                    let call_id = format!("stub_{}_{index}", desk.at.attempt);
                    blocks.push(use_of(name, &call_id, input));
                    say(std::mem::take(&mut blocks), model, desk);
                    call(name, &call_id, input, output, error.as_deref(), desk);
                }
                Line::Wait(wait) => {
                    let mut stop = desk.stop.clone();
                    // Whether time passed or somebody wants an end, the script goes on to it.
                    let _ = tokio::time::timeout(*wait, stop.wait_for(Option::is_some)).await;
                }
            }
        }
        blocks
    }
}

fn line(value: &Value) -> Option<Line> {
    let text = |key: &str| value.get(key).map(as_text);
    if let Some(name) = text("tool") {
        let part = |key: &str| value.get(key).cloned().unwrap_or_default();
        let (input, output) = (part("input"), part("output"));
        return Some(Line::Tool { name, input, output, error: text("error") });
    }
    if let Some(wait) = value.get("wait_ms").and_then(Value::as_u64) {
        return Some(Line::Wait(Duration::from_millis(wait).min(LONGEST_WAIT)));
    }
    if let Some(usage) = value.get("usage") {
        return TokenCounts::deserialize(usage).ok().map(Line::Usage);
    }
    text("thinking").map(Line::Thinking).or_else(|| text("text").map(Line::Text))
}

fn use_of(name: &str, call_id: &str, input: &Value) -> ContentBlock {
    let content = BlockContent::ToolUse {
        tool_name: name.to_owned(),
        tool_id: call_id.to_owned(),
        tool_input: Json::encode(input).unwrap_or_default(),
    };
    content.vouched_by(Fidelity::AgentEmitted)
}

fn say(blocks: Vec<ContentBlock>, model: &str, desk: &Desk) {
    let message = Message { model: Some(model.to_owned()), ..Message::assistant(blocks) };
    record(Draft::new(Kind::MessageAssistant, &message).ok(), desk);
}

fn call(
    name: &str,
    call_id: &str,
    input: &Value,
    output: &Value,
    error: Option<&str>,
    desk: &Desk,
) {
    let input = Json::encode(input).unwrap_or_default();
    let called = ToolCall {
        name: name.to_owned(),
        call_id: call_id.to_owned(),
        input: input.clone(),
        provider: Some("agent".to_owned()),
        ..ToolCall::default()
    };
    record(Draft::new(Kind::ToolCall, &called).ok(), desk);
    let status = if error.is_some() { ToolStatus::Failed } else { ToolStatus::Completed };
    let answered = ToolResult {
        name: name.to_owned(),
        call_id: call_id.to_owned(),
        input,
        output: Json::encode(output).unwrap_or_default(),
        error: error.map(str::to_owned),
        status: Some(status),
        ..ToolResult::default()
    };
    record(Draft::new(Kind::ToolResult, &answered).ok(), desk);
}

/// Values that came out of a file nest no deeper than a line may; one that did is left out.
fn record(draft: Option<Draft>, desk: &Desk) {
    if let Some(draft) = draft {
        desk.record(draft);
    }
}
