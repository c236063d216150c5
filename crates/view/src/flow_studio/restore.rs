//! An imported run, put back as it was: each foreign line and document from its own bytes.
//!
//! Lines come in the order of their file. The last line of a file is held back, because a later
//! import may have found it longer; nothing else is kept. A transcript or a receipt that another
//! execution has written over is moved aside, as in a run of ours.

use std::collections::{BTreeMap, HashMap, HashSet};

use quipu_event::payload::System;
use quipu_event::{Event, Kind, Origin, Raw};

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
    /// What was moved aside, by where it is now: which file it had been.
    aside: HashMap<String, String>,
    /// Which number comes next where a file is moved aside.
    next: HashMap<String, u64>,
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
        Restoring {
            root: run.to_owned(),
            logs: BTreeMap::new(),
            documents: HashSet::new(),
            aside: HashMap::new(),
            next: HashMap::new(),
        }
    }

    /// Takes the next event and returns whether what it says is in the files.
    pub(super) fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) -> bool {
        let Some(origin) = event.origin.as_deref() else { return is_made_by_import(&event.kind) };
        let Some(name) = Some(origin.file.as_str()).filter(|name| is_safe(name)) else {
            return false;
        };
        let bytes = event.raw.as_ref().and_then(Raw::bytes);
        match (Record::of(event, origin), bytes) {
            (Record::NoLineFeed, _) => {
                self.logs.entry(name.to_owned()).or_default().is_open_ended = true;
                true
            }
            (Record::EmptyLines, _) => {
                let line = Line { offset: origin.offset, len: 0, bytes: Vec::new() };
                self.take_line(name, line, shelf)
            }
            (Record::NotKept, _) => false,
            (Record::Document, Some(bytes)) => self.put(name, &bytes, shelf),
            (Record::Document, None) if origin.len == 0 => self.put(name, b"", shelf),
            // A record has its bytes on the first event that was made from it.
            (Record::Document, None) => self.documents.contains(name),
            (Record::Line, Some(bytes)) => {
                let line = Line { offset: origin.offset, len: origin.len, bytes };
                self.take_line(name, line, shelf)
            }
            (Record::Line, None) => {
                self.logs.get(name).is_some_and(|log| log.has(origin.offset)) || origin.len == 0
            }
        }
    }

    /// Writes what was held back.
    pub(super) fn finish(&mut self, shelf: &mut dyn Shelf) {
        for (name, mut log) in std::mem::take(&mut self.logs) {
            let path = format!("{}/{name}", self.root);
            log.end_file(&path, shelf);
        }
    }

    fn put(&mut self, name: &str, bytes: &[u8], shelf: &mut dyn Shelf) -> bool {
        let path = format!("{}/{name}", self.root);
        let lines = self.logs.remove(name);
        let is_known = !self.documents.insert(name.to_owned());
        if is_known || lines.is_some() {
            if let Some(mut log) = lines {
                log.end_file(&path, shelf);
            }
            self.move_aside(name, shelf);
        }
        if let Some(of) = self.aside.remove(name) {
            // The run has such an execution of its own.
            self.put_aside(name, &of, shelf);
        }
        shelf.put(&path, bytes);
        true
    }

    fn take_line(&mut self, name: &str, line: Line, shelf: &mut dyn Shelf) -> bool {
        let path = format!("{}/{name}", self.root);
        let log = self.logs.entry(name.to_owned()).or_default();
        let end = log.last.as_ref().map_or(log.end, |last| last.offset.saturating_add(last.len));
        let has_grown = log
            .last
            .as_ref()
            .is_some_and(|last| last.offset == line.offset && line.bytes.starts_with(&last.bytes));
        if !has_grown && line.offset < end {
            if line.offset > 0 {
                // Lines before it that are the same were not told again.
                return false;
            }
            log.end_file(&path, shelf);
            self.move_aside(name, shelf);
            shelf.put(&path, b"");
        }
        let log = self.logs.entry(name.to_owned()).or_default();
        if !has_grown {
            log.write_last(&path, shelf);
        }
        log.is_open_ended = false;
        log.last = Some(line);
        true
    }

    /// Moves a step's file to where earlier executions are; any other is about to be replaced.
    fn move_aside(&mut self, name: &str, shelf: &mut dyn Shelf) {
        if earlier(name).is_some() {
            self.put_aside(name, name, shelf);
        }
    }

    /// Moves what is at `from` to the first place for an earlier `name` that is free.
    fn put_aside(&mut self, from: &str, name: &str, shelf: &mut dyn Shelf) {
        let Some((stem, ending)) = earlier(name) else { return };
        let next = self.next.entry(name.to_owned()).or_default();
        let to = loop {
            let to = format!("{stem}.iter{next}{ending}");
            *next += 1;
            if !self.documents.contains(&to) && !self.aside.contains_key(&to) {
                break to;
            }
        };
        shelf.rename(&format!("{}/{from}", self.root), &format!("{}/{to}", self.root));
        self.aside.insert(to, name.to_owned());
    }
}

/// Returns where earlier versions of a step's file are: the path before their number, and behind it.
fn earlier(name: &str) -> Option<(String, &'static str)> {
    [("/llm/", "/llm_earlier/", ".jsonl"), ("/receipts/", "/receipts_earlier/", ".json")]
        .into_iter()
        .find_map(|(now, earlier, ending)| {
            let stem = name.strip_suffix(ending).filter(|stem| stem.contains(now))?;
            Some((stem.replacen(now, earlier, 1), ending))
        })
}

impl LineFile {
    fn has(&self, offset: u64) -> bool {
        offset < self.end || self.last.as_ref().is_some_and(|last| offset <= last.offset)
    }

    /// Writes the rest, and leaves the file as if it had not begun.
    fn end_file(&mut self, path: &str, shelf: &mut dyn Shelf) {
        self.write_last(path, shelf);
        if !self.is_open_ended {
            shelf.append(path, b"\n");
        }
        *self = LineFile::default();
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

/// What a record is to its file.
enum Record {
    Document,
    Line,
    NoLineFeed,
    EmptyLines,
    /// A document that was too large.
    NotKept,
}

impl Record {
    /// The import's own words count only about the file that they came from: a log may use the
    /// same ones.
    fn of(event: &Event, origin: &Origin) -> Self {
        let system = (event.kind == Kind::System).then(|| event.payload.decode::<System>().ok());
        let System { subtype, facts } = system.flatten().unwrap_or_default();
        let is_about_file = facts.get("file").is_some_and(|file| *file == *origin.file);
        let is_whole = facts.get("bytes").is_some_and(|bytes| *bytes == origin.len);
        match subtype.as_str() {
            "no_line_feed" if is_about_file && origin.len == 0 => Record::NoLineFeed,
            "empty_lines" if is_about_file && origin.len == 0 => Record::EmptyLines,
            "document" if is_about_file && facts.get("kept").is_some_and(|k| *k == false) => {
                Record::NotKept
            }
            "document" if is_about_file && is_whole => Record::Document,
            _ if origin.file.ends_with(".jsonl") => Record::Line,
            _ => Record::Document,
        }
    }
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
