//! Tool calls: an event when one begins, an event when it ends, and one joined record.

use quipu_event::Timestamp;
use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use serde_json::Value;

use super::Run;
use super::brief::{self, SUMMARY, clip, sized};
use super::calls::OpenCall;
use super::ledger::{At, Severity, Told};
use super::touched::{self, Action};
use super::wire::{self, Failure, ToolLine};
use crate::Shelf;

/// How a call ended, as far as it did.
pub(super) struct Outcome {
    pub(super) status: &'static str,
    completed: Option<Timestamp>,
    duration_ms: Option<u64>,
    result: Option<String>,
    pub(super) failure: Option<Failure>,
}

impl Run {
    pub(super) fn call(&mut self, at: &At, call: &ToolCall, shelf: &mut dyn Shelf) {
        let input = brief::whole(&call.input);
        let tool = named(&call.name);
        let action = Action::of(&tool, &input);
        let call_id = id_or(&call.call_id, at);
        let arguments = brief::fields(&input);
        let told = Told::new("tool.started", "tool", format!("{tool} started"))
            .with("call_id", call_id.as_str())
            .with("tool_name", tool.as_str())
            .with("action", action.as_str())
            .with("status", "started")
            .with("provider", call.provider.clone())
            .with("fidelity", call.fidelity.as_str())
            .with("args_summary", Value::Object(arguments.clone()))
            .correlated(&call_id);
        let event_id = self.ledger.tell(at, &told, shelf);
        self.state.tool_calls += 1;
        self.paper.called(&tool, &input);
        let open = OpenCall {
            call_id,
            event_id,
            files: touched::files(action, &input),
            tool,
            action,
            arguments,
            at: at.clone(),
            written: Vec::new(),
            has_told_files: false,
        };
        if let Some(given_up) = self.calls.begin(open) {
            self.write_call(&given_up, &Outcome::none(), shelf);
        }
    }

    pub(super) fn result(&mut self, at: &At, result: &ToolResult, shelf: &mut dyn Shelf) {
        let open = self.calls.end(at, &result.call_id);
        let is_known = open.is_some();
        let mut call = open.unwrap_or_else(|| unseen(at, result));
        if call.files.is_empty() && !result.input.is_null() {
            let input = brief::whole(&result.input);
            call.files = touched::files(call.action, &input);
        }
        let outcome = Outcome::of(at, &call, result, is_known);
        let word = if outcome.status == "blocked" { "was blocked" } else { outcome.status };
        let why = outcome.failure.as_ref().map(|failure| format!(": {}", failure.message));
        let summary = format!("{} {word}{}", call.tool, why.unwrap_or_default());
        let kind = if outcome.failure.is_some() { "tool.failed" } else { "tool.completed" };
        let parent = is_known.then_some(call.event_id.as_str());
        let told = Told::new(kind, "tool", summary)
            .with("call_id", call.call_id.as_str())
            .with("tool_name", call.tool.as_str())
            .with("action", call.action.as_str())
            .with("status", outcome.status)
            .with("duration_ms", outcome.duration_ms)
            .with("result_summary", outcome.result.clone())
            .with("error", outcome.failure.as_ref().map(in_brief))
            .correlated(&call.call_id)
            .within(parent);
        let told = match &outcome.failure {
            Some(failure) => told.graded(outcome.severity()).failing(failure.clone()),
            None => told,
        };
        let id = self.ledger.tell(at, &told, shelf);
        if !is_known {
            call.event_id = id;
            self.state.tool_calls += 1;
            self.paper.called(&call.tool, &Value::Null);
        }
        self.paper.answered(&call.tool, outcome.status, outcome.duration_ms);
        if let Some(failure) = &outcome.failure {
            self.paper.failed(at, outcome.severity(), &call.tool, &failure.message);
        }
        self.derive_files(at, &mut call, &outcome, shelf);
        self.write_call(&call, &outcome, shelf);
    }

