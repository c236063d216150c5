//! The files of other recorders become runs: once, whole, and sound.
//!
//! - `awf`, `flow_studio`, `kgent`, `wink`: what becomes what.
//! - `again`: importing the same, the grown and the interrupted.
//! - `hostile`: what cannot be read, and what should not be believed.
//! - `samples`: files that those recorders have really written, where they are at hand.

mod again;
mod awf;
mod flow_studio;
mod hostile;
mod kgent;
mod samples;
mod wink;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use quipu_collect::import::{Outcome, Request, find, import};
use quipu_event::{Event, Kind, RunId};
use quipu_journal::{Reader, verify_run};
use quipu_testkit::TestStorage;
use serde_json::Value;

/// A storage of ours, and a folder of theirs.
pub(crate) struct Desk {
    pub(crate) storage: TestStorage,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Desk { storage: TestStorage::in_memory() }
    }

    /// Returns a path among the foreign files.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.storage.dir().join("theirs").join(name)
    }

    /// Writes a foreign file.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Imports whatever is at a path.
    pub(crate) fn import(&self, path: &Path) -> Vec<Outcome> {
        let request = Request::default();
        let found = find(path).unwrap();
        found.iter().map(|one| import(&self.storage.layout, one, &request).unwrap()).collect()
    }

    /// Imports the one run that is at a path; it must be sound.
    pub(crate) fn import_one(&self, path: &Path) -> Outcome {
        let mut outcomes = self.import(path);
        assert_eq!(outcomes.len(), 1, "{outcomes:?}");
        let outcome = outcomes.remove(0);
        self.assert_sound(&outcome.run_id);
        outcome
    }

    pub(crate) fn events(&self, run: &RunId) -> Vec<Event> {
        let path = self.storage.layout.transcript(run);
        Reader::open(path).unwrap().collect::<Result<_, _>>().unwrap()
    }

    pub(crate) fn assert_sound(&self, run: &RunId) {
        let report = verify_run(&self.storage.layout, run).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
    }
}

/// Returns the events of one type, decoded.
pub(crate) fn payloads(events: &[Event], kind: Kind) -> Vec<Value> {
    let of_kind = events.iter().filter(|event| event.kind == kind);
    of_kind.map(|event| event.payload.decode().unwrap()).collect()
}

/// Returns type and path of each event, but for documents.
pub(crate) fn outline(events: &[Event]) -> Vec<String> {
    let told = |event: &&Event| !event.payload.as_str().contains("\"subtype\":\"document\"");
    let line = |event: &Event| format!("{} {}", event.kind, event.path).trim_end().to_owned();
    events.iter().filter(told).map(line).collect()
}

/// Makes the foreign files again from what the journal holds.
pub(crate) fn rebuilt(events: &[Event]) -> BTreeMap<String, Vec<u8>> {
    let mut files: BTreeMap<String, BTreeMap<u64, Vec<u8>>> = BTreeMap::new();
    let mut unterminated = Vec::new();
    for event in events {
        let Some(origin) = &event.origin else { continue };
        let payload: Value = event.payload.decode().unwrap_or_default();
        if payload["subtype"] == "no_line_feed" {
            unterminated.push(origin.file.clone());
        } else if let Some(raw) = &event.raw {
            let bytes = raw.bytes().unwrap();
            assert_eq!(bytes.len() as u64, origin.len);
            let file = files.entry(origin.file.clone()).or_default();
            let earlier = file.insert(origin.offset, bytes);
            assert_eq!(earlier, None, "{} is kept twice at {}", origin.file, origin.offset);
        } else if payload["subtype"] == "document" && origin.len == 0 {
            files.entry(origin.file.clone()).or_default();
        }
    }
    let whole = |(name, records): (String, BTreeMap<u64, Vec<u8>>)| {
        let is_log = name.ends_with(".jsonl");
        let mut bytes = Vec::new();
        for (offset, record) in records {
            bytes.resize(offset as usize, b'\n');
            bytes.extend(record);
        }
        if is_log && !bytes.is_empty() && !bytes.ends_with(b"\n") && !unterminated.contains(&name) {
            bytes.push(b'\n');
        }
        (name, bytes)
    };
    files.into_iter().map(whole).collect()
}

/// Returns the files below a folder.
pub(crate) fn files_in(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, dir: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, files);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut files = BTreeMap::new();
    walk(root, root, &mut files);
    files
}
