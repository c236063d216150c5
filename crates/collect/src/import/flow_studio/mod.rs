//! Flow Studio: a folder of flows, each with transcripts and receipts of its steps, and one log.
//!
//! The log has the order: flows and steps begin and end there. A step's transcript and receipt are of
//! its last execution, because each execution overwrites them, and are told before its end. Steps that
//! the log does not know are told with their flow all the same.

mod ending;
mod event;
mod line;
mod parts;
mod walk;

use quipu_event::payload::{RunCompleted, RunKind, RunStarted, Status};
use serde_json::Value;

use super::error::ImportError;
use super::folder::Folder;
use super::record::{Record, json, lines, owned, text, time};
use super::teller::Teller;
use super::{Story, System, documents};
use parts::Parts;
use walk::Walk;

const LOG: &str = "events.jsonl";
const META: &str = "meta.json";

/// Returns what is known of the run before its first event.
pub(super) fn story(folder: &Folder) -> Result<Story, ImportError> {
    let meta = folder.read_json(META)?.unwrap_or_default();
    let log = folder.read(LOG)?.unwrap_or_default();
    let first = lines(LOG, &log).find_map(|record| record.object()).unwrap_or_default();
    let parts = Parts::find(folder)?;
    let id =
        owned(&meta, &["id"]).or_else(|| owned(&first, &["run_id"])).or_else(|| parts.run_id());
    let id = id.or_else(|| folder.name()).unwrap_or_else(|| "flow-studio".to_owned());
    let name = owned(&meta, &["title"]).unwrap_or_else(|| id.clone());
    let mut started = RunStarted {
        inputs: meta.get("spec").filter(|spec| spec.is_object()).map(|spec| json(Some(spec))),
        ..RunStarted::new(name, RunKind::Workflow)
    };
    let says_stub = |line: Value| line["payload"]["mode"] == "stub";
    if parts.is_stub() || lines(LOG, &log).filter_map(|r| r.object()).any(says_stub) {
        started.labels.get_or_insert_default().insert("stub".to_owned(), "true".to_owned());
    }
    if let Some(backend) = text(&meta["spec"], &["backend"]) {
        let labels = started.labels.get_or_insert_default();
        labels.insert("backend".to_owned(), backend.to_owned());
    }
    let at = time(&first, "ts").or_else(|| time(&meta, "created_at")).or_else(|| parts.began());
    Ok(Story { id, started, at, ..Story::default() })
}

/// Tells the log with the steps in it, the other documents, and how the run ended.
pub(super) fn tell(
    folder: &Folder,
    _story: &Story,
    teller: &mut Teller,
) -> Result<(), ImportError> {
    let found = folder.read(LOG)?;
    let log = found.as_deref().unwrap_or_default();
    let parts = Parts::find(folder)?;
    let names: Vec<String> = parts.files().map(str::to_owned).collect();
    let records: Vec<_> = lines(LOG, log).map(|record| (record, record.object())).collect();
    teller.begin_file(LOG, log);
    let mut walk = Walk::new(folder, parts, &records);
    for (record, event) in &records {
        match event {
            Some(event) => walk.take(record, event, teller)?,
            None => teller.unknown(record, "is no JSON object")?,
        }
    }
    walk.tell_rest(teller)?;
    if found.is_some() {
        ending::tell(LOG, log, teller)?;
    }
    let known = |name: &str| name == LOG || name == META || names.iter().any(|n| n == name);
    documents::tell_rest(System::FlowStudio, folder, teller, known)?;
    tell_end(folder, &mut walk, &records, teller)
}

/// Ends what is open as the run's own summary says; without one, as the last flow did.
fn tell_end(
    folder: &Folder,
    walk: &mut Walk<'_>,
    records: &[(Record<'_>, Option<Value>)],
    teller: &mut Teller,
) -> Result<(), ImportError> {
    if let Some(bytes) = folder.read(META)? {
        let record = Record::document(META, &bytes);
        let Some(meta) = record.object() else { return teller.unknown(&record, "is not JSON") };
        let at = time(&meta, "completed_at").or_else(|| time(&meta, "updated_at"));
        let status = status_of(text(&meta, &["status"]).unwrap_or_default());
        walk.close_flows(&record, status.clone(), at, teller)?;
        let error = owned(&meta, &["error"]);
        let error = error.or_else(|| unfinished(&status, text(&meta, &["status"])));
        let completed = RunCompleted { status: Some(status), error, ..RunCompleted::default() };
        return teller.end(Some(&record), completed, at);
    }
    let last = records.iter().rev().find_map(|(record, event)| {
        let event = event.as_ref().filter(|event| event::ends_flow(event))?;
        Some((record, event))
    });
    let Some((record, event)) = last else { return Ok(()) };
    let (status, error) = event::end_of(event);
    let completed = RunCompleted { status: Some(status), error, ..RunCompleted::default() };
    teller.end(Some(record), completed, time(event, "ts"))
}

/// Says why a run that had not ended is closed.
fn unfinished(status: &Status, word: Option<&str>) -> Option<String> {
    let word = word.unwrap_or("of unknown status");
    (*status == Status::Aborted).then(|| format!("the run was {word} when it was imported"))
}

/// Returns our word for how something ended.
fn status_of(word: &str) -> Status {
    match word.to_ascii_lowercase().as_str() {
        "succeeded" | "success" | "completed" | "ok" | "verified" | "done" => Status::Succeeded,
        "failed" | "error" | "partial" | "unverified" => Status::Failed,
        "canceled" | "cancelled" | "stopped" => Status::Canceled,
        "skipped" => Status::Skipped,
        "blocked" => Status::Blocked,
        _ => Status::Aborted,
    }
}
