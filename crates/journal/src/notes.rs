//! Notes that others leave for a run: they wait in files until whoever may write the run takes them up.
//!
//! A run has one writer, so nobody else can add a line to it while it is written. A note is left
//! first and recorded after, by its own process if nobody writes the run, else by the run's writer.
//! What is left is removed only when its line is written.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use quipu_event::payload::System;
use quipu_event::{Draft, Event, Json, Kind, RunId, RunIdentity};
use serde_json::{Map, Value};

use crate::clock::{Clock, SystemClock};
use crate::error::{NoteError, OpenError};
use crate::layout::{DIR_MODE, FILE_MODE, Layout};
use crate::lock::Holder;
use crate::reader::Reader;
use crate::recorder::{Options, Recorder};

/// The subtype of a note's event.
const NOTE: &str = "note";
/// The key of what tells one note from another.
const ID: &str = "note_id";
/// How often leaving is tried while others take up the last note and its folder with it.
const TRIES: usize = 100;

/// Something to be remembered of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub title: String,
    /// What it says.
    pub content: String,
    /// The step it was left in.
    pub step: Option<String>,
}

/// What became of the notes of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// They stand in the transcript; each with its number.
    Recorded(Vec<(String, u64)>),
    /// Somebody writes the run, and takes them up.
    Waiting(Holder),
}

/// Leaves a note for a run and returns its id. It is not in the transcript yet.
///
/// Fails when the disk refuses.
pub fn leave_note(layout: &Layout, run: &RunId, note: &Note) -> Result<String, NoteError> {
    static LEFT: AtomicU64 = AtomicU64::new(0);
    let now = SystemClock.now();
    let (pid, nth) = (std::process::id(), LEFT.fetch_add(1, Ordering::Relaxed));
    // Notes are taken up in the order of their names.
    let id = format!("{:020}-{pid:010}-{nth:06}", now.as_micros());
    let mut facts = Map::new();
    facts.insert("title".to_owned(), note.title.clone().into());
    facts.insert("content".to_owned(), note.content.clone().into());
    if let Some(step) = &note.step {
        facts.insert("step".to_owned(), step.clone().into());
    }
    facts.insert("left_at".to_owned(), now.to_string().into());
    facts.insert(ID.to_owned(), id.clone().into());
    let text = serde_json::to_vec(&System { subtype: NOTE.to_owned(), facts });
    let dir = layout.notes(run);
    let text = text.map_err(|error| failed(&dir, error.into()))?;
    put(&dir, &id, &text).map_err(|source| failed(&dir, source))?;
    Ok(id)
}

/// Hands the notes that wait for a run to `record`, in the order in which they were left, and returns
/// how many there were. One that is not recorded goes on waiting, and so do those behind it.
///
/// Only the run's writer may call this. `transcript` is read for notes that were recorded by a writer
/// that died before it could remove them; a writer that has asked once need not ask again.
///
/// Fails when the disk refuses.
pub fn take_up_notes(
    layout: &Layout,
    run: &RunId,
    transcript: Option<&Path>,
    mut record: impl FnMut(Draft) -> bool,
) -> Result<usize, NoteError> {
    let dir = layout.notes(run);
    let waiting = waiting(&dir).map_err(|source| failed(&dir, source))?;
    if waiting.is_empty() {
        return Ok(0);
    }
    let recorded = transcript.map(recorded_in).unwrap_or_default();
    let mut taken = 0;
    for (id, path) in waiting {
        let text = fs::read_to_string(&path).map_err(|source| failed(&path, source))?;
        // What is no note of ours is left where it is.
        let Some(payload) = note_of(&text, &id) else { continue };
        if !recorded.contains(&id) {
            if !record(Draft::with_json(Kind::System, payload)) {
                return Ok(taken);
            }
            taken += 1;
        }
        fs::remove_file(&path).map_err(|source| failed(&path, source))?;
    }
    // Another note may have come meanwhile; then the folder stays.
    let _ = fs::remove_dir(&dir).and_then(|()| fs::remove_dir(dir.parent().unwrap_or(&dir)));
    Ok(taken)
}

