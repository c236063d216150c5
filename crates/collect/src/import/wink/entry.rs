//! One log record: an entry of the transcript by its type, or a fact.

use quipu_event::payload::{ErrorReport, Message, ToolCall, ToolResult, ToolStatus};
use quipu_event::{BlockContent, ContentBlock, Draft, EncodeError, Fidelity, Kind};
use serde_json::Value;

use super::super::error::ImportError;
use super::super::record::{self, Record, owned, text, time, value};
use super::super::teller::Teller;
use super::usage::Meter;
use super::{claude, codex};

/// Tells what a log record says.
pub(super) fn tell(
    record: &Record<'_>,
    meter: &mut Meter,
    teller: &mut Teller,
) -> Result<(), ImportError> {
    let Some(line) = record.object() else { return teller.unknown(record, "is no JSON object") };
    let at = time(&line["context"], "timestamp").or_else(|| time(&line, "timestamp"));
    if !super::is_entry(&line) {
        let subtype = text(&line, &["event"]).unwrap_or("log").to_owned();
        let draft = Draft::system(&subtype, line);
        return teller.tell(Some(record), draft.map(|draft| Draft { timestamp: at, ..draft }));
    }
    let entry = Entry { context: &line["context"], detail: &line["context"]["detail"] };
    let source = text(entry.context, &["source"]).filter(|source| *source != "main");
    let dress = |draft: Draft| Draft { timestamp: at, source: source.map(Into::into), ..draft };
    if let Some(usage) = meter.of_line(&line) {
        teller.tell(Some(record), entry.draft(record).map(dress))?;
        return teller.tell(Some(record), Draft::new(Kind::Usage, &usage).map(dress));
    }
    teller.tell(Some(record), entry.draft(record).map(dress))
}

/// An entry: what is around it, and what the agent's own record says.
struct Entry<'a> {
    context: &'a Value,
    detail: &'a Value,
}

