//! Which runs there are, by looking at the heads and tails of their files.
//!
//! There is no index: the directory is the list, and a file's first and last lines say what a
//! list needs to know.

use std::fs::File;
use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_event::{Event, Kind, RunId};

use crate::ends::{Ends, bounds_a_run, read_ends};
use crate::error::ReadError;
use crate::layout::Layout;
use crate::lock::{Holder, writer_of};
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
        let name = entry.map_err(|source| io_error(&dir, source))?.file_name();
        ids.extend(name.to_str().and_then(Layout::run_of));
    }
    Ok(ids)
}

/// Lists all runs, the one that started last first. Runs without a first event come last.
///
/// Reads only heads and tails, with as many threads as there are cores. A file that vanishes
/// meanwhile is left out, as is one that cannot be read: [`map_runs_unordered`] tells of those.
pub fn list_runs(layout: &Layout) -> Result<Vec<RunListing>, ReadError> {
    let mut runs = map_runs_unordered(layout, |run| run)?.runs;
    runs.sort_by(|a, b| {
        let started = |run: &RunListing| run.first.as_ref().map(|first| first.timestamp);
        started(b).cmp(&started(a)).then_with(|| a.run_id.cmp(&b.run_id))
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
    let ids = run_ids_unordered(layout)?;
    if ids.is_empty() {
        return Ok(Listed { runs: Vec::new(), unreadable: Vec::new() });
    }
    let dir = layout.transcripts();
    // Files are opened by name in the open directory: the way there is walked once.
    let handle = File::open(&dir).map_err(|source| io_error(&dir, source))?;
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
        while let Some(ids) = ids.chunks(SHARE).nth(next.fetch_add(1, Ordering::Relaxed)) {
            for id in ids {
                match look_in(layout, &handle, id) {
                    Ok(run) => runs.push(keep(run)),
                    Err(error) if is_gone(&error) => {}
                    Err(error) => unreadable.push(error),
                }
            }
        }
        Listed { runs, unreadable }
    };
    Ok(std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
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
    let dir = layout.transcripts();
    let handle = File::open(&dir).map_err(|source| io_error(&dir, source))?;
    look_in(layout, &handle, run)
}

fn look_in(layout: &Layout, dir: &File, run: &RunId) -> Result<RunListing, ReadError> {
    let path = layout.transcript(run);
    let failed = |source: io::Error| io_error(&path, source);
    let name = path.file_name().unwrap_or_default();
    let Ends { first, last, last_seq, bytes } =
        open_in(dir, name).and_then(read_ends).map_err(failed)?;
    let state = if last.as_ref().is_some_and(|last| last.kind == Kind::RunCompleted) {
        RunState::Ended
    } else {
        match writer_of(&path).map_err(failed)? {
            Some(holder) => RunState::Live(holder),
            None if is_closed_unmarked(first.as_deref(), last.as_deref()) => RunState::Ended,
            None => RunState::Interrupted,
        }
    };
    Ok(RunListing { run_id: run.clone(), path, bytes, first, last, last_seq, state })
}

/// Tells whether a run whose writer marks neither its beginning nor its end, as AWF does, has nothing
/// open: it ends with the end of a step that is inside no other.
fn is_closed_unmarked(first: Option<&Event>, last: Option<&Event>) -> bool {
    let (Some(first), Some(last)) = (first, last) else { return false };
    let is_outermost = !last.path.as_str().contains(['/', '.', '[']);
    let is_end = matches!(last.kind, Kind::StepCompleted | Kind::CallWorkflowCompleted);
    !bounds_a_run(&first.kind) && is_end && is_outermost
}
