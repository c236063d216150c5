//! What the first and the last lines of a transcript say, without those in between.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use quipu_event::payload::System;
use quipu_event::{Event, Json, Kind, decode_line, peek};

use crate::lines::{LineEnd, Lines, LinesBackward};
use crate::notes::is_note;

/// How much of a head and of a tail is read at once. Most first and last lines fit, and small
/// runs fit whole.
const NEAR: usize = 4 * 1024;
/// How much of a tail is looked at for an end that late events stand behind.
const FAR: usize = 64 * 1024;

/// The ends of a transcript.
pub(crate) struct Ends {
    /// The first event, if the first line is one.
    pub(crate) first: Option<Box<Event>>,
    /// The end of the run, or the last event that is no note.
    pub(crate) last: Option<Box<Event>>,
    /// The number of the last event.
    pub(crate) last_seq: Option<u64>,
    /// How large the file is.
    pub(crate) bytes: u64,
}

impl Ends {
    fn of(first: Option<Box<Event>>, last: Last, bytes: u64) -> Self {
        Ends { first, last: last.event, last_seq: last.seq, bytes }
    }
}

/// Reads the ends of a transcript, and as little else as can be.
pub(crate) fn read_ends(file: File) -> io::Result<Ends> {
    let mut buffer = [0; NEAR];
    let filled = file.read_at(&mut buffer, 0)?;
    let head = &buffer[..filled];
    let first = match memchr::memchr(b'\n', head) {
        Some(end) => decode_line(&head[..end]).ok().map(Box::new),
        None if filled < NEAR => None,
        None => first_line_of(&file)?,
    };
    if filled < NEAR {
        return Ok(Ends::of(first, last_event_in(head), filled as u64));
    }
    let bytes = file.metadata()?.len();
    let mut last = last_event_near(&file, bytes, &mut buffer)?;
    if !last.is_settled {
        last = last_event_near(&file, bytes, &mut vec![0; FAR])?;
    }
    if last.event.is_none() {
        last = last_event_of(file)?;
    }
    Ok(Ends::of(first, last, bytes))
}

/// The end of a file.
#[derive(Default)]
struct Last {
    /// The end of the run, or the last event that is no note.
    event: Option<Box<Event>>,
    /// The number of the last event.
    seq: Option<u64>,
    /// Whether what stands before can change nothing.
    is_settled: bool,
}

impl Last {
    /// Takes the next line from the end, and returns whether all is known.
    fn take(&mut self, line: &[u8]) -> bool {
        if self.event.is_none() || may_bound_a_run(line) {
            self.take_event(line);
        }
        self.is_settled
    }

    fn take_event(&mut self, line: &[u8]) {
        let Ok(event) = decode_line(line) else { return };
        self.seq.get_or_insert(event.seq);
        self.is_settled = bounds_a_run(&event.kind);
        if event.kind == Kind::RunCompleted || self.event.is_none() && !is_aside(&event) {
            self.event = Some(Box::new(event));
        }
    }
}

/// Tells whether a run begins or ends with this type of event.
pub(crate) fn bounds_a_run(kind: &Kind) -> bool {
    matches!(kind, Kind::RunCreated | Kind::RunStarted | Kind::RunCompleted)
}

/// Tells whether a line must be decoded to know whether a run begins or ends with it.
fn may_bound_a_run(line: &[u8]) -> bool {
    peek(line).is_none_or(|seen| bounds_a_run(&Kind::from(seen.kind)))
}

fn first_line_of(file: &File) -> io::Result<Option<Box<Event>>> {
    let mut lines = Lines::new(file.try_clone()?, 0);
    Ok(lines.next_whole()?.and_then(|line| decode_line(line.bytes).ok()).map(Box::new))
}

/// Tells whether an event changes nothing about whether its run goes on: a note, or the news that
/// torn bytes were taken from its end.
fn is_aside(event: &Event) -> bool {
    is_note(event) || event.kind == Kind::System && closes_nothing(&event.payload)
}

/// Tells whether this is what a recovery says that found torn bytes and nothing open.
fn closes_nothing(payload: &Json) -> bool {
    let Ok(System { subtype, facts }) = payload.decode() else { return false };
    let aborted = facts.get("aborted").and_then(|aborted| aborted.as_array());
    subtype == "recovered" && aborted.is_some_and(Vec::is_empty)
}

/// Returns the end of a whole file.
fn last_event_in(text: &[u8]) -> Last {
    let mut last = Last::default();
    if let Some(whole) = memchr::memrchr(b'\n', text) {
        text[..whole].rsplit(|&byte| byte == b'\n').any(|line| last.take(line));
    }
    last
}

/// Returns what the lines say that stand whole in as much of a file's end as `buffer` holds.
fn last_event_near(file: &File, bytes: u64, buffer: &mut [u8]) -> io::Result<Last> {
    let filled = file.read_at(buffer, bytes.saturating_sub(buffer.len() as u64))?;
    let tail = &buffer[..filled];
    Ok(memchr::memchr(b'\n', tail)
        .map_or_else(Last::default, |cut| last_event_in(&tail[cut + 1..])))
}

fn last_event_of(file: File) -> io::Result<Last> {
    let mut last = Last::default();
    let mut lines = LinesBackward::new(file)?;
    while let Some(line) = lines.next()? {
        if line.end == LineEnd::Feed && (last.take(line.bytes) || last.event.is_some()) {
            break;
        }
    }
    Ok(last)
}
