//! Which runs there are, by looking at the heads and tails of their files.
//!
//! There is no index: the directory is the list, and a file's first and last lines say what a
//! list needs to know.

use std::cmp::Reverse;
use std::fs::File;
use std::io;
use std::num::NonZero;
use std::os::unix::fs::DirEntryExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_event::{Event, Kind, RunId, Timestamp};

use crate::ends::{Ends, Room, bounds_a_run, read_ends, read_first};
use crate::error::ReadError;
use crate::layout::Layout;
use crate::lock::{Holder, writer_of_opened};
use crate::open::open_in;
use crate::reader::io_error;

/// How many runs a thread looks at before it comes back for more.
const SHARE: usize = 256;

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
    pub first: Option<Box<Event>>,
    /// The event that ended it, or, if it has no end, the last line that is an event, notes of
    /// others and repairs aside.
    pub last: Option<Box<Event>>,
    /// The number of the last line that is an event, notes included.
    pub last_seq: Option<u64>,
    /// Whether it is still going.
    pub state: RunState,
}

/// Whether a run is still going.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It ended: there is a `run.completed` with no `run.started` behind it. Late events may follow,
    /// up to 64 KiB of them. A run whose writer marks neither has ended with its last step.
    Ended,
    /// Somebody writes it now.
    Live(Holder),
    /// Nobody writes it and it has no end: its recorder died.
    Interrupted,
}

/// All runs, as far as they can be read.
#[derive(Debug)]
pub struct Listed<R> {
    /// What was made of each run.
    pub runs: Vec<R>,
    /// The transcripts that could not be read, and why.
    pub unreadable: Vec<ReadError>,
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
        let entry = entry.map_err(|source| io_error(&dir, source))?;
        let id = entry.file_name().to_str().and_then(Layout::run_of);
        ids.extend(id.map(|id| (entry.ino(), id)));
    }
    // Whoever goes through them in this order meets files that were made one after the other, which
    // lie beside each other on most disks and in the system's memory. A directory's own order is
    // that of hashed names.
    ids.sort_unstable_by_key(|(inode, _)| *inode);
    Ok(ids.into_iter().map(|(_, id)| id).collect())
}

/// Lists all runs, the one that started last first. Runs without a first event come last.
///
/// Reads only heads and tails, with as many threads as there are cores. A file that vanishes
/// meanwhile is left out, as is one that cannot be read: [`map_runs_unordered`] tells of those.
pub fn list_runs(layout: &Layout) -> Result<Vec<RunListing>, ReadError> {
    let mut runs = map_runs_unordered(layout, |run| run)?.runs;
    runs.sort_by_cached_key(|run| {
        let started = run.first.as_ref().map(|first| first.timestamp);
        (Reverse(started), run.run_id.clone())
    });
    Ok(runs)
}

/// Looks at all runs as [`list_runs`] does and returns what `keep` makes of each, in no particular
/// order.
///
/// `keep` is called by several threads. What it does not keep is freed at once, so that a list of
/// very many runs need not hold all their events.
pub fn map_runs_unordered<R: Send>(
    layout: &Layout,
    keep: impl Fn(RunListing) -> R + Sync,
) -> Result<Listed<R>, ReadError> {
    for_each_transcript(layout, |transcript, room| transcript.look(room).map(&keep))
}

/// When a run began, and whether another run called it: what its head says, and no tail is read for.
pub(crate) struct Beginning {
    pub(crate) run_id: RunId,
    pub(crate) started: Option<Timestamp>,
    pub(crate) is_called: bool,
}

/// Returns the beginnings of all runs, in no particular order. What cannot be read is left out.
pub(crate) fn beginnings_unordered(layout: &Layout) -> Result<Vec<Beginning>, ReadError> {
    let listed = for_each_transcript(layout, |transcript, room| {
        let (file, _) = transcript.open()?;
        let first = read_first(&file, room).map_err(|source| transcript.failed(source))?;
        Ok(Beginning {
            run_id: transcript.run.clone(),
            started: first.as_ref().map(|first| first.timestamp),
            is_called: first.is_some_and(|first| first.parent_run_id.is_some()),
        })
    })?;
    Ok(listed.runs)
}

