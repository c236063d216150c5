//! Emits what a recorder of this process writes, on a thread of its own.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use quipu_journal::Replay;

use crate::emitter::Emitter;
use crate::record;

/// A thread that emits a run until its recorder is closed.
///
/// Letting go of this does not end it.
#[derive(Debug)]
pub struct Following {
    thread: Option<JoinHandle<()>>,
}

impl Following {
    /// Waits until the recorder is closed and everything it wrote is emitted.
    pub fn wait(self) {
        if let Some(thread) = self.thread {
            // It catches its own panics.
            let _ = thread.join();
        }
    }
}

impl Emitter {
    /// Emits everything that comes out of `events`, such as `recorder.subscribe_from(1)`, to the
    /// subscriber that is the current one now.
    ///
    /// The recorder never waits for it: what passes by is read back from disk.
    pub fn follow(self: &Arc<Self>, events: Replay) -> Following {
        let emitter = Arc::clone(self);
        let thread = on_a_thread("quipu-emit", move || {
            events.for_each(|event| emitter.emit(&event));
        });
        Following { thread }
    }
}

/// Does `work` on a thread with the same subscriber as this one, if there can be one.
pub(crate) fn on_a_thread(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> Option<JoinHandle<()>> {
    let subscriber = tracing::dispatcher::get_default(Clone::clone);
    let work = move || tracing::dispatcher::with_default(&subscriber, work);
    match Builder::new().name(name.to_owned()).spawn(work) {
        Ok(thread) => Some(thread),
        Err(error) => {
            record::error(None, format_args!("cannot start a thread to emit from: {error}"));
            None
        }
    }
}
