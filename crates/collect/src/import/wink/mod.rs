//! WINK: a debug bundle, whose log has what its agents said, wrapped in log records.
//!
//! The log has every line that the bundle's transcript has, and more; where both are there, a line
//! that stands in both is told once.

pub(super) mod claude;
mod codex;
mod entry;
mod usage;

use std::collections::HashSet;

use quipu_event::payload::{Agent, ErrorReport, RunCompleted, RunKind, RunStarted, Status};
use quipu_event::{Draft, Kind};
use serde_json::{Value, json};

use super::error::ImportError;
use super::folder::Folder;
use super::record::{self, Record, lines, moment, owned, text, time, value};
use super::teller::Teller;
use super::{Story, System, documents};
use usage::Meter;

const MANIFEST: &str = "manifest.json";
const LOG: &str = "logs/app.jsonl";
const TRANSCRIPT: &str = "transcript.jsonl";
const METRICS: &str = "metrics.json";
const ERROR: &str = "error.json";

/// Returns what is known of the run before its first event.
pub(super) fn story(folder: &Folder) -> Result<Story, ImportError> {
    let manifest = folder.read_json(MANIFEST)?.unwrap_or_default();
    let context = folder.read_json("run_context.json")?.unwrap_or_default();
    let (request, prompt) = (&manifest["request"], &manifest["prompt"]);
    let id = owned(&manifest, &["bundle_id"]).or_else(|| folder.name());
    let id = id.unwrap_or_else(|| "wink".to_owned());
    let log = folder.read(LOG)?.unwrap_or_default();
    let entry = lines(LOG, &log).filter_map(|record| record.object()).find(is_entry);
    let entry = entry.map(|mut entry| entry["context"].take()).unwrap_or_default();
    let words: Vec<_> = ["ns", "key"].iter().filter_map(|key| text(prompt, &[key])).collect();
    let named = Some(words.join(":")).filter(|name| !name.is_empty());
    let name = owned(&entry, &["prompt_name"]).or(named).unwrap_or_else(|| id.clone());
    let adapter = owned(prompt, &["adapter"]);
    let agent = adapter.map(|adapter| Agent {
        provider: provider_of(&adapter).map(str::to_owned),
        adapter: Some(adapter),
        ..Agent::default()
    });
    let session = owned(request, &["session_id"]).or_else(|| owned(&context, &["session_id"]));
    let session = session.or_else(|| owned(&entry, &["session_id"]));
    let started = RunStarted {
        session_id: session,
        agent,
        inputs: folder.read_json("request/input.json")?.map(|input| record::json(Some(&input))),
        ..RunStarted::new(name, RunKind::Session)
    };
    let at = time(request, "started_at").or_else(|| time(&manifest, "created_at"));
    Ok(Story { id, started, at, ..Story::default() })
}

fn provider_of(adapter: &str) -> Option<&'static str> {
    ["claude", "codex", "gemini", "opencode"].into_iter().find(|name| adapter.contains(name))
}

/// Tells the log, what the transcript has beyond it, and the rest of the bundle.
pub(super) fn tell(
    folder: &Folder,
    _story: &Story,
    teller: &mut Teller,
) -> Result<(), ImportError> {
    let log = folder.read(LOG)?.unwrap_or_default();
    let transcript = folder.read(TRANSCRIPT)?;
    let metrics = folder.read(METRICS)?;
    let metered = metrics.as_deref().and_then(usage::of_metrics);
    let mut meter = Meter::new(metered.is_some());
    let told: HashSet<&[u8]> = lines(LOG, &log).map(|record| record.bytes).collect();
    let beyond = lines(TRANSCRIPT, transcript.as_deref().unwrap_or_default());
    let beyond = beyond.filter(|record| !told.contains(record.bytes));
    for line in lines(LOG, &log).chain(beyond).filter_map(|record| record.object()) {
        meter.foresee(&line);
    }
    for record in lines(LOG, &log) {
        entry::tell(&record, &mut meter, teller)?;
    }
    teller.check_last_line(LOG, &log)?;
    if let Some(transcript) = &transcript {
        tell_transcript(transcript, &log, &told, &mut meter, teller)?;
    }
    tell_metrics(metrics.as_deref(), metered, teller)?;
    tell_error(folder, teller)?;
    let known = [MANIFEST, LOG, TRANSCRIPT, METRICS, ERROR];
    documents::tell_rest(System::Wink, folder, teller, |name| known.contains(&name))?;
    tell_manifest(folder, teller)
}

