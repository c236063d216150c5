//! What the first and the last lines of a transcript say, without those in between.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use quipu_event::payload::System;
use quipu_event::{Event, Json, Kind, decode_line, peek};

use crate::lines::{LineEnd, Lines, LinesBackward};
use crate::notes::is_note;

/// Files that are smaller than this are read at once: less is not worth a second call.
const WHOLE: usize = 16 * 1024;
/// How much of a larger file's head and tail is read first. Most first and last lines fit.
const NEAR: usize = 4 * 1024;
/// How much of a tail is looked at for an end that late events stand behind.
const FAR: usize = 64 * 1024;

/// Room to read heads and tails into, for one file after the other.
pub(crate) struct Room(Box<[u8]>);

impl Room {
    pub(crate) fn new() -> Self {
        Room(vec![0; FAR].into())
    }

    /// Reads up to `wanted` bytes of `file` from `offset`.
    fn fill(&mut self, file: &File, wanted: usize, offset: u64) -> io::Result<&[u8]> {
        loop {
            match file.read_at(&mut self.0[..wanted], offset) {
                Ok(filled) => return Ok(&self.0[..filled]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

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

/// Reads the ends of a transcript of `bytes` bytes, and as little else as can be.
pub(crate) fn read_ends(file: &File, bytes: u64, room: &mut Room) -> io::Result<Ends> {
    let mut bytes = bytes;
    if bytes < WHOLE as u64 {
        let text = room.fill(file, WHOLE, 0)?;
        if text.len() < WHOLE {
            let first = memchr::memchr(b'\n', text).and_then(|end| event_of(&text[..end]));
            return Ok(Ends::of(first, last_event_in(text), text.len() as u64));
        }
        // It has grown since it was opened.
        bytes = file.metadata()?.len();
    }
    let first = read_first(file, room)?;
    let mut last = last_event_near(file, bytes, NEAR, room)?;
    if !last.is_settled {
        last = last_event_near(file, bytes, FAR, room)?;
    }
    if last.event.is_none() {
        last = last_event_of(file.try_clone()?)?;
    }
    Ok(Ends::of(first, last, bytes))
}

/// Reads the first event of a transcript, if its first line is one.
pub(crate) fn read_first(file: &File, room: &mut Room) -> io::Result<Option<Box<Event>>> {
    for wanted in [NEAR, FAR] {
        let head = room.fill(file, wanted, 0)?;
        if let Some(end) = memchr::memchr(b'\n', head) {
            return Ok(event_of(&head[..end]));
        }
        if head.len() < wanted {
            return Ok(None);
        }
    }
    let mut lines = Lines::new(file.try_clone()?, 0);
    Ok(lines.next_whole()?.and_then(|line| event_of(line.bytes)))
}

fn event_of(line: &[u8]) -> Option<Box<Event>> {
    decode_line(line).ok().map(Box::new)
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

/// Returns what the lines of `text` say, the last first. One without a line feed is torn.
fn last_event_in(text: &[u8]) -> Last {
    let mut last = Last::default();
    let mut feeds = memchr::memrchr_iter(b'\n', text);
    let Some(mut end) = feeds.next() else { return last };
    for feed in feeds {
        if last.take(&text[feed + 1..end]) {
            return last;
        }
        end = feed;
    }
    last.take(&text[..end]);
    last
}

/// Returns what the lines say that stand whole in the last `wanted` bytes of a file.
fn last_event_near(file: &File, bytes: u64, wanted: usize, room: &mut Room) -> io::Result<Last> {
    let offset = bytes.saturating_sub(wanted as u64);
    let tail = room.fill(file, wanted, offset)?;
    let cut = match offset {
        0 => Some(0),
        _ => memchr::memchr(b'\n', tail).map(|feed| feed + 1),
    };
    Ok(cut.map_or_else(Last::default, |cut| last_event_in(&tail[cut..])))
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
