//! Copilot's JSON as it really is, field by field.
//!
//! People publish these files with fields replaced by `"[REDACTED]"`, numbers and lists
//! included, so every look-up stands for itself.

use std::borrow::Cow;

use quipu_event::payload::{ToolCall, Usage, UsageScope};
use quipu_event::{Json, Timestamp};

use crate::outbox::Stamp;
use crate::record::Record;
use crate::registry::Likeness;
use crate::value::{Fields, Value, json_inside, json_text};

use super::notes;

/// One event.
pub(super) struct Event<'a> {
    /// What it is: `assistant.message` …
    pub(super) kind: Cow<'a, str>,
    /// What it says.
    pub(super) data: Fields<'a>,
    /// When.
    pub(super) time: Option<Timestamp>,
    /// The subagent whose event it is; empty for the main agent.
    pub(super) thread: String,
    /// Whether it is left out of the session file.
    pub(super) is_ephemeral: bool,
}

impl<'a> Event<'a> {
    /// Reads an event, if the record has a type.
    pub(super) fn read(record: &Record<'a>) -> Option<Self> {
        let fields = &record.fields;
        let data = fields.fields("data").unwrap_or_default();
        // Older versions name only the call that started the subagent.
        let thread = fields.string("agentId").or_else(|| data.string("parentToolCallId"));
        Some(Event {
            kind: fields.text("type")?,
            time: fields.time("timestamp"),
            thread: thread.unwrap_or_default(),
            is_ephemeral: fields.flag("ephemeral") == Some(true),
            data,
        })
    }

    /// Returns when it happened and who did it.
    pub(super) fn stamp(&self) -> Stamp {
        match &*self.thread {
            "" => Stamp::at(self.time),
            agent => Stamp::of_subagent(agent, self.time),
        }
    }

    /// Returns the model that it names, if it is one.
    pub(super) fn model(&self) -> Option<String> {
        let keys = ["model", "selectedModel", "newModel", "chosenModel", "currentModel"];
        let model = keys.iter().find_map(|key| self.data.string(key))?;
        (model != "auto" && !model.is_empty()).then_some(model)
    }
}

/// Makes the call that an element of `toolRequests` asks for.
pub(super) fn tool_request(request: Value<'_>) -> Option<ToolCall> {
    let fields = request.fields()?;
    Some(ToolCall {
        name: fields.string("name").unwrap_or_default(),
        call_id: fields.string("toolCallId")?,
        input: arguments(&fields),
        provider: Some(tool_provider(&fields)),
        ..ToolCall::default()
    })
}

/// Makes the call that a `tool.execution_start` tells of.
pub(super) fn tool_execution(data: &Fields<'_>) -> Option<ToolCall> {
    Some(ToolCall {
        name: data.string("toolName").unwrap_or_default(),
        call_id: data.string("toolCallId")?,
        input: arguments(data),
        provider: Some(tool_provider(data)),
        ..ToolCall::default()
    })
}

/// Returns the arguments of a call: an object, or an object inside a string.
pub(super) fn arguments(fields: &Fields<'_>) -> Json {
    let Some(value) = fields.get("arguments") else { return Json::null() };
    match value.text() {
        Some(text) => finished_arguments(&text),
        None => value.json(),
    }
}

/// Makes the arguments out of their text; a text that is no object stays a text.
pub(super) fn finished_arguments(text: &str) -> Json {
    if text.starts_with('{') { json_inside(text) } else { json_text(text) }
}

fn tool_provider(fields: &Fields<'_>) -> String {
    match fields.text("mcpServerName") {
        Some(server) => format!("mcp:{server}"),
        None => "agent".to_owned(),
    }
}

/// Makes usage of counts whose input includes what was cached.
pub(super) fn usage(counts: &Fields<'_>, scope: UsageScope) -> Usage {
    let (read, write) = (counts.count("cacheReadTokens"), counts.count("cacheWriteTokens"));
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    Usage {
        model: counts.string("model"),
        input_tokens: counts.count("inputTokens").map(|input| input.saturating_sub(cached)),
        output_tokens: counts.count("outputTokens"),
        cache_read_tokens: read,
        cache_write_tokens: write,
        reasoning_tokens: counts.count("reasoningTokens"),
        scope: Some(scope),
        ..Usage::default()
    }
}

/// Tells how much a record looks like a line of `events.jsonl`.
pub(super) fn session_likeness(record: &Record<'_>) -> Likeness {
    match known_kind(record) {
        Some(kind) if is_kept_only(&kind) => Likeness::Sure,
        Some(_) if record.fields.flag("ephemeral") != Some(true) => Likeness::Maybe,
        _ => Likeness::No,
    }
}

/// Tells how much a record looks like a line of standard output.
pub(super) fn stream_likeness(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let is_result = fields.text("type").is_some_and(|kind| kind == "result")
        && fields.has("exitCode")
        && fields.has("sessionId");
    let is_ephemeral = fields.flag("ephemeral") == Some(true) && known_kind(record).is_some();
    if is_result || is_ephemeral { Likeness::Sure } else { Likeness::No }
}

/// Returns the type of a record that looks like an event of a type that we know.
fn known_kind<'a>(record: &Record<'a>) -> Option<Cow<'a, str>> {
    let kind = record.fields.text("type")?;
    (record.fields.has("data") && notes::is_known(&kind)).then_some(kind)
}

/// Tells whether events of this type stand only in the file.
fn is_kept_only(kind: &str) -> bool {
    const KINDS: [&str; 6] = [
        "session.start",
        "session.resume",
        "session.shutdown",
        "session.usage_record",
        "session.permissions_changed",
        "system.message",
    ];
    KINDS.contains(&kind)
        || ["hook.", "permission.", "session.compaction_"]
            .iter()
            .any(|family| kind.starts_with(family))
}