    /// Writes the records of calls that never had a result.
    pub(super) fn settle_calls(&mut self, shelf: &mut dyn Shelf) {
        while let Some(call) = self.calls.dangling() {
            self.write_call(&call, &Outcome::none(), shelf);
        }
    }

    fn write_call(&mut self, call: &OpenCall, outcome: &Outcome, shelf: &mut dyn Shelf) {
        let line = wire::line(&ToolLine {
            call_id: &call.call_id,
            tool_name: &call.tool,
            action: call.action.as_str(),
            started_at: call.at.timestamp,
            completed_at: outcome.completed,
            duration_ms: outcome.duration_ms,
            status: outcome.status,
            args_summary: &call.arguments,
            result_summary: outcome.result.as_deref(),
            artifacts: &call.written,
            error: outcome.failure.as_ref(),
            event_id: &call.event_id,
            step: call.at.step.as_deref(),
            source: call.at.source.as_deref(),
        });
        shelf.append(&format!("{}/logs/tools.jsonl", self.ledger.folder), &line);
    }
}

impl Outcome {
    fn none() -> Outcome {
        let (completed, duration_ms, result, failure) = (None, None, None, None);
        Outcome { status: "started", completed, duration_ms, result, failure }
    }

    fn of(at: &At, call: &OpenCall, result: &ToolResult, is_known: bool) -> Outcome {
        let status = match result.status {
            Some(ToolStatus::Failed) => "failed",
            Some(ToolStatus::Blocked) => "blocked",
            _ => "completed",
        };
        let output = brief::answer(&brief::whole(&result.output));
        let measured = || is_known.then(|| at.timestamp.millis_since(call.at.timestamp));
        let said = result.error.as_deref().filter(|error| !error.is_empty());
        let message = || sized(said.or(output.as_deref()).unwrap_or("no reason given"), 2_000);
        let category = match (status, call.action) {
            ("blocked", Action::Read | Action::Write) => "sandbox",
            ("blocked", _) => "governance",
            _ => "tool",
        };
        let failure = (status != "completed").then(|| Failure {
            code: format!("tool_{status}"),
            message: message(),
            category,
            retryable: false,
            details: Some(serde_json::json!({ "tool_name": call.tool, "call_id": call.call_id })),
        });
        Outcome {
            status,
            completed: Some(at.timestamp),
            duration_ms: result.duration_ms.or_else(measured),
            result: output.as_deref().map(|text| sized(text, SUMMARY)),
            failure,
        }
    }

    fn severity(&self) -> Severity {
        if self.status == "blocked" { Severity::Warning } else { Severity::Error }
    }
}

/// An event has the gist of an error; the log of errors has more.
fn in_brief(failure: &Failure) -> Value {
    serde_json::json!({
        "code": failure.code,
        "message": clip(&failure.message, SUMMARY),
        "category": failure.category,
    })
}

/// Returns what is known of a call of which only the result was recorded.
fn unseen(at: &At, result: &ToolResult) -> OpenCall {
    let input = brief::whole(&result.input);
    let tool = named(&result.name);
    let action = Action::of(&tool, &input);
    let began = result.duration_ms.and_then(|ms| i64::try_from(ms).ok()?.checked_mul(1000));
    let began = at.timestamp.as_micros().saturating_sub(began.unwrap_or(0));
    OpenCall {
        call_id: id_or(&result.call_id, at),
        event_id: String::new(),
        files: touched::files(action, &input),
        tool,
        action,
        arguments: brief::fields(&input),
        at: At { timestamp: Timestamp::from_micros(began), ..at.clone() },
        written: Vec::new(),
        has_told_files: false,
    }
}

fn named(tool: &str) -> String {
    if tool.trim().is_empty() { "unknown tool".to_owned() } else { clip(tool, 120) }
}

fn id_or(call_id: &str, at: &At) -> String {
    if call_id.is_empty() { format!("call_{}", at.seq) } else { call_id.to_owned() }
}
