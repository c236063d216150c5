//! kgent: a folder with an event log that is machine-readable and a transcript that is not.
//!
//! There are no messages in it: the log has tools, files, deliverables and errors, and points at the
//! rest. Everything beside the log is kept whole.

use std::collections::HashSet;

use quipu_event::payload::{
    DeliverableCheck, DeliverableResult, ErrorReport, FileAccess, RunCompleted, RunKind,
    RunStarted, Status, ToolCall, ToolResult, ToolStatus,
};
use quipu_event::{Draft, EncodeError, Fidelity, Kind};
use serde_json::{Value, json};

use super::error::ImportError;
use super::folder::Folder;
use super::record::{self, Record, lines, number, owned, text, time, value};
use super::teller::Teller;
use super::{Story, System, documents};

const LOG: &str = "events.jsonl";
const TOOLS: &str = "logs/tools.jsonl";
const ERRORS: &str = "logs/errors.jsonl";
const STATE: &str = "run.json";

/// Returns what is known of the run before its first event.
pub(super) fn story(folder: &Folder) -> Result<Story, ImportError> {
    let state = folder.read_json(STATE)?.unwrap_or_default();
    let log = folder.read(LOG)?.unwrap_or_default();
    let first = lines(LOG, &log).find_map(|record| record.object()).unwrap_or_default();
    let either = |keys: &[&str]| owned(&state, keys).or_else(|| owned(&first, keys));
    let id = either(&["run_id", "id"]).or_else(|| folder.name());
    let id = id.unwrap_or_else(|| "kgent".to_owned());
    let name = owned(&state, &["name", "title", "task_id"]).unwrap_or_else(|| id.clone());
    let started = RunStarted {
        session_id: either(&["session_id"]),
        task_id: either(&["task_id"]),
        ..RunStarted::new(name, RunKind::Exec)
    };
    let at = time(&state, "created_at").or_else(|| time(&state, "started_at"));
    let at = at.or_else(|| time(&first, "timestamp"));
    Ok(Story { id, started, at, ..Story::default() })
}

/// Tells the log in the order of its numbers, then what stands beside it.
pub(super) fn tell(
    folder: &Folder,
    _story: &Story,
    teller: &mut Teller,
) -> Result<(), ImportError> {
    let log = folder.read(LOG)?.unwrap_or_default();
    let mut events = Vec::new();
    let mut last = 0;
    for record in lines(LOG, &log) {
        let event = record.object();
        last = event.as_ref().and_then(|event| number(event, &["sequence"])).unwrap_or(last);
        events.push((last, record, event));
    }
    events.sort_by_key(|(sequence, ..)| *sequence);
    let mut seen = Seen::default();
    for (_, record, event) in &events {
        match event {
            Some(event) => seen.take(record, event, teller)?,
            None => teller.unknown(record, "is no JSON object")?,
        }
    }
    teller.check_last_line(LOG, &log)?;
    tell_tools(folder, &seen, teller)?;
    tell_errors(folder, &seen, teller)?;
    tell_state(folder, &seen, teller)?;
    let told = [LOG, TOOLS, ERRORS, STATE];
    documents::tell_rest(System::Kgent, folder, teller, |name| told.contains(&name))
}

/// What the log has said so far.
#[derive(Default)]
struct Seen {
    calls: HashSet<String>,
    errors: bool,
    ended: bool,
}

impl Seen {
    fn take(
        &mut self,
        record: &Record<'_>,
        event: &Value,
        teller: &mut Teller,
    ) -> Result<(), ImportError> {
        let at = time(event, "timestamp");
        let data = &event["data"];
        let kind = text(event, &["type"]).unwrap_or_default();
        let draft = match Kind::from(kind) {
            Kind::RunCreated => return teller.created(record),
            Kind::RunStarted => return teller.start(Some(record)),
            Kind::RunCompleted => {
                self.ended = true;
                return teller.end(Some(record), completed(event, Status::Succeeded), at);
            }
            Kind::Other(_) if kind == "run.failed" => {
                self.ended = true;
                return teller.end(Some(record), completed(event, Status::Failed), at);
            }
            Kind::Other(_) if kind == "tool.started" => self.call(event, data),
            Kind::Other(_) if kind == "tool.completed" => self.result(event, data, false),
            Kind::Other(_) if kind == "tool.failed" => self.result(event, data, true),
            kind @ (Kind::FileRead | Kind::FileWritten | Kind::FileRejected) => {
                Draft::new(kind, &file(event, data))
            }
            kind @ (Kind::DeliverableCheckStarted
            | Kind::DeliverableCheckCompleted
            | Kind::DeliverableMissing) => Draft::new(kind, &deliverable(data)),
            Kind::Error => {
                self.errors = true;
                Draft::new(Kind::Error, &error(event, data))
            }
            kind @ (Kind::ConfigLoaded
            | Kind::PromptRendered
            | Kind::SkillIndexed
            | Kind::SkillLoaded
            | Kind::MemoryRecallStarted
            | Kind::MemoryRecallCompleted
            | Kind::MemoryWriteRequested) => Draft::new(kind, &facts(event, data)),
            _ if kind.is_empty() => return teller.unknown(record, "has no type"),
            _ => Draft::system(kind, facts(event, data)),
        };
        teller.tell(Some(record), draft.map(|draft| Draft { timestamp: at, ..draft }))
    }

