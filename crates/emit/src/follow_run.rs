//! Emits what is written to the file of a run, and to those of the runs that it calls.
//!
//! It needs nothing of whoever writes but the file, so that it works alike for every program and
//! for other processes. Called runs become known by the lines that call them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use quipu_event::{Event, RunId};
use quipu_journal::{Damage, DamageKind, Layout, ReadProblem, Reader};

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
        let mut files =
            Files { emitter: Arc::clone(self), layout: layout.clone(), runs: BTreeMap::new() };
        files.know(run);
        while files.read_on(Emitter::pass_over) {}
        let (written, more) = channel();
        let thread = on_a_thread("quipu-emit-run", move || files.emit_until(&more));
        FollowingRun { written: Some(written), thread }
    }
}

struct Files {
    emitter: Arc<Emitter>,
    layout: Layout,
    runs: BTreeMap<RunId, RunFile>,
}

/// One run's file, and how far it was read.
struct RunFile {
    path: PathBuf,
    next_seq: u64,
    len: u64,
}

impl Files {
    fn know(&mut self, run: &RunId) {
        if !self.runs.contains_key(run) {
            let path = self.layout.transcript(run);
            self.runs.insert(run.clone(), RunFile { path, next_seq: 1, len: 0 });
        }
    }

    fn emit_until(mut self, more: &Receiver<()>) {
        loop {
            // Asked first, read then: what was written before the end is read after it.
            let ended = matches!(more.recv_timeout(PACE), Err(RecvTimeoutError::Disconnected));
            while self.read_on(Emitter::emit) {}
            if ended {
                return;
            }
        }
    }

    /// Reads what there is, and tells whether there was anything.
    fn read_on(&mut self, take: impl Fn(&Emitter, &Event)) -> bool {
        let mut called = Vec::new();
        let mut anything = false;
        for file in self.runs.values_mut() {
            file.read_on(|event| {
                anything = true;
                take(&self.emitter, event);
                called.extend(event.child_run_id.clone());
            });
        }
        called.iter().for_each(|run| self.know(run));
        anything
    }
}

impl RunFile {
    fn read_on(&mut self, mut take: impl FnMut(&Event)) {
        // A file that is not there yet, or no more, has nothing new in it.
        let Ok(len) = self.path.metadata().map(|file| file.len()) else { return };
        if len == self.len {
            return;
        }
        let reader = match Reader::from_seq(&self.path, self.next_seq) {
            Ok(reader) => reader,
            Err(error) => return self.give_up(len, &error),
        };
        for event in reader {
            match event {
                Ok(event) if event.seq >= self.next_seq => {
                    self.next_seq = event.seq + 1;
                    take(&event);
                }
                Ok(_) => {}
                // A line in the making: its writer is about to make the file longer.
                Err(ReadProblem::Damaged {
                    damage: Damage { what: DamageKind::TornTail(_), .. },
                    ..
                }) => break,
                Err(problem) => record::error(None, problem),
            }
        }
        self.len = len;
    }

    fn give_up(&mut self, len: u64, error: &quipu_journal::ReadError) {
        record::error(None, error);
        self.len = len;
    }
}
