//! A run and the runs it calls, read on while they are written.
//!
//! It needs nothing of whoever writes but the files, so that it works alike for every program and
//! for other processes. Called runs become known by the lines that call them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use quipu_event::{Event, RunId};

use crate::layout::Layout;
use crate::reader::{Damage, DamageKind, ReadProblem, Reader};

/// The files of a run and of the runs it calls, and how far each was read.
#[derive(Debug)]
pub struct Family {
    layout: Layout,
    runs: BTreeMap<RunId, RunFile>,
}

impl Family {
    /// Makes ready to read `run`, which need not exist yet, from its first line.
    pub fn new(layout: &Layout, run: &RunId) -> Self {
        let mut family = Family { layout: layout.clone(), runs: BTreeMap::new() };
        family.know(run);
        family
    }

    /// Reads what has been written since, and returns whether there was anything.
    ///
    /// Events of one run come in their order. A line in the making is waited for; what is wrong
    /// with others is handed to `take` in its place.
    pub fn read_on(&mut self, mut take: impl FnMut(Result<&Event, ReadProblem>)) -> bool {
        let mut called = Vec::new();
        let mut anything = false;
        for file in self.runs.values_mut() {
            file.read_on(|event| {
                anything = true;
                if let Ok(event) = event {
                    called.extend(event.child_run_id.clone());
                }
                take(event);
            });
        }
        called.iter().for_each(|run| self.know(run));
        anything
    }

    fn know(&mut self, run: &RunId) {
        if !self.runs.contains_key(run) {
            let path = self.layout.transcript(run);
            self.runs.insert(run.clone(), RunFile { path, next_seq: 1, len: 0 });
        }
    }
}

/// One run's file, and how far it was read.
#[derive(Debug)]
struct RunFile {
    path: PathBuf,
    next_seq: u64,
    len: u64,
}

impl RunFile {
    fn read_on(&mut self, mut take: impl FnMut(Result<&Event, ReadProblem>)) {
        // A file that is not there yet, or no more, has nothing new in it.
        let Ok(len) = self.path.metadata().map(|file| file.len()) else { return };
        if len == self.len {
            return;
        }
        self.len = len;
        let reader = match Reader::from_seq(&self.path, self.next_seq) {
            Ok(reader) => reader,
            Err(error) => return take(Err(ReadProblem::Io(error))),
        };
        for event in reader {
            match event {
                Ok(event) if event.seq >= self.next_seq => {
                    self.next_seq = event.seq + 1;
                    take(Ok(&event));
                }
                Ok(_) => {}
                // A line in the making: its writer is about to make the file longer.
                Err(ReadProblem::Damaged {
                    damage: Damage { what: DamageKind::TornTail(_), .. },
                    ..
                }) => break,
                Err(problem) => take(Err(problem)),
            }
        }
    }
}