    fn call(&mut self, event: &Value, data: &Value) -> Result<Draft, EncodeError> {
        let call = ToolCall {
            name: tool_name(event, data),
            call_id: call_id(event, data),
            input: record::json(value(data, &["args", "input", "arguments", "args_summary"])),
            fidelity: Fidelity::Router,
            ..ToolCall::default()
        };
        self.calls.insert(call.call_id.clone());
        Draft::new(Kind::ToolCall, &call)
    }

    fn result(&mut self, event: &Value, data: &Value, failed: bool) -> Result<Draft, EncodeError> {
        let blocked = text(data, &["status"]) == Some("blocked");
        let status = match (blocked, failed) {
            (true, _) => ToolStatus::Blocked,
            (false, true) => ToolStatus::Failed,
            (false, false) => ToolStatus::Completed,
        };
        let said = || owned(event, &["summary"]).filter(|_| failed);
        let result = ToolResult {
            name: tool_name(event, data),
            call_id: call_id(event, data),
            input: record::json(value(data, &["args", "input", "arguments", "args_summary"])),
            output: record::json(value(data, &["output", "result", "result_summary"])),
            error: error_text(data).or_else(said),
            fidelity: Fidelity::Router,
            status: Some(status),
            duration_ms: number(data, &["duration_ms"]).or_else(|| number(event, &["duration_ms"])),
        };
        self.calls.insert(result.call_id.clone());
        Draft::new(Kind::ToolResult, &result)
    }
}

/// The detailed records of tools. A call that the log has is not counted again.
fn tell_tools(folder: &Folder, seen: &Seen, teller: &mut Teller) -> Result<(), ImportError> {
    let bytes = folder.read(TOOLS)?.unwrap_or_default();
    for record in lines(TOOLS, &bytes) {
        let Some(call) = record.object() else {
            teller.unknown(&record, "is no JSON object")?;
            continue;
        };
        let began = time(&call, "started_at").or_else(|| time(&call, "timestamp"));
        let id = call_id(&call, &call);
        if seen.calls.contains(&id) || id.is_empty() {
            let draft = Draft::system("tool_record", call);
            teller.tell(Some(&record), draft.map(|d| Draft { timestamp: began, ..d }))?;
            continue;
        }
        let mut alone = Seen::default();
        let draft = alone.call(&call, &call);
        teller.tell(Some(&record), draft.map(|d| Draft { timestamp: began, ..d }))?;
        let status = text(&call, &["status"]).unwrap_or_default();
        if status != "started" {
            let ended = time(&call, "completed_at").or(began);
            let draft = alone.result(&call, &call, matches!(status, "failed" | "blocked"));
            teller.tell(Some(&record), draft.map(|d| Draft { timestamp: ended, ..d }))?;
        }
    }
    teller.check_last_line(TOOLS, &bytes)
}

/// The errors. Where the log has errors of its own they are the same ones.
fn tell_errors(folder: &Folder, seen: &Seen, teller: &mut Teller) -> Result<(), ImportError> {
    let bytes = folder.read(ERRORS)?.unwrap_or_default();
    for record in lines(ERRORS, &bytes) {
        let Some(failure) = record.object() else {
            teller.unknown(&record, "is no JSON object")?;
            continue;
        };
        let at = time(&failure, "timestamp");
        let inner = value(&failure, &["error", "data"]).filter(|v| v.is_object());
        let draft = if seen.errors {
            Draft::system("error_record", failure)
        } else {
            Draft::new(Kind::Error, &error(&failure, inner.unwrap_or(&failure)))
        };
        teller.tell(Some(&record), draft.map(|draft| Draft { timestamp: at, ..draft }))?;
    }
    teller.check_last_line(ERRORS, &bytes)
}

