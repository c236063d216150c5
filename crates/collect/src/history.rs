//! What a session's transcript holds already: where to go on is read back from there alone.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io;
use std::path::Path;

use memchr::memmem;
use quipu_event::payload::{Counts, Payload, RunCompleted, RunStarted, TokenCounts};
use quipu_event::{Event, Kind, Origin, Raw, Timestamp, decode_line, peek};
use quipu_journal::Lines;

use crate::error::CollectError;
use crate::marks;
use crate::plan::key_of;

/// A session's transcript, as far as collecting needs to know it.
#[derive(Default)]
pub(crate) struct History {
    /// The run's first `run.started`.
    pub(crate) started: Option<RunStarted>,
    /// The number of its last line; 0 if it has none.
    pub(crate) last_seq: u64,
    /// Its last `run.completed`, and whether nothing came behind it.
    pub(crate) end: Option<RunCompleted>,
    pub(crate) has_ended: bool,
    pub(crate) usage: TokenCounts,
    pub(crate) counts: Counts,
    /// When the run began, and the latest that happened in it.
    pub(crate) first: Option<Timestamp>,
    pub(crate) last: Option<Timestamp>,
    sources: HashMap<String, SourceHistory>,
}

/// What was recorded of one file.
#[derive(Clone, Default)]
pub(crate) struct SourceHistory {
    /// How often the file has been replaced by another one of its name.
    pub(crate) generation: u32,
    /// The events made from it since it was last replaced, in their order.
    pub(crate) events: VecDeque<Recorded>,
    /// The session that it begins with a copy of.
    pub(crate) copied_from: Option<String>,
}

/// An event of the transcript that was made from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) kind: Kind,
    /// When it happened, as the record says it.
    pub(crate) time: Option<Timestamp>,
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) until: Option<u64>,
    /// How many line feeds stand between the records that are kept with it, if any are, and the
    /// number of those records.
    pub(crate) joints: Option<usize>,
    pub(crate) raw: Option<u64>,
}

impl History {
    /// Reads the transcript at `path`; one that is not there holds nothing.
    pub(crate) fn read(path: &Path) -> Result<Self, CollectError> {
        let mut history = History::default();
        each_line(path, |line| history.take(line))?;
        Ok(history)
    }

    /// Takes out what was recorded of the file called `key`.
    pub(crate) fn take_source(&mut self, key: &str) -> SourceHistory {
        self.sources.remove(key).unwrap_or_default()
    }

    fn take(&mut self, line: &[u8]) {
        let Some(seen) = peek(line) else { return };
        let kind = Kind::from(seen.kind);
        self.last_seq = seen.seq;
        note_count(&mut self.counts, &kind);
        // What a recovery says behind the end does not begin the run again.
        self.has_ended = match kind {
            Kind::RunCompleted => true,
            Kind::RunStarted => false,
            _ => self.has_ended,
        };
        if let Some(origin) = origin_of(line)
            && kind != Kind::RunCompleted
        {
            self.note(&kind, origin, line);
        }
        if !matches!(kind, Kind::RunStarted | Kind::RunCompleted | Kind::Usage) {
            return;
        }
        let Ok(event) = decode_line(line) else { return };
        self.first = self.first.or(Some(event.timestamp));
        self.last = self.last.max(Some(event.timestamp));
        match event.decode_payload() {
            Ok(Payload::RunStarted(started)) => _ = self.started.get_or_insert(*started),
            Ok(Payload::RunCompleted(completed)) => self.end = Some(*completed),
            Ok(Payload::Usage(usage)) => self.usage.add(&usage.tokens()),
            _ => {}
        }
    }

    fn note(&mut self, kind: &Kind, origin: Origin, line: &[u8]) {
        let source = self.sources.entry(key_of(Path::new(&origin.file))).or_default();
        if marks::is_replacement(line, &origin) {
            source.generation += 1;
            source.events.clear();
            return;
        }
        if let Some(session) = marks::copied_from(kind, line) {
            source.copied_from = Some(session);
        }
        let Origin { offset, len, until, .. } = origin;
        let (kind, time) = (kind.clone(), time_of(line));
        let (joints, raw) = (joints_of(line), raw_of(line).and_then(print_of));
        source.events.push_back(Recorded { kind, time, offset, len, until, joints, raw });
    }
}

