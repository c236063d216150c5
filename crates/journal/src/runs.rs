//! Which runs there are, by looking at the heads and tails of their files.
//!
//! There is no index: the directory is the list, and a file's first and last lines say what a
//! list needs to know.

use std::fs::File;
use std::io;
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use quipu_event::{Event, Kind, RunId, decode_line};

use crate::error::ReadError;
use crate::layout::Layout;
use crate::lines::{LineEnd, Lines, LinesBackward};
use crate::lock::{Holder, writer_of};
use crate::reader::io_error;

/// How much of a file's head is read at once. Most runs' first line fits many times over, and a
/// small run fits whole.
const HEAD: usize = 8 * 1024;

/// A run as a list shows it.
#[derive(Clone, Debug)]
pub struct RunListing {
    /// The run.
    pub run_id: RunId,
    /// Its transcript.
    pub path: PathBuf,
    /// How large the transcript is.
    pub bytes: u64,
    /// Its first event, if the first line is one.
    pub first: Option<Event>,
    /// The last line that is an event.
    pub last: Option<Event>,
    /// Whether it is still going.
    pub state: RunState,
}

/// Whether a run is still going.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It ended: its last event is `run.completed`.
    Ended,
    /// Somebody writes it now.
    Live(Holder),
    /// Nobody writes it and it has no end: its recorder died.
    Interrupted,
}

/// Returns the ids of all runs, in no particular order.
pub fn run_ids_unordered(layout: &Layout) -> Result<Vec<RunId>, ReadError> {
    let dir = layout.transcripts();
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(io_error(&dir, source)),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let name = entry.map_err(|source| io_error(&dir, source))?.file_name();
        ids.extend(name.to_str().and_then(Layout::run_of));
    }
    Ok(ids)
}

/// Lists all runs, the one that started last first. Runs without a first event come last.
///
/// Reads only heads and tails, with as many threads as there are cores. A file that vanishes
/// meanwhile is left out.
pub fn list_runs(layout: &Layout) -> Result<Vec<RunListing>, ReadError> {
    let ids = run_ids_unordered(layout)?;
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = ids.len().div_ceil(threads).max(1);
    let mut runs: Vec<RunListing> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            ids.chunks(share).map(|ids| scope.spawn(|| look_at_all(layout, ids))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    runs.sort_by(|a, b| {
        let started = |run: &RunListing| run.first.as_ref().map(|first| first.timestamp);
        started(b).cmp(&started(a)).then_with(|| a.run_id.cmp(&b.run_id))
    });
    Ok(runs)
}

fn look_at_all(layout: &Layout, ids: &[RunId]) -> Vec<RunListing> {
    ids.iter().filter_map(|id| look_at(layout, id).ok()).collect()
}

/// Looks at one run's head and tail.
pub fn look_at(layout: &Layout, run: &RunId) -> Result<RunListing, ReadError> {
    let path = layout.transcript(run);
    let ends = read_ends(&path).map_err(|source| io_error(&path, source))?;
    let ended = matches!(&ends.last, Some(last) if last.kind == Kind::RunCompleted);
    let state = if ended {
        RunState::Ended
    } else {
        match writer_of(&path).map_err(|source| io_error(&path, source))? {
            Some(holder) => RunState::Live(holder),
            None => RunState::Interrupted,
        }
    };
    let Ends { first, last, bytes } = ends;
    Ok(RunListing { run_id: run.clone(), path, bytes, first, last, state })
}

struct Ends {
    first: Option<Event>,
    last: Option<Event>,
    bytes: u64,
}

fn read_ends(path: &Path) -> io::Result<Ends> {
    let file = File::open(path)?;
    let mut head = [0; HEAD];
    let filled = file.read_at(&mut head, 0)?;
    let head = &head[..filled];
    let first_line = match memchr::memchr(b'\n', head) {
        Some(end) => decode_line(&head[..end]).ok(),
        None if filled < HEAD => None,
        None => first_line_of(&file)?,
    };
    if filled < HEAD {
        return Ok(Ends { first: first_line, last: last_event_in(head), bytes: filled as u64 });
    }
    let bytes = file.metadata()?.len();
    Ok(Ends { first: first_line, last: last_event_of(file)?, bytes })
}

fn first_line_of(file: &File) -> io::Result<Option<Event>> {
    let mut lines = Lines::new(file.try_clone()?, 0);
    Ok(lines.next_whole()?.and_then(|line| decode_line(line.bytes).ok()))
}

fn last_event_in(text: &[u8]) -> Option<Event> {
    let whole = memchr::memrchr(b'\n', text)?;
    text[..whole].rsplit(|&byte| byte == b'\n').find_map(|line| decode_line(line).ok())
}

fn last_event_of(file: File) -> io::Result<Option<Event>> {
    let mut lines = LinesBackward::new(file)?;
    while let Some(line) = lines.next()? {
        if line.end == LineEnd::Feed
            && let Ok(event) = decode_line(line.bytes)
        {
            return Ok(Some(event));
        }
    }
    Ok(None)
}