/// Tells the lines of the transcript that the log has not.
fn tell_transcript(
    bytes: &[u8],
    log: &[u8],
    told: &HashSet<&[u8]>,
    meter: &mut Meter,
    teller: &mut Teller,
) -> Result<(), ImportError> {
    let mut repeats = true;
    for record in lines(TRANSCRIPT, bytes) {
        if !told.contains(record.bytes) {
            repeats = false;
            entry::tell(&record, meter, teller)?;
        }
    }
    let whole = Record::document(TRANSCRIPT, bytes);
    if !repeats {
        // Some lines stand in the log and some here: only the whole says which.
        let facts = json!({ "file": TRANSCRIPT, "bytes": bytes.len() });
        return teller.tell(Some(&whole), Draft::system("document", facts));
    }
    match left_out(bytes, log) {
        Some(left_out) => {
            let facts = json!({
                "file": TRANSCRIPT, "bytes": bytes.len(), "lines_of": LOG, "without": left_out,
            });
            let place = Record { bytes: b"", ..whole };
            teller.tell(Some(&place), Draft::system("document", facts))
        }
        None => {
            let facts = json!({ "file": TRANSCRIPT, "bytes": bytes.len() });
            teller.tell(Some(&whole), Draft::system("document", facts))
        }
    }
}

/// Returns which entries of the log, by line, the transcript does not have; nothing if it is not the
/// log's entries in their order otherwise.
fn left_out(transcript: &[u8], log: &[u8]) -> Option<Vec<u64>> {
    let mut wanted = lines(TRANSCRIPT, transcript).peekable();
    let mut left_out = Vec::new();
    let mut rebuilt = 0;
    for record in lines(LOG, log) {
        if wanted.peek().is_some_and(|next| next.bytes == record.bytes) {
            wanted.next();
            rebuilt += record.bytes.len() + 1;
        } else if record.object().is_some_and(|line| line["event"] == "transcript.entry") {
            left_out.extend(record.line);
        }
    }
    (wanted.next().is_none() && rebuilt == transcript.len()).then_some(left_out)
}

fn tell_metrics(
    bytes: Option<&[u8]>,
    metered: Option<quipu_event::payload::Usage>,
    teller: &mut Teller,
) -> Result<(), ImportError> {
    let Some(bytes) = bytes else { return Ok(()) };
    let record = Record::document(METRICS, bytes);
    let Some(metrics) = record.object() else { return teller.unknown(&record, "is not JSON") };
    let at = time(&metrics["timing"], "ended_at");
    let draft = match metered {
        Some(usage) => Draft::new(Kind::Usage, &usage),
        None => Draft::system("metrics", metrics),
    };
    teller.tell(Some(&record), draft.map(|draft| Draft { timestamp: at, ..draft }))
}

fn tell_error(folder: &Folder, teller: &mut Teller) -> Result<(), ImportError> {
    let Some(bytes) = folder.read(ERROR)? else { return Ok(()) };
    let record = Record::document(ERROR, &bytes);
    let Some(error) = record.object() else { return teller.unknown(&record, "is not JSON") };
    let report = ErrorReport {
        code: owned(&error, &["type"]).unwrap_or_else(|| "error".to_owned()),
        category: "agent".to_owned(),
        message: owned(&error, &["message"]).unwrap_or_default(),
        retryable: false,
        details: value(&error, &["traceback"]).map(|trace| record::json(Some(trace))),
    };
    teller.tell(Some(&record), Draft::new(Kind::Error, &report))
}

/// The manifest says how it ended.
fn tell_manifest(folder: &Folder, teller: &mut Teller) -> Result<(), ImportError> {
    let Some(bytes) = folder.read(MANIFEST)? else { return Ok(()) };
    let record = Record::document(MANIFEST, &bytes);
    let Some(manifest) = record.object() else { return teller.unknown(&record, "is not JSON") };
    let failure = folder.read_json(ERROR)?.unwrap_or_default();
    let request = &manifest["request"];
    let status = match text(request, &["status"]) {
        Some("error" | "failed") => Status::Failed,
        Some("success" | "succeeded") => Status::Succeeded,
        _ if failure.is_object() => Status::Failed,
        _ => Status::Succeeded,
    };
    let result = folder.read_json("request/output.json")?;
    let completed = RunCompleted {
        error: owned(&failure, &["message", "type"]).filter(|_| status == Status::Failed),
        status: Some(status),
        result: result.map(|result| record::json(Some(&result))),
        ..RunCompleted::default()
    };
    let at = text(request, &["ended_at"]).and_then(moment);
    teller.end(Some(&record), completed, at)
}

/// Tells whether a log record is an entry of the transcript.
fn is_entry(line: &Value) -> bool {
    line["event"] == "transcript.entry" && line["context"].is_object()
}