/// Does `look` to every transcript there is, with as many threads as there are cores.
fn for_each_transcript<R: Send>(
    layout: &Layout,
    look: impl Fn(Transcript<'_>, &mut Room) -> Result<R, ReadError> + Sync,
) -> Result<Listed<R>, ReadError> {
    let ids = run_ids_unordered(layout)?;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(ids.len().div_ceil(SHARE));
    let next = AtomicUsize::new(0);
    let work = |dir: File| {
        let mut room = Room::new();
        let mut listed = Listed { runs: Vec::new(), unreadable: Vec::new() };
        while let Some(ids) = ids.chunks(SHARE).nth(next.fetch_add(1, Ordering::Relaxed)) {
            for run in ids {
                match look(Transcript { layout, dir: &dir, run }, &mut room) {
                    Ok(run) => listed.runs.push(run),
                    Err(error) if is_gone(&error) => {}
                    Err(error) => listed.unreadable.push(error),
                }
            }
        }
        listed
    };
    // Threads that open files by one and the same handle wait for each other to count its uses.
    let mut dirs = (0..threads).map(|_| open_dir(layout)).collect::<Result<Vec<_>, _>>()?;
    let Some(own) = dirs.pop() else {
        return Ok(Listed { runs: Vec::new(), unreadable: Vec::new() });
    };
    Ok(std::thread::scope(|scope| {
        let others: Vec<_> = dirs.into_iter().map(|dir| scope.spawn(|| work(dir))).collect();
        let mut all = work(own);
        for other in others {
            let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all.runs.extend(other.runs);
            all.unreadable.extend(other.unreadable);
        }
        all.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
        all
    }))
}

/// Tells whether a transcript vanished: a link to what is not there is still there itself.
fn is_gone(error: &ReadError) -> bool {
    error.source.kind() == io::ErrorKind::NotFound && error.path.symlink_metadata().is_err()
}

/// Looks at one run's head and tail.
pub fn look_at(layout: &Layout, run: &RunId) -> Result<RunListing, ReadError> {
    Transcript { layout, dir: &open_dir(layout)?, run }.look(&mut Room::new())
}

/// Opens the directory of all transcripts. Files are opened by name in it: the way there is walked once.
fn open_dir(layout: &Layout) -> Result<File, ReadError> {
    let dir = layout.transcripts();
    File::open(&dir).map_err(|source| io_error(&dir, source))
}

/// A file that is to be looked at.
#[derive(Clone, Copy)]
struct Transcript<'a> {
    layout: &'a Layout,
    dir: &'a File,
    run: &'a RunId,
}

impl Transcript<'_> {
    fn open(self) -> Result<(File, u64), ReadError> {
        open_in(self.dir, &Layout::transcript_name(self.run)).map_err(|source| self.failed(source))
    }

    fn failed(self, source: io::Error) -> ReadError {
        io_error(&self.layout.transcript(self.run), source)
    }

    fn look(self, room: &mut Room) -> Result<RunListing, ReadError> {
        let (file, bytes) = self.open()?;
        let (ends, state) =
            look_at_opened(&file, bytes, room).map_err(|source| self.failed(source))?;
        let Ends { mut first, mut last, last_seq, bytes } = ends;
        for event in [&mut first, &mut last].into_iter().flatten() {
            // One id in memory serves all that have it: a list holds three for each run.
            if event.run_id == *self.run {
                event.run_id = self.run.clone();
            }
        }
        let (run_id, path) = (self.run.clone(), self.layout.transcript(self.run));
        Ok(RunListing { run_id, path, bytes, first, last, last_seq, state })
    }
}

fn look_at_opened(file: &File, bytes: u64, room: &mut Room) -> io::Result<(Ends, RunState)> {
    let ends = read_ends(file, bytes, room)?;
    if has_ended(&ends) {
        return Ok((ends, RunState::Ended));
    }
    if let Some(holder) = writer_of_opened(file)? {
        return Ok((ends, RunState::Live(holder)));
    }
    // Who wrote it may have ended it and gone since the ends were read.
    let now = file.metadata()?.len();
    let ends = if now == ends.bytes { ends } else { read_ends(file, now, room)? };
    let is_over =
        has_ended(&ends) || is_closed_unmarked(ends.first.as_deref(), ends.last.as_deref());
    Ok((ends, if is_over { RunState::Ended } else { RunState::Interrupted }))
}

fn has_ended(ends: &Ends) -> bool {
    ends.last.as_ref().is_some_and(|last| last.kind == Kind::RunCompleted)
}

/// Tells whether a run whose writer marks neither its beginning nor its end, as AWF does, has nothing
/// open: it ends with the end of a step that is inside no other.
fn is_closed_unmarked(first: Option<&Event>, last: Option<&Event>) -> bool {
    let (Some(first), Some(last)) = (first, last) else { return false };
    let is_outermost = !last.path.as_str().contains(['/', '.', '[']);
    let is_end = matches!(last.kind, Kind::StepCompleted | Kind::CallWorkflowCompleted);
    !bounds_a_run(&first.kind) && is_end && is_outermost
}