impl Entry<'_> {
    fn draft(&self, record: &Record<'_>) -> Result<Draft, EncodeError> {
        match text(self.context, &["entry_type"]).unwrap_or_default() {
            "user_message" => Draft::new(Kind::MessageUser, &Message::user(self.said())),
            "assistant_message" => Draft::new(Kind::MessageAssistant, &self.reply()),
            "thinking" => {
                let thought = self.text().unwrap_or_default();
                let block = ContentBlock::thinking(Fidelity::AgentEmitted, thought);
                Draft::new(Kind::MessageAssistant, &Message::assistant(vec![block]))
            }
            "tool_use" => Draft::new(Kind::ToolCall, &self.call(record)),
            "tool_result" => Draft::new(Kind::ToolResult, &self.result(record)),
            "system_event" => self.system(),
            "token_usage" => Draft::system("token_usage", self.detail.clone()),
            "error" => Draft::new(Kind::Error, &self.error()),
            other => Ok(self.unknown(other)),
        }
    }

    fn said(&self) -> Vec<ContentBlock> {
        let message = &self.detail["sdk_entry"]["message"];
        match value(message, &["content"]) {
            Some(content) => claude::blocks(content, Fidelity::Router),
            None => {
                self.text().map(|t| ContentBlock::text(Fidelity::Router, t)).into_iter().collect()
            }
        }
    }

    fn reply(&self) -> Message {
        let native = &self.detail["sdk_entry"]["message"];
        if !native.is_object() {
            let text = self.text().unwrap_or_default();
            return Message::assistant(vec![ContentBlock::text(Fidelity::AgentEmitted, text)]);
        }
        // The agent's own line has the calls among its blocks; the entry does not.
        let whole: Option<Value> = text(self.context, &["raw"])
            .and_then(|raw| serde_json::from_str(raw).ok())
            .filter(|whole: &Value| whole["message"]["content"].is_array());
        let content = whole.as_ref().map_or(&native["content"], |w| &w["message"]["content"]);
        Message {
            message_id: owned(native, &["id"]),
            model: owned(native, &["model"]),
            stop_reason: owned(native, &["stop_reason"]),
            ..Message::assistant(claude::blocks(content, Fidelity::AgentEmitted))
        }
    }

    /// Returns the plain text of an entry that has no agent's record, or a notification.
    fn text(&self) -> Option<String> {
        let item = &self.detail["notification"]["item"];
        owned(self.detail, &["text", "thinking", "content"])
            .or_else(|| owned(item, &["text", "content", "summary"]))
            .or_else(|| owned(&self.detail["notification"], &["text"]))
            .or_else(|| owned(&self.detail["sdk_entry"], &["thinking", "text", "content"]))
    }

    fn call(&self, record: &Record<'_>) -> ToolCall {
        let block = &self.detail["sdk_entry"];
        if block.is_object() {
            return ToolCall {
                name: owned(block, &["name"]).unwrap_or_default(),
                call_id: owned(block, &["id"]).unwrap_or_else(|| made_id(record)),
                input: record::json(value(block, &["input"])),
                ..ToolCall::default()
            };
        }
        if self.detail["notification"].is_object() {
            return codex::call(&self.detail["notification"], made_id(record));
        }
        ToolCall {
            name: owned(self.detail, &["tool_name"]).unwrap_or_default(),
            call_id: owned(self.detail, &["tool_call_id"]).unwrap_or_else(|| made_id(record)),
            input: record::json(value(self.detail, &["input"])),
            ..ToolCall::default()
        }
    }

    fn result(&self, record: &Record<'_>) -> ToolResult {
        let block = &self.detail["sdk_entry"];
        let name = owned(self.detail, &["tool_name"]).unwrap_or_default();
        if block.is_object() {
            let failed = block["is_error"] == true;
            let output = value(block, &["content"]);
            let error = || output.and_then(Value::as_str).map(str::to_owned);
            return ToolResult {
                name,
                call_id: owned(block, &["tool_use_id"]).unwrap_or_else(|| made_id(record)),
                output: record::json(output),
                error: failed.then(error).flatten(),
                status: Some(if failed { ToolStatus::Failed } else { ToolStatus::Completed }),
                ..ToolResult::default()
            };
        }
        if self.detail["notification"].is_object() {
            return codex::result(self.detail, made_id(record));
        }
        let failed = text(self.detail, &["status"]) == Some("failed");
        ToolResult {
            name,
            call_id: owned(self.detail, &["tool_call_id"]).unwrap_or_else(|| made_id(record)),
            input: record::json(value(self.detail, &["input"])),
            output: record::json(value(self.detail, &["output"])),
            status: Some(if failed { ToolStatus::Failed } else { ToolStatus::Completed }),
            ..ToolResult::default()
        }
    }

    fn system(&self) -> Result<Draft, EncodeError> {
        let native = value(self.detail, &["sdk_entry", "notification"]).unwrap_or(self.detail);
        let subtype =
            text(self.detail, &["subtype"]).or_else(|| text(native, &["subtype", "type"]));
        Draft::system(subtype.unwrap_or("system_event"), native.clone())
    }

    fn error(&self) -> ErrorReport {
        let failure = &self.detail["notification"]["turn"]["error"];
        let message = owned(failure, &["message"]).or_else(|| owned(self.detail, &["message"]));
        ErrorReport {
            code: "agent_error".to_owned(),
            category: "agent".to_owned(),
            message: message.or_else(|| self.text()).unwrap_or_default(),
            retryable: false,
            details: Some(record::json(Some(self.detail))),
        }
    }

    /// What the other recorder did not know either. Its own reason is no problem of the bundle.
    fn unknown(&self, entry_type: &str) -> Draft {
        let native = owned(&self.detail["sdk_entry"], &["type"]);
        let reason = text(self.detail, &["parse_error"]).map_or_else(
            || format!("recorded as {entry_type:?}"),
            |error| format!("recorded as {entry_type:?}: {error}"),
        );
        Draft { raw: None, ..Draft::unknown(b"", native.as_deref(), &reason) }
    }
}

/// Returns an id for a call that has none.
fn made_id(record: &Record<'_>) -> String {
    format!("line-{}", record.line.unwrap_or_default())
}

/// Makes a block of a foreign one that is none of ours.
pub(super) fn other_block(block: &Value, fidelity: Fidelity) -> ContentBlock {
    let block_type = owned(block, &["type"]).unwrap_or_else(|| "unknown".to_owned());
    let content = Some(record::json(Some(block)));
    BlockContent::Other { block_type, content }.vouched_by(fidelity)
}
