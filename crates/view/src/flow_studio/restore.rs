//! An imported run, put back as it was: each foreign line and document from its own bytes.
//!
//! Lines come in the order of their file. The last line of a file is held back, because a later
//! import may have found it longer; nothing else is kept.

use std::collections::{BTreeMap, HashSet};

use quipu_event::payload::System;
use quipu_event::{Event, Kind};

use crate::files::Shelf;

/// So many empty lines in a row are believed.
const MOST_EMPTY_LINES: u64 = 1 << 16;
/// A part of a path may be this long.
const LONGEST_NAME: usize = 255;

/// See the top of this file.
pub(super) struct Restoring {
    root: String,
    logs: BTreeMap<String, LineFile>,
    documents: HashSet<String>,
}

/// A file of lines, as far as it is written.
#[derive(Default)]
struct LineFile {
    /// Where the last line that was written ended in the foreign file.
    end: u64,
    last: Option<Line>,
    /// Whether the foreign file ended without a line feed.
    is_open_ended: bool,
}

struct Line {
    offset: u64,
    len: u64,
    bytes: Vec<u8>,
}

impl Restoring {
    pub(super) fn new(run: &str) -> Self {
        Restoring { root: run.to_owned(), logs: BTreeMap::new(), documents: HashSet::new() }
    }

    /// Takes the next event and returns whether what it says is in the files.
    pub(super) fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) -> bool {
        let Some(origin) = event.origin.as_deref() else { return is_made_by_import(&event.kind) };
        let Some(name) = Some(origin.file.as_str()).filter(|name| is_safe(name)) else {
            return false;
        };
        let subtype = subtype(event);
        if subtype.as_deref() == Some("no_line_feed") {
            self.logs.entry(name.to_owned()).or_default().is_open_ended = true;
            return true;
        }
        let is_document = subtype.as_deref() == Some("document") || !name.ends_with(".jsonl");
        let bytes = event.raw.as_ref().and_then(quipu_event::Raw::bytes);
        match (bytes, is_document) {
            (Some(bytes), true) => self.put(name, &bytes, shelf),
            (Some(bytes), false) => {
                let line = Line { offset: origin.offset, len: origin.len, bytes };
                return self.take_line(name, line, shelf);
            }
            (None, true) if origin.len == 0 && !says_not_kept(event) => self.put(name, b"", shelf),
            // A record has its bytes on the first event that was made from it.
            (None, true) => return self.documents.contains(name),
            (None, false) => {
                let log = self.logs.get(name);
                return log.is_some_and(|log| log.has(origin.offset));
            }
        }
        true
    }

    /// Writes what was held back.
    pub(super) fn finish(&mut self, shelf: &mut dyn Shelf) {
        for (name, mut log) in std::mem::take(&mut self.logs) {
            let path = format!("{}/{name}", self.root);
            log.write_last(&path, shelf);
            if log.end > 0 && !log.is_open_ended {
                shelf.append(&path, b"\n");
            }
        }
    }

    fn put(&mut self, name: &str, bytes: &[u8], shelf: &mut dyn Shelf) {
        shelf.put(&format!("{}/{name}", self.root), bytes);
        self.documents.insert(name.to_owned());
    }

    fn take_line(&mut self, name: &str, line: Line, shelf: &mut dyn Shelf) -> bool {
        let path = format!("{}/{name}", self.root);
        let log = self.logs.entry(name.to_owned()).or_default();
        let last_end = log.last.as_ref().map_or(log.end, |last| last.offset + last.len);
        let grew = log.last.as_ref().is_some_and(|last| last.offset == line.offset);
        if !grew {
            if line.offset < last_end {
                return false;
            }
            log.write_last(&path, shelf);
        }
        log.is_open_ended = false;
        log.last = Some(line);
        true
    }
}

impl LineFile {
    fn has(&self, offset: u64) -> bool {
        offset < self.end || self.last.as_ref().is_some_and(|last| offset <= last.offset)
    }

    fn write_last(&mut self, path: &str, shelf: &mut dyn Shelf) {
        let Some(Line { offset, len, mut bytes }) = self.last.take() else { return };
        let feeds = offset.saturating_sub(self.end).min(MOST_EMPTY_LINES);
        let feeds = usize::try_from(feeds).unwrap_or_default();
        bytes.splice(..0, std::iter::repeat_n(b'\n', feeds));
        shelf.append(path, &bytes);
        self.end = offset.saturating_add(len);
    }
}

/// Tells whether an event without an origin only completes what others say.
fn is_made_by_import(kind: &Kind) -> bool {
    kind.completion().is_some() || kind.is_completion() || *kind == Kind::ToolCall
}

fn subtype(event: &Event) -> Option<String> {
    let system = (event.kind == Kind::System).then(|| event.payload.decode::<System>().ok());
    system.flatten().map(|system| system.subtype)
}

fn says_not_kept(event: &Event) -> bool {
    let facts = event.payload.decode::<System>().map(|system| system.facts);
    facts.is_ok_and(|facts| facts.get("kept").is_some_and(|kept| kept == false))
}

/// Tells whether a foreign name stays below the run's folder. Apart from that it is as it was.
fn is_safe(name: &str) -> bool {
    let is_part = |part: &str| {
        !matches!(part, "" | "." | "..")
            && part.len() <= LONGEST_NAME
            && !part.chars().any(|c| c.is_control() || c == '\\')
    };
    name.split('/').all(is_part)
}
