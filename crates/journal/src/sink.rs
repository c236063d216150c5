//! What happens behind the one door: number, date, write, publish.
//!
//! Lines come here encoded but for their number and time; see [`crate::recorder`].

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use quipu_event::{LineForm, Timestamp};

use crate::append::{Append, append_all};
use crate::clock::Clock;
use crate::combine::Sink;
use crate::durability::{Durability, Syncer};
use crate::error::RecordError;
use crate::fanout::Fanout;
use crate::page::LinePlace;
use crate::recorder::Stats;

/// Lines are gathered up to this many bytes before they are written together.
const BATCH_BYTES: usize = 1024 * 1024;
/// A buffer that one giant line has blown up beyond this is not kept.
pub(crate) const BUFFER_KEPT: usize = 4 * 1024 * 1024;

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
    buffer: String,
    /// Where each line in the buffer ends.
    ends: Vec<usize>,
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
            buffer: String::new(),
            ends: Vec::new(),
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

    /// Returns why nothing can be recorded, if nothing can.
    fn refusal(&self) -> Option<RecordError> {
        if let Some(reason) = &self.poisoned {
            let (path, reason) = (self.path.clone(), reason.clone());
            return Some(RecordError::Poisoned { path, reason });
        }
        self.file.is_none().then(|| self.closed())
    }

    /// Numbers and dates as many lines as fit into one write. What is written together has one time.
    fn fill_in<'a>(&mut self, forms: &mut impl Iterator<Item = &'a LineForm>) {
        self.buffer.clear();
        self.ends.clear();
        let (mut seq, now) = (self.last_seq, self.clock.now());
        while self.buffer.len() < BATCH_BYTES
            && let Some(form) = forms.next()
        {
            seq += 1;
            form.fill(seq, now, &mut self.buffer);
            self.ends.push(self.buffer.len());
        }
    }

    /// Writes what is filled in and syncs it if every line is to be synced.
    ///
    /// Returns how many bytes count as recorded and, if that is not all of them, why.
    fn write(&mut self) -> (usize, Option<RecordError>) {
        let Some(file) = &mut self.file else { return (0, None) };
        let (written, failure) = append_all(file.as_mut(), self.buffer.as_bytes());
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

    /// Publishes what was recorded, then tells each producer what became of its line.
    fn settle(
        &mut self,
        recorded: usize,
        mut failure: Option<RecordError>,
        done: &mut impl FnMut(Result<u64, RecordError>),
    ) {
        let whole = self.ends.iter().take_while(|end| **end <= recorded).count();
        let before = self.last_seq;
        self.last_seq += whole as u64;
        let mut offset = self.end;
        self.end += recorded as u64;
        if !self.fanout.is_idle() {
            let mut start = 0;
            for (end, seq) in self.ends[..whole].iter().zip(before + 1..) {
                let len = (end - start) as u64;
                self.fanout.publish(LinePlace { seq, offset, len });
                (start, offset) = (*end, offset + len);
            }
        }
        for seq in before + 1..=self.last_seq {
            done(Ok(seq));
        }
        for _ in whole..self.ends.len() {
            let refusal = failure.take().or_else(|| self.refusal());
            done(Err(refusal.unwrap_or_else(|| self.closed())));
        }
        if self.buffer.capacity() > BUFFER_KEPT {
            self.buffer = String::new();
        }
    }

    fn closed(&self) -> RecordError {
        RecordError::Closed { path: self.path.clone() }
    }
}

impl Sink for DiskSink {
    type Job = LineForm;
    type Outcome = Result<u64, RecordError>;

    fn process<'a>(
        &mut self,
        forms: impl Iterator<Item = &'a LineForm>,
        mut done: impl FnMut(Result<u64, RecordError>),
    ) {
        let mut forms = forms.peekable();
        while forms.peek().is_some() {
            if let Some(refusal) = self.refusal() {
                done(Err(refusal));
                forms.next();
                continue;
            }
            self.fill_in(&mut forms);
            let (recorded, failure) = self.write();
            self.settle(recorded, failure, &mut done);
        }
    }
}

#[cfg(test)]
mod tests;
