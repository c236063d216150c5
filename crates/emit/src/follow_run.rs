//! Emits what is written to the file of a run, and to those of the runs that it calls.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use quipu_event::RunId;
use quipu_journal::{Family, Layout, ReadProblem};

use crate::emitter::Emitter;
use crate::follow::on_a_thread;
use crate::record;

/// How often files are looked at.
const PACE: Duration = Duration::from_millis(25);

/// A thread that emits a run from its file. Dropping this is [`FollowingRun::finish`].
#[derive(Debug)]
pub struct FollowingRun {
    /// Dropped to say that nothing more will be written.
    written: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FollowingRun {
    /// Says that nothing more will be written, and waits until all that is there is emitted.
    pub fn finish(self) {
        drop(self);
    }
}

impl Drop for FollowingRun {
    fn drop(&mut self) {
        self.written = None;
        if let Some(thread) = self.thread.take() {
            // It catches its own panics.
            let _ = thread.join();
        }
    }
}

impl Emitter {
    /// Emits what will be written to `run` and to the runs it calls, which need not exist yet.
    ///
    /// What they hold already is not emitted; what follows is numbered behind it.
    pub fn follow_run(self: &Arc<Self>, layout: &Layout, run: &RunId) -> FollowingRun {
        let emitter = Arc::clone(self);
        let mut family = Family::new(layout, run);
        while family.read_on(|event| event.map_or_else(tell, |event| emitter.pass_over(event))) {}
        let (written, more) = channel();
        let thread = on_a_thread("quipu-emit-run", move || emit_until(&emitter, family, &more));
        FollowingRun { written: Some(written), thread }
    }
}

fn emit_until(emitter: &Emitter, mut family: Family, more: &Receiver<()>) {
    loop {
        // Asked first, read then: what was written before the end is read after it.
        let ended = matches!(more.recv_timeout(PACE), Err(RecvTimeoutError::Disconnected));
        while family.read_on(|event| event.map_or_else(tell, |event| emitter.emit(event))) {}
        if ended {
            return;
        }
    }
}

fn tell(problem: ReadProblem) {
    record::error(None, problem);
}
