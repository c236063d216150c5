//! Content blocks → blocks of the reply, calls, results and facts.
//!
//! A block is the same whether it was streamed or stands in a whole message or a request.

use std::borrow::Cow;

use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use quipu_event::{BlockContent, ContentBlock, Fidelity, Json};

use crate::calls::{Calls, Seen};
use crate::outbox::{Outbox, Stamp};
use crate::value::{Fields, Value, json_inside};

const AGENT: Fidelity = Fidelity::AgentEmitted;

/// A block that may go on.
pub(crate) struct Block {
    /// Its number in the message.
    pub(crate) index: u64,
    /// Its JSON as it began.
    source: String,
    text: String,
    signature: String,
    input: String,
}

impl Block {
    /// Begins a block.
    pub(crate) fn new(index: u64, source: &str) -> Self {
        let (text, signature, input) = <(String, String, String)>::default();
        Block { index, source: source.to_owned(), text, signature, input }
    }

    /// Begins a block that goes on with `delta` and whose beginning is not known.
    pub(crate) fn without_beginning(index: u64, delta: &Fields<'_>) -> Self {
        let kind = match delta.text("type").as_deref() {
            Some("thinking_delta" | "signature_delta") => "thinking",
            Some("input_json_delta") => "tool_use",
            Some("compaction_delta") => "compaction",
            _ => "text",
        };
        Block::new(index, &format!("{{\"type\":\"{kind}\"}}"))
    }

    /// Adds a delta; returns whether its type is known.
    pub(crate) fn add(&mut self, delta: &Fields<'_>) -> bool {
        let (heard, key) = match delta.text("type").as_deref() {
            Some("text_delta") => (&mut self.text, "text"),
            Some("thinking_delta") => (&mut self.text, "thinking"),
            Some("compaction_delta") => (&mut self.text, "content"),
            Some("signature_delta") => (&mut self.signature, "signature"),
            Some("input_json_delta") => (&mut self.input, "partial_json"),
            Some("citations_delta") => return true,
            _ => return false,
        };
        heard.push_str(&delta.text(key).unwrap_or_default());
        true
    }
}

/// What blocks come to.
#[derive(Default)]
pub(crate) struct Spoken {
    /// The blocks of the message.
    pub(crate) blocks: Vec<ContentBlock>,
    /// The model that took over, if one did.
    pub(crate) fallback: Option<String>,
    after: Vec<After>,
}

/// What stands behind the message.
enum After {
    Call(ToolCall),
    Result(ToolResult),
    Fact(&'static str, serde_json::Value),
}

impl Spoken {
    /// Adds a block that was streamed; a call without an id gets `name`.
    pub(crate) fn add_streamed(&mut self, mut block: Block, name: &str) {
        let source = std::mem::take(&mut block.source);
        if let Ok(value) = Value::parse(&source) {
            self.add_with(value, block, name);
        }
    }

    /// Adds a block that stands whole.
    pub(crate) fn add(&mut self, block: Value<'_>, name: &str) {
        self.add_with(block, Block::new(0, ""), name);
    }

    /// Puts what stands behind the message.
    pub(crate) fn put_rest(self, stamp: &Stamp, calls: &mut Calls, out: &mut Outbox<'_>) {
        for after in self.after {
            match after {
                After::Call(call) => drop(calls.call(out, stamp, call)),
                After::Result(result) => {
                    let facts = serde_json::json!({ "tool_id": result.call_id });
                    if calls.result(out, stamp, result) == Seen::Again {
                        out.system(stamp, "repeated", facts);
                    }
                }
                After::Fact(subtype, facts) => out.system(stamp, subtype, facts),
            }
        }
    }

    fn add_with(&mut self, value: Value<'_>, more: Block, name: &str) {
        let fields = value.fields().unwrap_or_default();
        let text = |key: &str| joined(fields.string(key), more.text);
        match &*fields.text("type").unwrap_or_default() {
            "text" => self.blocks.push(ContentBlock::text(AGENT, text("text"))),
            "thinking" => {
                let signature = joined(fields.string("signature"), more.signature);
                self.add_thinking(text("thinking"), signature);
            }
            "redacted_thinking" => {
                self.add_thinking(String::new(), fields.string("data").unwrap_or_default());
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                self.add_call(&fields, &more.input, name);
            }
            "compaction" => {
                let facts = serde_json::json!({ "summary_chars": text("content").chars().count() });
                self.after.push(After::Fact("compaction", facts));
            }
            "fallback" => self.add_fallback(&fields),
            kind if kind.ends_with("tool_result") => {
                self.add_result(&fields, true);
            }
            kind => {
                let (block_type, content) = (kind.to_owned(), Some(value.json()));
                let content = BlockContent::Other { block_type, content };
                self.blocks.push(content.vouched_by(AGENT));
            }
        }
    }