/// Counts an event of `kind`.
pub(crate) fn note_count(counts: &mut Counts, kind: &Kind) {
    counts.events += 1;
    match kind {
        Kind::MessageUser | Kind::MessageAssistant => counts.messages += 1,
        Kind::ToolCall => counts.tool_calls += 1,
        Kind::Error => counts.errors += 1,
        Kind::Unknown => counts.unknown += 1,
        _ => {}
    }
}

/// Returns the foreign records of the file called `key`, in the order of the transcript, with the
/// generation of the file that they stood in.
pub(crate) fn records_of(path: &Path, key: &str) -> Result<Vec<(u32, Vec<u8>)>, CollectError> {
    let (mut records, mut generation) = (Vec::new(), 0);
    each_line(path, |line| {
        let Some(origin) = origin_of(line) else { return };
        if key_of(Path::new(&origin.file)) != key {
            return;
        }
        if marks::is_replacement(line, &origin) {
            generation += 1;
        }
        let raw = decode_line(line).ok().and_then(|event: Event| event.raw);
        records.extend(raw.as_ref().and_then(Raw::bytes).map(|bytes| (generation, bytes)));
    })?;
    Ok(records)
}

/// The lines of a file, as the numbers that only equal lines share.
pub(crate) fn prints_of(records: &[(u32, Vec<u8>)]) -> HashSet<u64> {
    let lines = records.iter().flat_map(|(_, record)| record.split(|byte| *byte == b'\n'));
    lines.filter_map(print_of).collect()
}

/// Returns the number of a line, unless it says nothing.
pub(crate) fn print_of(line: &[u8]) -> Option<u64> {
    use std::hash::{DefaultHasher, Hasher};
    let line = line.trim_ascii();
    if line.is_empty() {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(line);
    Some(hasher.finish())
}

/// Returns the origin on a line. What is quoted within the line has its quotes escaped, and what
/// is nested stands before it.
fn origin_of(line: &[u8]) -> Option<Origin> {
    const KEY: &[u8] = b",\"origin\":";
    let at = memmem::rfind(line, KEY)?;
    let value = &line[at + KEY.len()..];
    serde_json::Deserializer::from_slice(value).into_iter::<Origin>().next()?.ok()
}

/// Counts the line feeds in what is kept of an agent's records on a line. Those that a record
/// itself speaks of have a second backslash there.
fn joints_of(line: &[u8]) -> Option<usize> {
    const KEY: &[u8] = b",\"raw\":\"";
    let raw = &line[memmem::rfind(line, KEY)? + KEY.len()..];
    let is_joint = |at: &usize| {
        raw[..*at].iter().rev().take_while(|byte| **byte == b'\\').count().is_multiple_of(2)
    };
    Some(memmem::find_iter(raw, b"\\n").filter(is_joint).count())
}

/// Returns what is kept of an agent's records on a line, as it stands there.
fn raw_of(line: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b",\"raw\":";
    line[memmem::rfind(line, KEY)? + KEY.len()..].strip_suffix(b"}")
}

/// Returns the number of records that are kept as text, as [`Recorded`] has it.
pub(crate) fn print_of_raw(raw: &Raw) -> Option<u64> {
    let Raw::Bytes(bytes) = raw else { return None };
    let text = std::str::from_utf8(bytes).ok()?;
    print_of(quipu_event::Json::encode(text).ok()?.as_str().as_bytes())
}

/// Returns the time on a line; what stands before it is ours, and says nothing like it.
fn time_of(line: &[u8]) -> Option<Timestamp> {
    const KEY: &[u8] = b",\"timestamp\":\"";
    let value = &line[memmem::find(line, KEY)? + KEY.len()..];
    let end = memchr::memchr(b'"', value)?;
    Timestamp::parse(std::str::from_utf8(&value[..end]).ok()?).ok()
}

fn each_line(path: &Path, mut take: impl FnMut(&[u8])) -> Result<(), CollectError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(CollectError::read(path, error)),
    };
    let mut lines = Lines::new(file, 0);
    while let Some(line) = lines.next_whole().map_err(|error| CollectError::read(path, error))? {
        take(line.bytes);
    }
    Ok(())
}