/// The state of the run: its end, if the log has none.
fn tell_state(folder: &Folder, seen: &Seen, teller: &mut Teller) -> Result<(), ImportError> {
    let Some(bytes) = folder.read(STATE)? else { return Ok(()) };
    let record = Record::document(STATE, &bytes);
    let Some(state) = record.object() else { return teller.unknown(&record, "is not JSON") };
    let status = match text(&state, &["status"]) {
        Some("completed" | "succeeded") => Some(Status::Succeeded),
        Some("failed") => Some(Status::Failed),
        Some("cancelled" | "canceled") => Some(Status::Canceled),
        _ => None,
    };
    match status.filter(|_| !seen.ended) {
        Some(status) => {
            let error = error_text(&state);
            let completed = RunCompleted { status: Some(status), error, ..RunCompleted::default() };
            let at = time(&state, "completed_at").or_else(|| time(&state, "updated_at"));
            teller.end(Some(&record), completed, at)
        }
        None => {
            let facts = json!({ "file": STATE, "bytes": bytes.len() });
            teller.tell(Some(&record), Draft::system("document", facts))
        }
    }
}

fn completed(event: &Value, status: Status) -> RunCompleted {
    let data = &event["data"];
    let failed = status != Status::Succeeded;
    let error = error_text(data).or_else(|| owned(event, &["summary"]).filter(|_| failed));
    RunCompleted {
        status: Some(status),
        error: error.filter(|_| failed),
        duration_ms: number(data, &["duration_ms"]),
        ..RunCompleted::default()
    }
}

fn tool_name(event: &Value, data: &Value) -> String {
    let named = owned(data, &["tool_name", "tool", "name"]);
    named.or_else(|| owned(event, &["tool_name"])).unwrap_or_default()
}

fn call_id(event: &Value, data: &Value) -> String {
    let ids = owned(event, &["correlation_id"]).or_else(|| owned(data, &["call_id"]));
    ids.or_else(|| owned(event, &["call_id", "parent_event_id", "event_id"])).unwrap_or_default()
}

fn error_text(data: &Value) -> Option<String> {
    let error = value(data, &["error", "error_message"])?;
    let said = error.as_str().map(str::to_owned).or_else(|| owned(error, &["message", "code"]));
    said.or_else(|| Some(error.to_string()))
}

fn file(event: &Value, data: &Value) -> FileAccess {
    FileAccess {
        file: owned(data, &["path", "file"]).unwrap_or_default(),
        bytes: number(data, &["bytes", "size"]),
        sha256: owned(data, &["sha256"]),
        reason: owned(data, &["reason"]),
        call_id: owned(event, &["correlation_id"]),
    }
}

fn deliverable(data: &Value) -> DeliverableCheck {
    let list = |keys: &[&str]| -> Vec<String> {
        match value(data, keys) {
            Some(Value::Array(items)) => {
                items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
            }
            Some(Value::String(one)) => vec![one.clone()],
            _ => Vec::new(),
        }
    };
    let result = text(data, &["status", "result"]).map(DeliverableResult::from);
    DeliverableCheck {
        required: list(&["required"]),
        missing: list(&["missing", "path"]),
        problems: list(&["problems", "errors"]),
        result: result.filter(DeliverableResult::is_known),
    }
}

fn error(event: &Value, data: &Value) -> ErrorReport {
    let word = |key: &str| owned(data, &[key]).unwrap_or_else(|| "unknown".to_owned());
    let message = owned(data, &["message"]).or_else(|| owned(event, &["summary", "message"]));
    ErrorReport {
        code: word("code"),
        category: word("category"),
        message: message.unwrap_or_default(),
        retryable: data["retryable"] == true,
        details: value(data, &["details"]).map(|details| record::json(Some(details))),
    }
}

/// What the event says, and who says it.
fn facts(event: &Value, data: &Value) -> Value {
    let mut facts = match data {
        Value::Object(data) => data.clone(),
        Value::Null => serde_json::Map::new(),
        other => serde_json::Map::from_iter([("data".to_owned(), other.clone())]),
    };
    for key in ["actor", "severity", "summary"] {
        if let Some(said) = text(event, &[key]) {
            facts.entry(key).or_insert_with(|| said.into());
        }
    }
    facts.into()
}
