//! One line of a step's transcript. Several writers have left their own shapes; all are known.

use std::collections::{HashMap, VecDeque};

use quipu_event::payload::{ErrorReport, Message, ToolCall, ToolResult, ToolStatus};
use quipu_event::payload::{Usage, UsageScope};
use quipu_event::{ContentBlock, Draft, EncodeError, Fidelity, Kind, Purpose};
use serde_json::Value;

use super::super::record::{Record, json, number, owned, text, value};
use super::super::wink::claude;

/// Calls that have no id of their own are told apart by their line, and answered in order.
#[derive(Default)]
pub(super) struct Calls {
    open: HashMap<String, VecDeque<String>>,
}

type Drafts = Vec<Result<Draft, EncodeError>>;

/// Returns what a line becomes; nothing if nobody knows.
pub(super) fn drafts(record: &Record<'_>, line: &Value, calls: &mut Calls) -> Drafts {
    let kind = text(line, &["type"]).unwrap_or_default();
    match (kind, text(line, &["role"])) {
        ("tool_use", _) => vec![calls.call(record, line)],
        ("tool_result", _) => vec![calls.result(record, line)],
        ("error", _) => vec![Draft::new(Kind::Error, &error(line))],
        ("assistant" | "user", _) if line["message"].is_object() => spoken(record, line, calls),
        ("" | "message", Some("tool")) => {
            vec![calls.call(record, line), calls.result(record, line)]
        }
        ("" | "message", Some(role)) => vec![message(role, line)],
        ("", None) => Vec::new(),
        (kind, _) => vec![Draft::system(kind, line.clone())],
    }
}

/// Returns what a line says of tokens. It counts only where there is no receipt.
pub(super) fn usage(line: &Value) -> Option<Usage> {
    let tokens = value(line, &["usage"]).filter(|_| line["type"] == "result")?;
    let usage = Usage {
        input_tokens: number(tokens, &["prompt", "input_tokens"]),
        output_tokens: number(tokens, &["completion", "output_tokens"]),
        cache_read_tokens: number(tokens, &["cache_read_input_tokens"]),
        cache_write_tokens: number(tokens, &["cache_creation_input_tokens"]),
        scope: Some(UsageScope::Session),
        ..Usage::default()
    };
    (usage.tokens().total().unwrap_or_default() > 0).then_some(usage)
}

fn message(role: &str, line: &Value) -> Result<Draft, EncodeError> {
    let content = value(line, &["content"]).cloned().unwrap_or_default();
    if role == "assistant" {
        let blocks = claude::blocks(&content, Fidelity::AgentEmitted);
        return Draft::new(Kind::MessageAssistant, &Message::assistant(blocks));
    }
    let purpose = if role == "system" { Purpose::SystemPrompt } else { Purpose::Prompt };
    let blocks = claude::blocks(&content, Fidelity::Router);
    let blocks = blocks.into_iter().map(|block| block.with_purpose(purpose.clone())).collect();
    Draft::new(Kind::MessageUser, &Message::user(blocks))
}

/// A line of an agent's own stream: blocks, some of which are calls and answers.
fn spoken(record: &Record<'_>, line: &Value, calls: &mut Calls) -> Drafts {
    let message = &line["message"];
    let content = &message["content"];
    let own = content.as_array().into_iter().flatten();
    if line["type"] == "assistant" {
        let reply = Message {
            message_id: owned(message, &["id"]),
            model: owned(message, &["model"]),
            stop_reason: owned(message, &["stop_reason"]),
            ..Message::assistant(claude::blocks(content, Fidelity::AgentEmitted))
        };
        let mut drafts = vec![Draft::new(Kind::MessageAssistant, &reply)];
        drafts.extend(
            own.filter(|block| block["type"] == "tool_use").map(|block| calls.call(record, block)),
        );
        return drafts;
    }
    let (answers, rest): (Vec<&Value>, Vec<&Value>) =
        own.partition(|block| block["type"] == "tool_result");
    let mut drafts: Drafts = Vec::new();
    if answers.is_empty() || !rest.is_empty() {
        let rest = if answers.is_empty() {
            content.clone()
        } else {
            rest.into_iter().cloned().collect::<Vec<_>>().into()
        };
        let said: Vec<ContentBlock> = claude::blocks(&rest, Fidelity::Router);
        drafts.push(Draft::new(Kind::MessageUser, &Message::user(said)));
    }
    drafts.extend(answers.into_iter().map(|block| calls.result(record, block)));
    drafts
}

fn error(line: &Value) -> ErrorReport {
    let said = value(line, &["error", "message"]).cloned().unwrap_or_default();
    let message = said.as_str().map(str::to_owned).or_else(|| owned(&said, &["message"]));
    ErrorReport {
        code: owned(&said, &["code", "type"]).unwrap_or_else(|| "step_error".to_owned()),
        category: "agent".to_owned(),
        message: message.unwrap_or_else(|| said.to_string()),
        ..ErrorReport::default()
    }
}

impl Calls {
    /// Makes the call that a line, a block or the payload of an event tells of.
    pub(super) fn call(&mut self, record: &Record<'_>, told: &Value) -> Result<Draft, EncodeError> {
        let name = tool_name(told);
        let call_id = owned(told, &["id", "tool_id", "tool_use_id", "call_id"]);
        let call_id = call_id.unwrap_or_else(|| {
            let made = format!("{}:{}", record.file, record.line.unwrap_or_default());
            self.open.entry(name.clone()).or_default().push_back(made.clone());
            made
        });
        let input = json(value(told, &["input", "tool_input", "parameters"]));
        Draft::new(Kind::ToolCall, &ToolCall { name, call_id, input, ..ToolCall::default() })
    }

    /// Makes the answer.
    pub(super) fn result(
        &mut self,
        record: &Record<'_>,
        told: &Value,
    ) -> Result<Draft, EncodeError> {
        let name = tool_name(told);
        let id = owned(told, &["tool_use_id", "tool_id", "call_id", "id"]);
        let open = self.open.get_mut(&name).filter(|_| id.is_none());
        let call_id = id.or_else(|| open?.pop_front());
        let made = || format!("{}:{}", record.file, record.line.unwrap_or_default());
        let failed = told["success"] == false
            || told["is_error"] == true
            || matches!(text(told, &["status"]), Some("error" | "failed"));
        let status = match (told["blocked"] == true, failed) {
            (true, _) => ToolStatus::Blocked,
            (_, true) => ToolStatus::Failed,
            _ => ToolStatus::Completed,
        };
        let result = ToolResult {
            name,
            call_id: call_id.unwrap_or_else(made),
            input: json(value(told, &["tool_input"])),
            output: json(value(told, &["output", "tool_output", "content"])),
            error: owned(told, &["error", "block_reason"]),
            status: Some(status),
            duration_ms: number(told, &["duration_ms"]),
            ..ToolResult::default()
        };
        Draft::new(Kind::ToolResult, &result)
    }
}

fn tool_name(told: &Value) -> String {
    owned(told, &["tool", "tool_name", "name"]).unwrap_or_default()
}
