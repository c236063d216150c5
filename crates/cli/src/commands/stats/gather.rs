//! The numbers of runs, gathered in one pass over each file in flat memory.
//!
//! A line whose payload no table needs is counted by a look at its type and never decoded.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_event::{Kind, RunId, decode_line, peek};
use quipu_journal::{Layout, Line, LineEnd, Lines, ReadError};
use quipu_view::Summary;

use super::By;
use crate::format::damage::{DamageCount, is_being_written};

/// What was gathered.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) runs: u64,
    pub(super) bytes: u64,
    /// Events by type, of all lines.
    pub(super) types: BTreeMap<String, u64>,
    /// The numbers of those events that the tables need.
    pub(super) summary: Summary,
    pub(super) damage: DamageCount,
    /// The transcripts that could not be read, and why.
    pub(super) unreadable: Vec<ReadError>,
}

/// Gathers what the tables `by` need, or everything if there are none.
///
/// Several runs are read at the same time, one by each core. One that cannot be read is left out
/// and noted.
pub(super) fn gather(layout: &Layout, runs: &[RunId], by: &[By]) -> Gathered {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut gathered = Gathered::default();
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            match gather_run(&layout.transcript(run), by) {
                Ok(mut found) => {
                    // A run goes by the name of its file, whatever other writers write in its lines.
                    found.summary.run_id = found.summary.run_id.and(Some(run.clone()));
                    gathered.merge(found);
                }
                Err(error) => gathered.unreadable.push(error),
            }
        }
        gathered
    };
    let mut total = Gathered::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads.min(runs.len())).map(|_| scope.spawn(work)).collect();
        total.merge(work());
        for worker in workers {
            total.merge(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
    });
    total.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
    total
}

impl Gathered {
    fn merge(&mut self, other: Gathered) {
        self.runs += other.runs;
        self.bytes += other.bytes;
        for (kind, count) in other.types {
            *self.types.entry(kind).or_default() += count;
        }
        self.summary.merge(&other.summary);
        self.damage.merge(other.damage);
        self.unreadable.extend(other.unreadable);
    }

    fn take(&mut self, line: &Line<'_>, by: &[By]) {
        if line.end == LineEnd::Feed {
            if let Some(seen) = peek(line.bytes)
                && !is_needed(seen.kind, by)
            {
                return self.count(seen.kind);
            }
            if let Ok(event) = decode_line(line.bytes) {
                self.count(event.kind.as_str());
                if is_needed(event.kind.as_str(), by) {
                    self.summary.add(&event);
                }
                return;
            }
        }
        self.damage.add(1);
    }

    fn count(&mut self, kind: &str) {
        match self.types.get_mut(kind) {
            Some(count) => *count += 1,
            None => drop(self.types.insert(kind.to_owned(), 1)),
        }
    }
}

fn gather_run(path: &Path, by: &[By]) -> Result<Gathered, ReadError> {
    let failed = |source: io::Error| ReadError { path: path.to_owned(), source };
    let mut lines = Lines::open(path, 0).map_err(failed)?;
    let mut gathered = Gathered { runs: 1, ..Gathered::default() };
    while let Some(line) = lines.next().map_err(failed)? {
        // The last line of a run that goes on may be in the making.
        if line.end == LineEnd::Feed || !is_being_written(path) {
            gathered.take(&line, by);
        }
    }
    gathered.bytes = lines.offset();
    Ok(gathered)
}

/// Tells whether a table needs the payloads of `kind`.
fn is_needed(kind: &str, by: &[By]) -> bool {
    by.is_empty()
        || by.iter().any(|by| match by {
            By::Type => false,
            By::Tool => kind.starts_with("tool."),
            By::Step => kind.starts_with("step."),
            By::Model => kind == Kind::Usage.as_str(),
        })
}