/// Records the notes that wait for a run, unless somebody writes it.
///
/// What the run had started goes on. A run for which no note waits is not opened.
///
/// Fails when the run cannot be opened or written.
pub fn deliver_notes(
    layout: &Layout,
    run: &RunId,
    options: Options,
) -> Result<Delivery, NoteError> {
    let dir = layout.notes(run);
    if waiting(&dir).map_err(|source| failed(&dir, source))?.is_empty() {
        return Ok(Delivery::Recorded(Vec::new()));
    }
    let identity = RunIdentity { run_id: run.clone(), parent_run_id: None };
    let recorder = match Recorder::take_up(layout, &identity, options) {
        Ok((recorder, _)) => recorder,
        Err(OpenError::Locked { holder, .. }) => return Ok(Delivery::Waiting(holder)),
        Err(error) => return Err(error.into()),
    };
    let mut recorded = Vec::new();
    let mut refused = None;
    take_up_notes(layout, run, Some(recorder.path()), |draft| {
        let id = id_in(&draft.payload).unwrap_or_default();
        match recorder.record(draft) {
            Ok(seq) => recorded.push((id, seq)),
            Err(error) => refused = Some(error),
        }
        refused.is_none()
    })?;
    if let Some(error) = refused {
        return Err(error.into());
    }
    recorder.close()?;
    Ok(Delivery::Recorded(recorded))
}

/// Tells whether an event is a note that somebody left.
pub(crate) fn is_note(event: &Event) -> bool {
    event.kind == Kind::System && id_in(&event.payload).is_some()
}

/// Makes a file appear whole, with its text in it.
fn put(dir: &Path, id: &str, text: &[u8]) -> io::Result<()> {
    let (made, name) = (dir.join(format!(".{id}")), dir.join(format!("{id}.json")));
    for _ in 0..TRIES {
        let file = DirBuilder::new().recursive(true).mode(DIR_MODE).create(dir).and_then(|()| {
            OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&made)
        });
        match file {
            Ok(mut file) => {
                file.write_all(text)?;
                return fs::rename(&made, &name);
            }
            // Somebody took up the last note, and its folder with it: before the file was made, or
            // between the two looks at whether the folder is there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !made.exists() => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("the folder for notes does not stay"))
}

fn waiting(dir: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut waiting = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().into_string().unwrap_or_default();
        if let Some(id) = name.strip_suffix(".json").filter(|id| !id.starts_with('.')) {
            waiting.push((id.to_owned(), entry.path()));
        }
    }
    waiting.sort();
    Ok(waiting)
}

/// Returns the payload of a note, if the text is that of the note `id`.
fn note_of(text: &str, id: &str) -> Option<Json> {
    let payload = Json::parse(text).ok()?;
    let system: System = payload.decode().ok()?;
    let is_it = system.subtype == NOTE && system.facts.get(ID).and_then(Value::as_str) == Some(id);
    is_it.then_some(payload)
}

fn id_in(payload: &Json) -> Option<String> {
    let system: System = payload.decode().ok()?;
    if system.subtype != NOTE {
        return None;
    }
    system.facts.get(ID).and_then(Value::as_str).map(str::to_owned)
}

/// Returns the ids of the notes that a transcript has.
fn recorded_in(transcript: &Path) -> BTreeSet<String> {
    let Ok(events) = Reader::open(transcript) else { return BTreeSet::new() };
    let notes = events.filter_map(Result::ok).filter(|event| event.kind == Kind::System);
    notes.filter_map(|event| id_in(&event.payload)).collect()
}

fn failed(path: &Path, source: io::Error) -> NoteError {
    NoteError::Io { path: path.to_owned(), source }
}
