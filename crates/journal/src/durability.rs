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

    /// Ends the thread; what it had still to sync is the caller's to sync.
    pub(crate) fn stop(mut self) {
        self.shared.lock().stop = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread runs no code that panics; there is nothing to learn from its result.
            let _ = thread.join();
        }
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
            state.failure = outcome.err();
        }
    }
}
