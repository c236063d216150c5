//! One tool call, told bit by bit: every record that names its id may add to it.

use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use quipu_event::{BlockContent, ContentBlock, Fidelity, Json};
use serde_json::json;

use crate::value::{Fields, Value, json_text};

use super::wire;

/// How far a call has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nobody has asked for it yet.
    #[default]
    Unasked,
    /// It is part of the reply that is being told.
    Asked,
    /// It has been put.
    Called,
    /// Its result has been put.
    Answered,
}

/// What is known of a call.
#[derive(Default)]
pub(super) struct Tool {
    pub(super) progress: Progress,
    /// Whether somebody refused it.
    pub(super) is_denied: bool,
    /// When it was first heard of, in a log that counts milliseconds.
    pub(super) since: Option<u64>,
    name: Option<String>,
    title: Option<String>,
    category: Option<String>,
    status: Option<String>,
    input: Option<Json>,
    output: Option<Json>,
    output_text: Option<String>,
    /// What is shown of it: its JSON, and its text.
    content: Vec<(Json, Option<String>)>,
}

impl Tool {
    /// Makes what is remembered of a call whose result has been put.
    pub(super) fn answered() -> Self {
        Tool { progress: Progress::Answered, ..Tool::default() }
    }

    /// Takes over what a record says of it; what it does not name stays as it is.
    pub(super) fn update(&mut self, fields: &Fields<'_>) {
        let meta = fields.fields("_meta").unwrap_or_default();
        let vendor = meta.fields("x.ai/tool").and_then(|tool| tool.string("name"));
        let vendor = vendor.or_else(|| meta.fields("claudeCode")?.string("toolName"));
        let name = fields.string("name").or(vendor);
        let renew =
            |own: &mut Option<String>, new: Option<String>| *own = new.or_else(|| own.take());
        renew(&mut self.name, name);
        renew(&mut self.title, fields.string("title"));
        renew(&mut self.category, fields.string("kind"));
        renew(&mut self.status, fields.string("status"));
        self.input = fields.json("rawInput").or_else(|| self.input.take());
        if let Some(output) = fields.get("rawOutput") {
            self.output_text = output.text().map(|text| text.into_owned());
            self.output = Some(output.json());
        }
        if fields.get("content").is_some_and(Value::is_list) {
            self.content.clear();
            fields.items("content").into_iter().for_each(|item| self.add_content(item));
        }
    }

    /// Adds to what is shown of it.
    pub(super) fn add_content(&mut self, item: Value<'_>) {
        let inner = item.fields().and_then(|fields| fields.get("content"));
        let text = wire::text_of(inner.unwrap_or(item)).map(|text| text.into_owned());
        self.content.push((item.json(), text));
    }

    /// Tells whether it has come to its end.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.status.as_deref(), Some("completed" | "failed" | "cancelled"))
    }

    /// Tells whether anybody has said what it is.
    pub(super) fn is_named(&self) -> bool {
        self.name.is_some()
            || self.title.is_some()
            || self.category.is_some()
            || self.input.is_some()
    }

    /// Returns the status as it was last told.
    pub(super) fn status(&self) -> Option<&str> {
        self.status.as_deref()
    }

    /// Makes the call.
    pub(super) fn call(&self, call_id: &str) -> ToolCall {
        ToolCall {
            name: self.name(),
            call_id: call_id.to_owned(),
            input: self.input(),
            provider: Some("agent".to_owned()),
            ..ToolCall::default()
        }
    }

    /// Makes the block that asks for it.
    pub(super) fn block(&self, call_id: &str) -> ContentBlock {
        let content = BlockContent::ToolUse {
            tool_name: self.name(),
            tool_id: call_id.to_owned(),
            tool_input: self.input(),
        };
        content.vouched_by(Fidelity::AgentEmitted)
    }

    /// Makes its result.
    pub(super) fn result(&self, call_id: &str, now: Option<u64>) -> ToolResult {
        let has_failed = self.status.as_deref() != Some("completed");
        let status = match has_failed {
            true if self.is_denied => ToolStatus::Blocked,
            true => ToolStatus::Failed,
            false => ToolStatus::Completed,
        };
        let refusal = || self.is_denied.then(|| "permission denied".to_owned());
        ToolResult {
            call_id: call_id.to_owned(),
            output: self.shown_output(),
            error: has_failed.then(|| self.failure().or_else(refusal)).flatten(),
            status: Some(status),
            duration_ms: now.zip(self.since).map(|(now, since)| now.saturating_sub(since)),
            ..ToolResult::default()
        }
    }

    /// Returns the tool's own name, or else what sort of tool it is.
    fn name(&self) -> String {
        let category = self.category.as_ref().filter(|category| *category != "other");
        let name = self.name.as_ref().or(category).or(self.title.as_ref());
        name.cloned().unwrap_or_default()
    }

    /// Returns the arguments; an agent that does not tell them tells a title.
    fn input(&self) -> Json {
        match (&self.input, &self.title) {
            (Some(input), _) => input.clone(),
            (None, Some(title)) => Json::encode(&json!({ "title": title })).unwrap_or_default(),
            (None, None) => Json::null(),
        }
    }

    /// Returns the raw output if it is text, else the text shown, else whatever there is.
    fn shown_output(&self) -> Json {
        if let Some(text) = &self.output_text {
            return json_text(text);
        }
        if let Some(text) = self.shown_text() {
            return json_text(&text);
        }
        let shown = || {
            let items: Vec<&Json> = self.content.iter().map(|(json, _)| json).collect();
            (!items.is_empty()).then(|| Json::encode(&items).unwrap_or_default())
        };
        self.output.clone().or_else(shown).unwrap_or_default()
    }

    fn shown_text(&self) -> Option<String> {
        let texts: Vec<&str> =
            self.content.iter().filter_map(|(_, text)| text.as_deref()).collect();
        (!texts.is_empty() && texts.len() == self.content.len()).then(|| texts.join("\n"))
    }

    fn failure(&self) -> Option<String> {
        let named = self.output.as_ref().and_then(|output| {
            let fields = Value::parse(output.as_str()).ok()?.fields()?;
            ["message", "error"].iter().find_map(|key| fields.string(key))
        });
        named.or_else(|| self.output_text.clone()).or_else(|| self.shown_text())
    }
}
