//! The live stream, `--output-format stream-json`.

use quipu_event::payload::{ErrorReport, Message, RunCompleted, Status, ToolCall, ToolResult};
use quipu_event::payload::{ToolStatus, Usage};
use quipu_event::{BlockContent, ContentBlock, Fidelity, Kind, Purpose};
use serde_json::json;

use super::usage;
use super::wire::{category, output_text, short, tool_provider, tool_use};
use crate::calls::{Calls, Seen};
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::record::Record;
use crate::registry::Likeness;
use crate::reply::Reply;
use crate::value::Fields;

/// Tells how much a record looks like one of the stream.
pub(super) fn likeness(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let has = |keys: &[&str]| keys.iter().all(|key| fields.has(key));
    let kind = fields.text("type");
    let is_sure = match kind.as_deref() {
        Some("init") => has(&["session_id", "model", "timestamp"]),
        Some("message") => has(&["role", "content", "timestamp", "delta"]),
        Some("tool_use") => has(&["tool_name", "tool_id", "parameters"]),
        Some("tool_result") => has(&["tool_id", "status"]),
        Some("error") => has(&["severity", "message", "timestamp"]),
        Some("result") => has(&["status", "stats", "timestamp"]),
        _ => return Likeness::No,
    };
    let is_message = fields.text("content").is_some() && has(&["role", "timestamp"]);
    let is_init = kind.as_deref() == Some("init") && has(&["session_id", "model"]);
    if is_sure {
        Likeness::Sure
    } else if is_message || is_init {
        Likeness::Maybe
    } else {
        Likeness::No
    }
}

/// The stream of one or more runs.
pub(super) struct Stream {
    opening: Opening,
    calls: Calls,
    reply: Option<Reply>,
    /// The model as the run names it; an alias names none.
    model: Option<String>,
    end: Option<RunCompleted>,
}

impl Stream {
    pub(super) fn new() -> Self {
        Stream {
            opening: Opening::new("gemini", "stream"),
            calls: Calls::default(),
            reply: None,
            model: None,
            end: None,
        }
    }

    fn init(&mut self, fields: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.close_reply(out);
        let (session_id, model) = (fields.string("session_id"), fields.string("model"));
        self.end = None;
        self.model = model.clone().filter(|model| !model.starts_with("auto"));
        if self.opening.is_put() {
            // Ids of calls are only unique within a run.
            self.calls.finish(out);
            self.calls = Calls::default();
            let facts = json!({ "session_id": session_id, "model": model });
            return out.system(stamp, "session_started", facts);
        }
        self.opening.started.session_id = session_id;
        self.opening.agent.model = model;
        self.opening.absorb(out);
        self.opening.put(out);
    }

    fn message(&mut self, fields: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let Some(text) = fields.string("content") else { return };
        self.opening.put(out);
        match fields.text("role").as_deref() {
            Some("user") => {
                self.close_reply(out);
                let block = ContentBlock::text(Fidelity::AgentEmitted, text);
                let prompt = Message::user(vec![block.with_purpose(Purpose::Prompt)]);
                out.message(stamp, Kind::MessageUser, prompt);
            }
            Some("assistant") => {
                let is_piece = fields.flag("delta") == Some(true);
                let blocks = &mut self.reply(stamp, out).message.blocks;
                match blocks.last_mut().map(|block| &mut block.content) {
                    Some(BlockContent::Text { text: before }) if is_piece => before.push_str(&text),
                    _ => blocks.push(ContentBlock::text(Fidelity::AgentEmitted, text)),
                }
            }
            _ => {}
        }
    }

    fn tool_use(&mut self, fields: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let Some(call_id) = fields.string("tool_id") else { return };
        self.opening.put(out);
        if self.calls.knows(&call_id) {
            return out.system(stamp, "repeated", json!({ "tool_id": call_id }));
        }
        let name = fields.string("tool_name").unwrap_or_default();
        let input = fields.json("parameters").unwrap_or_default();
        self.reply(stamp, out).add(tool_use(&name, &call_id, &input));
        let provider = Some(tool_provider(&name, None));
        let call = ToolCall { name, call_id, input, provider, ..ToolCall::default() };
        self.calls.call(out, stamp, call);
    }

