//! When written lines are forced onto the disk.

use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// When written lines are forced onto the disk, and so what a recorded line survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Never: the system writes when it likes. A recorded line survives the death of this process
    /// by any cause, kill -9 included; the last seconds may be lost when the machine loses power
    /// or its kernel dies.
    #[default]
    Never,
    /// At least this often while there is something new, from a thread beside the producers.
    /// After a power failure at most this much time is missing, and producers never wait.
    Interval(Duration),
    /// Before each `record` returns: a recorded line survives a power failure. Producers that
    /// come at the same time share one sync, so many of them cost little more than one.
    Always,
}

/// The thread that syncs every so often, and what it has to say.
pub(crate) struct Syncer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    dirty: bool,
    stop: bool,
    failure: Option<io::Error>,
}

impl Syncer {
    /// Starts syncing `file` every `interval` for as long as there is something new.
    pub(crate) fn start(file: File, interval: Duration) -> io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("quipu-sync".to_owned())
            .spawn(move || of_thread.run(&file, interval))?;
        Ok(Syncer { shared, thread: Some(thread) })
    }

    /// Says that there is something new. Returns what went wrong last time, if anything did.
    pub(crate) fn mark_dirty(&self) -> Option<io::Error> {
        let mut state = self.shared.lock();
        if !state.dirty {
            state.dirty = true;
            self.shared.changed.notify_one();
        }
        state.failure.take()
    }

    /// Ends the thread and returns what went wrong last, if nobody was told yet.
    ///
    /// What it had still to sync is the caller's to sync. A failure is the caller's to report: the
    /// system tells of lost pages once, and a later sync would find nothing wrong.
    pub(crate) fn stop(mut self) -> Option<io::Error> {
        self.shared.lock().stop = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread runs no code that panics; there is nothing to learn from its result.
            let _ = thread.join();
        }
        self.shared.lock().failure.take()
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, file: &File, interval: Duration) {
        let mut state = self.lock();
        while !state.stop {
            if !state.dirty {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (waited, _) = self
                .changed
                .wait_timeout_while(state, interval, |state| !state.stop)
                .unwrap_or_else(PoisonError::into_inner);
            state = waited;
            state.dirty = false;
            drop(state);
            let outcome = file.sync_data();
            state = self.lock();
            // A later success does not bring back what an earlier failure lost.
            state.failure = state.failure.take().or(outcome.err());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that can be written but not synced.
    fn unsyncable() -> (io::PipeReader, File) {
        let (reader, writer) = io::pipe().unwrap();
        (reader, std::os::fd::OwnedFd::from(writer).into())
    }

    #[test]
    fn what_a_sync_beside_the_producers_lost_is_told_to_the_next_of_them() {
        let (_reader, file) = unsyncable();
        let syncer = Syncer::start(file, Duration::ZERO).unwrap();
        let failure = std::iter::repeat_with(|| syncer.mark_dirty()).flatten().next().unwrap();
        assert_eq!(failure.kind(), io::ErrorKind::InvalidInput);
        syncer.stop();
    }

    #[test]
    fn what_the_last_sync_lost_is_told_at_the_end() {
        let (_reader, file) = unsyncable();
        let syncer = Syncer::start(file, Duration::ZERO).unwrap();
        assert!(syncer.mark_dirty().is_none());
        while syncer.shared.lock().failure.is_none() {
            std::thread::yield_now();
        }
        assert!(syncer.stop().is_some());
    }

    #[test]
    fn a_syncer_with_nothing_to_do_ends_at_once() {
        let file = tempfile::tempfile().unwrap();
        let syncer = Syncer::start(file, Duration::from_secs(3600)).unwrap();
        assert!(syncer.stop().is_none());
    }
}
