//! A reader that waits for more, also of a run that another process writes.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use quipu_event::Event;

use crate::error::ReadError;
use crate::reader::{ReadProblem, Reader, io_error};

/// The system tells of changes at once. This is for file systems that do not: network ones.
const SAFETY_NET: Duration = Duration::from_secs(1);

/// Iterates the events of a transcript and waits for more at its end.
///
/// Only whole lines are returned; a line in the making is waited for. A torn tail that recovery
/// cuts off under it is never seen.
pub struct Follow {
    reader: Reader,
    changes: Receiver<()>,
    _watcher: RecommendedWatcher,
}

/// What a follower found when it looked.
#[derive(Debug)]
pub enum Followed {
    /// The next event, or a damaged line.
    Event(Box<Result<Event, ReadProblem>>),
    /// Nothing within the time it had.
    Nothing,
}

impl Follow {
    /// Follows the transcript at `path` from the first event numbered `seq` or higher.
    pub fn from_seq(path: impl Into<PathBuf>, seq: u64) -> Result<Self, ReadError> {
        let path = path.into();
        // Watched before the first read, so that nothing falls in between.
        let (watcher, changes) = watch(&path)?;
        Ok(Follow { reader: Reader::from_seq(path, seq)?, changes, _watcher: watcher })
    }

    /// Waits for the next event, but no longer than `patience`.
    pub fn next_within(&mut self, patience: Duration) -> Followed {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(found) = self.reader.next_settled() {
                return Followed::Event(Box::new(found));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Followed::Nothing;
            }
            match self.changes.recv_timeout(left.min(SAFETY_NET)) {
                Ok(()) => while self.changes.try_recv().is_ok() {},
                Err(RecvTimeoutError::Timeout) => {}
                // Without a watcher the safety net is all there is.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(left.min(SAFETY_NET)),
            }
        }
    }
}

fn watch(path: &Path) -> Result<(RecommendedWatcher, Receiver<()>), ReadError> {
    let (tell, changes) = channel();
    let told = move |_: notify::Result<notify::Event>| {
        // The follower may be gone by now; then there is nobody to tell.
        let _ = tell.send(());
    };
    let failed = |error: notify::Error| io_error(path, std::io::Error::other(error));
    let mut watcher = notify::recommended_watcher(told).map_err(failed)?;
    watcher.watch(path, RecursiveMode::NonRecursive).map_err(failed)?;
    Ok((watcher, changes))
}