    fn tool_result(&mut self, fields: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let Some(call_id) = fields.string("tool_id") else { return };
        self.opening.put(out);
        self.close_reply(out);
        let error = fields.fields("error").unwrap_or_default();
        let status = match (fields.text("status").as_deref(), error.text("type").as_deref()) {
            (Some("success"), _) => ToolStatus::Completed,
            (_, Some("policy_violation")) => ToolStatus::Blocked,
            _ => ToolStatus::Failed,
        };
        let message = error.text("message").map(|message| short(&message));
        let shown = fields.json("output");
        let result = ToolResult {
            call_id: call_id.clone(),
            output: shown.unwrap_or_else(|| output_text(message.as_deref())),
            error: message,
            status: Some(status),
            ..ToolResult::default()
        };
        if self.calls.result(out, stamp, result) == Seen::Again {
            out.system(stamp, "repeated", json!({ "tool_id": call_id }));
        }
    }

    fn error(&mut self, fields: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.opening.put(out);
        let message = short(&fields.text("message").unwrap_or_default());
        if fields.text("severity").as_deref() == Some("error") {
            out.error(stamp, &error_report("agent_error", "session", message));
        } else {
            out.system(stamp, "notice", json!({ "level": "warning", "message": message }));
        }
    }

    fn result(&mut self, fields: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.opening.put(out);
        self.close_reply(out);
        let stats = fields.fields("stats").unwrap_or_default();
        for usage in self.usages(&stats) {
            out.usage(stamp, &usage);
        }
        let error = fields.fields("error");
        let message = error.as_ref().and_then(|error| error.text("message"));
        let message = message.map(|message| short(&message));
        if let Some(error) = &error {
            let code = error.string("type").filter(|code| code != "unknown");
            let code = code.as_deref().unwrap_or("api_error");
            out.error(
                stamp,
                &error_report(code, category(code), message.clone().unwrap_or_default()),
            );
        }
        let has_succeeded = fields.text("status").as_deref() == Some("success");
        let status = if has_succeeded { Status::Succeeded } else { Status::Failed };
        // A run that failed says 0 because it did not look at the clock.
        let duration_ms = stats.count("duration_ms").filter(|duration| *duration > 0);
        let facts = json!({
            "status": status.as_str(),
            "duration_ms": duration_ms,
            "tool_calls": stats.count("tool_calls"),
        });
        out.system(stamp, "turn_completed", facts);
        let end = RunCompleted { status: Some(status), error: message, ..RunCompleted::default() };
        self.end = Some(end);
    }

    /// Returns the tokens by model, or all together if the models are not told apart.
    fn usages(&self, stats: &Fields<'_>) -> Vec<Usage> {
        let by_model = stats.fields("models").unwrap_or_default();
        let mut usages: Vec<_> = by_model
            .iter()
            .filter_map(|(model, stats)| {
                let usage = usage::of_result(&stats.fields()?)?;
                Some(Usage { model: Some(model.to_owned()), ..usage })
            })
            .collect();
        if by_model.iter().next().is_none() {
            let all = usage::of_result(stats);
            usages.extend(all.map(|usage| Usage { model: self.model.clone(), ..usage }));
        }
        usages
    }

    /// Returns the reply at hand, or begins one; the record goes with it.
    fn reply(&mut self, stamp: &Stamp, out: &mut Outbox<'_>) -> &mut Reply {
        let model = &self.model;
        let reply = self.reply.get_or_insert_with(|| {
            let mut reply = Reply::open(out, stamp.clone());
            reply.message.model.clone_from(model);
            reply
        });
        reply.absorb(out);
        reply
    }

    fn close_reply(&mut self, out: &mut Outbox<'_>) {
        if let Some(reply) = self.reply.take() {
            reply.close(out);
        }
    }
}

impl Normalize for Stream {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        let stamp = Stamp::at(fields.time("timestamp"));
        self.opening.begin(stamp.time);
        match fields.text("type").as_deref() {
            Some("init") => self.init(fields, &stamp, out),
            Some("message") => self.message(fields, &stamp, out),
            Some("tool_use") => self.tool_use(fields, &stamp, out),
            Some("tool_result") => self.tool_result(fields, &stamp, out),
            Some("error") => self.error(fields, &stamp, out),
            Some("result") => self.result(fields, &stamp, out),
            _ => {}
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.close_reply(out);
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.close_reply(out);
        self.calls.finish(out);
        let aborted = RunCompleted { status: Some(Status::Aborted), ..RunCompleted::default() };
        self.opening.complete(out, self.end.take().unwrap_or(aborted));
    }
}

fn error_report(code: &str, category: &str, message: String) -> ErrorReport {
    let (code, category) = (code.to_owned(), category.to_owned());
    ErrorReport { code, category, message, retryable: false, details: None }
}
