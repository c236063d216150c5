//! What happens behind the one door: write and publish.
//!
//! Lines come here as they are to stand in the file; see [`crate::batch`] for those of many producers.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use quipu_event::{LineForm, Timestamp};

use crate::append::{Append, append_all};
use crate::batch::Batch;
use crate::clock::Clock;
use crate::combine::Sink;
use crate::durability::{Durability, Syncer};
use crate::error::RecordError;
use crate::fanout::Fanout;
use crate::page::LinePlace;
use crate::recorder::Stats;

/// The file, the count and the subscribers of one run.
pub(crate) struct DiskSink {
    file: Option<Box<dyn Append>>,
    path: PathBuf,
    last_seq: u64,
    /// How long the file is.
    end: u64,
    bytes: u64,
    clock: Arc<dyn Clock>,
    durability: Durability,
    syncer: Option<Syncer>,
    poisoned: Option<String>,
    /// What went wrong, until its producer has asked.
    failure: Option<RecordError>,
    /// Where lines are put that are written together, and where each of them ends; empty in between.
    together: (Vec<u8>, Vec<usize>),
    pub(crate) fanout: Fanout,
}

/// Where a run goes on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Position {
    /// The number of its last event, 0 before the first.
    pub(crate) last_seq: u64,
    /// How long its file is.
    pub(crate) end: u64,
}

impl DiskSink {
    pub(crate) fn new(
        file: Box<dyn Append>,
        path: PathBuf,
        position: Position,
        clock: Arc<dyn Clock>,
        durability: Durability,
        syncer: Option<Syncer>,
    ) -> Self {
        DiskSink {
            file: Some(file),
            path,
            last_seq: position.last_seq,
            end: position.end,
            bytes: 0,
            clock,
            durability,
            syncer,
            poisoned: None,
            failure: None,
            together: Default::default(),
            fanout: Fanout::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    pub(crate) fn stats(&self) -> Stats {
        let (subscribers, dropped) = self.fanout.stats();
        Stats {
            last_seq: self.last_seq,
            bytes: self.bytes,
            masked: 0,
            dropped,
            subscribers,
            poisoned: self.poisoned.clone(),
        }
    }

    pub(crate) fn close(&mut self) -> Result<(), RecordError> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        let unsynced = self.syncer.take().and_then(Syncer::stop);
        self.fanout.close();
        if let Some(failure) = unsynced {
            return Err(self.poison(failure));
        }
        if self.durability != Durability::Never && self.poisoned.is_none() {
            file.sync().map_err(|error| self.poison(error))?;
        }
        Ok(())
    }

    /// Stops numbering for good.
    fn poison(&mut self, source: io::Error) -> RecordError {
        tracing::error!(path = %self.path.display(), error = %source, "recording stopped");
        self.poisoned = Some(source.to_string());
        RecordError::Write { path: self.path.clone(), source }
    }

    /// Says why nothing can be recorded any more.
    fn refusal(&self) -> RecordError {
        let path = self.path.clone();
        match &self.poisoned {
            Some(reason) => RecordError::Poisoned { path, reason: reason.clone() },
            None => RecordError::Closed { path },
        }
    }

    /// Writes whole lines and syncs them if every line is to be synced.
    ///
    /// Returns how many bytes count as recorded and, if that is not all of them, why.
    fn write(&mut self, lines: &[u8]) -> (usize, Option<RecordError>) {
        let Some(file) = &mut self.file else { return (0, None) };
        let (written, failure) = append_all(file.as_mut(), lines);
        self.bytes += written as u64;
        if let Some(failure) = failure {
            // Whole lines before the failure count only if they reach the disk as promised.
            let kept = self.durability != Durability::Always || file.sync().is_ok();
            return (if kept { written } else { 0 }, Some(self.poison(failure)));
        }
        if self.durability == Durability::Always
            && let Err(failure) = file.sync()
        {
            return (0, Some(self.poison(failure)));
        }
        if let Some(failure) = self.syncer.as_ref().and_then(Syncer::mark_dirty) {
            // These lines are written; it is what comes after them that cannot be trusted.
            self.poison(failure);
        }
        (written, None)
    }

    /// Writes lines that are numbered as they are to stand, and publishes what was recorded of them.
    fn record(&mut self, lines: &[u8], ends: &[usize]) {
        if !self.is_sound() {
            return;
        }
        let (recorded, failure) = self.write(lines);
        let whole = ends.iter().take_while(|end| **end <= recorded).count();
        self.publish(&ends[..whole]);
        self.last_seq += whole as u64;
        self.end += recorded as u64;
        self.failure = failure;
    }

    /// Tells subscribers where the lines stand that end at `ends`.
    fn publish(&mut self, ends: &[usize]) {
        if self.fanout.is_idle() {
            return;
        }
        let mut start = 0;
        for (end, seq) in ends.iter().zip(self.last_seq + 1..) {
            let (offset, len) = (self.end + start as u64, (end - start) as u64);
            self.fanout.publish(LinePlace { seq, offset, len });
            start = *end;
        }
    }
}

impl Sink for DiskSink {
    type Load = Batch;
    type Outcome = Result<u64, RecordError>;

    fn empty_load(&self) -> Batch {
        Batch::default()
    }

    fn next_number(&self) -> u64 {
        self.last_seq + 1
    }

    fn carry(&mut self, first: u64, batch: &mut Batch, own: Option<&mut LineForm>) {
        let (mut lines, mut ends) = std::mem::take(&mut self.together);
        let now = self.clock.now();
        batch.fill_to(first, now, &mut lines, &mut ends);
        if let Some(form) = own {
            lines.extend_from_slice(form.fill(first + ends.len() as u64, now));
            ends.push(lines.len());
        }
        self.record(&lines, &ends);
        lines.clear();
        ends.clear();
        self.together = (lines, ends);
    }

    /// Need not be gathered with others: it is written from where it was made.
    fn carry_alone(&mut self, number: u64, form: &mut LineForm) {
        let line = form.fill(number, self.clock.now());
        self.record(line, &[line.len()]);
    }

    fn is_sound(&self) -> bool {
        self.poisoned.is_none() && self.file.is_some()
    }

    fn done(number: u64) -> Result<u64, RecordError> {
        Ok(number)
    }

    fn outcome(&mut self, number: u64) -> Result<u64, RecordError> {
        if number <= self.last_seq {
            return Ok(number);
        }
        // What went wrong is told once, to the producer of the first line that it hit.
        let is_first = number == self.last_seq + 1;
        let failure = if is_first { self.failure.take() } else { None };
        Err(failure.unwrap_or_else(|| self.refusal()))
    }
}

#[cfg(test)]
mod tests;