    fn add_thinking(&mut self, thinking: String, signature: String) {
        let signature = Some(signature).filter(|signature| !signature.is_empty());
        let block = BlockContent::Thinking { thinking, signature };
        self.blocks.push(block.vouched_by(AGENT));
    }

    fn add_call(&mut self, fields: &Fields<'_>, streamed: &str, name: &str) {
        let tool_name = fields.string("name").unwrap_or_default();
        let tool_id = fields.string("id").unwrap_or_else(|| name.to_owned());
        let input = match streamed {
            "" => fields.json("input").unwrap_or_else(|| json_inside("{}")),
            streamed => json_inside(streamed),
        };
        self.after.push(After::Call(ToolCall {
            name: tool_name.clone(),
            call_id: tool_id.clone(),
            input: input.clone(),
            provider: Some(provider(fields, &tool_name)),
            ..ToolCall::default()
        }));
        let block = BlockContent::ToolUse { tool_name, tool_id, tool_input: input };
        self.blocks.push(block.vouched_by(AGENT));
    }

    /// Adds a result; the reply that holds it keeps it as a block.
    pub(crate) fn add_result(&mut self, fields: &Fields<'_>, has_block: bool) {
        let output = fields.json("content").unwrap_or_default();
        let error = error_of(fields);
        let call_id = fields.string("tool_use_id").unwrap_or_default();
        if has_block {
            let block = BlockContent::ToolResult {
                tool_id: call_id.clone(),
                tool_content: output.clone(),
                is_error: fields.flag("is_error").or(error.is_some().then_some(true)),
            };
            self.blocks.push(block.vouched_by(AGENT));
        }
        let status = match error {
            Some(_) => ToolStatus::Failed,
            None => ToolStatus::Completed,
        };
        self.after.push(After::Result(ToolResult {
            call_id,
            output,
            error: error.filter(|error| !error.is_empty()),
            status: Some(status),
            ..ToolResult::default()
        }));
    }

    fn add_fallback(&mut self, fields: &Fields<'_>) {
        let model = |key: &str| fields.fields(key).and_then(|side| side.string("model"));
        let (from, to) = (model("from"), model("to"));
        let facts = serde_json::json!({ "from": from, "to": to, "reason": "fallback" });
        self.after.push(After::Fact("model_changed", facts));
        self.fallback = to;
    }
}

/// Adds what was streamed to what a block began with, which is mostly nothing.
fn joined(begun: Option<String>, more: String) -> String {
    match begun {
        Some(begun) if more.is_empty() => begun,
        Some(begun) if !begun.is_empty() => begun + &more,
        _ => more,
    }
}

/// Returns why a tool failed, or nothing if it did not.
fn error_of(fields: &Fields<'_>) -> Option<String> {
    let content = fields.get("content");
    let inner = content.and_then(Value::fields).unwrap_or_default();
    if inner.text("type").is_some_and(|kind| kind.ends_with("_error")) {
        return Some(inner.string("error_code").unwrap_or_default());
    }
    fields.flag("is_error").filter(|is_error| *is_error)?;
    let text = content.and_then(|content| content.text().map(Cow::into_owned));
    let parts = || {
        let part =
            fields.items("content").into_iter().find_map(|part| part.fields()?.string("text"));
        part.unwrap_or_default()
    };
    let whole = text.unwrap_or_else(parts);
    Some(whole.lines().next().unwrap_or_default().chars().take(200).collect())
}

/// Returns whose tool it is.
fn provider(fields: &Fields<'_>, name: &str) -> String {
    let named =
        || name.strip_prefix("mcp__")?.split_once("__").map(|(server, _)| server.to_owned());
    match fields.string("server_name").or_else(named) {
        Some(server) => format!("mcp:{server}"),
        None => "agent".to_owned(),
    }
}

/// Makes the text that tells a block from others, for comparison.
pub(crate) fn essence(block: Value<'_>) -> String {
    let fields = block.fields().unwrap_or_default();
    let text = |key: &str| fields.text(key).unwrap_or_default();
    match &*text("type") {
        "text" => text("text").into_owned(),
        "tool_use" => format!("tool_use {}", text("id")),
        "tool_result" => format!("tool_result {}", text("tool_use_id")),
        kind => {
            let source = fields.json("source").map(|source: Json| source.as_str().to_owned());
            format!("{kind} {}", source.unwrap_or_default())
        }
    }
}
