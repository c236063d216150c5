//! What happens behind the one door: number, date, encode, write, publish.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use quipu_event::{Draft, Event, RunIdentity, Timestamp, encode_line};

use crate::append::{Append, append_all};
use crate::clock::Clock;
use crate::combine::Sink;
use crate::durability::{Durability, Syncer};
use crate::error::RecordError;
use crate::fanout::Fanout;
use crate::recorder::Stats;

/// Lines are gathered up to this many bytes before they are written together.
const BATCH_BYTES: usize = 1024 * 1024;
/// A buffer that one giant line has blown up beyond this is not kept.
const BUFFER_KEPT: usize = 4 * 1024 * 1024;

/// The file, the count and the subscribers of one run.
pub(crate) struct DiskSink {
    file: Option<Box<dyn Append>>,
    path: PathBuf,
    run: RunIdentity,
    last_seq: u64,
    bytes: u64,
    clock: Arc<dyn Clock>,
    durability: Durability,
    syncer: Option<Syncer>,
    poisoned: Option<String>,
    buffer: String,
    /// What the buffer holds; empty between batches.
    encoded: Vec<Encoded>,
    pub(crate) fanout: Fanout,
}

/// Lines encoded and not yet written.
struct Encoded {
    event: Event,
    /// Where its line ends in the buffer.
    end: usize,
}

/// What a producer takes home: the outcome, and what is left of its draft.
///
/// Memory goes back to the thread that asked for it; freeing it in another costs both more than
/// writing the line does.
pub(crate) struct Settled {
    pub(crate) outcome: Result<u64, RecordError>,
    _spent: Option<Event>,
}

impl DiskSink {
    pub(crate) fn new(
        file: Box<dyn Append>,
        path: PathBuf,
        run: RunIdentity,
        last_seq: u64,
        clock: Arc<dyn Clock>,
        durability: Durability,
        syncer: Option<Syncer>,
    ) -> Self {
        DiskSink {
            file: Some(file),
            path,
            run,
            last_seq,
            bytes: 0,
            clock,
            durability,
            syncer,
            poisoned: None,
            buffer: String::new(),
            encoded: Vec::new(),
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

    /// Numbers and encodes as many drafts as fit into one write.
    fn encode(&mut self, drafts: &mut impl Iterator<Item = Draft>) {
        self.buffer.clear();
        self.encoded.clear();
        while self.buffer.len() < BATCH_BYTES {
            let Some(draft) = drafts.next() else { break };
            let seq = self.last_seq + 1 + self.encoded.len() as u64;
            let now = self.clock.now();
            self.encoded.push(Encoded { event: draft.seal(seq, &self.run, now), end: 0 });
            if let Some(encoded) = self.encoded.last_mut() {
                encode_line(&encoded.event, &mut self.buffer);
                encoded.end = self.buffer.len();
            }
        }
    }

    /// Writes what is encoded and syncs it if every line is to be synced.
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

    /// Publishes what was recorded, then tells each producer what became of its draft.
    fn settle(
        &mut self,
        recorded: usize,
        mut failure: Option<RecordError>,
        done: &mut impl FnMut(Settled),
    ) {
        let whole = self.encoded.iter().take_while(|line| line.end <= recorded).count();
        let mut seq = self.last_seq;
        self.last_seq += whole as u64;
        let publish = !self.fanout.is_idle();
        let mut encoded = std::mem::take(&mut self.encoded);
        if publish {
            for Encoded { event, .. } in &encoded[..whole] {
                self.fanout.publish(&Arc::new(event.clone()));
            }
        }
        for (index, Encoded { event, .. }) in encoded.drain(..).enumerate() {
            let outcome = if index < whole {
                seq += 1;
                Ok(seq)
            } else {
                let refusal = failure.take().or_else(|| self.refusal());
                Err(refusal.unwrap_or_else(|| self.closed()))
            };
            done(Settled { outcome, _spent: Some(event) });
        }
        self.encoded = encoded;
        if self.buffer.capacity() > BUFFER_KEPT {
            self.buffer = String::new();
        }
    }

    fn closed(&self) -> RecordError {
        RecordError::Closed { path: self.path.clone() }
    }
}

impl Sink for DiskSink {
    type Job = Draft;
    type Outcome = Settled;

    fn process(
        &mut self,
        mut drafts: impl Iterator<Item = Draft>,
        mut done: impl FnMut(Self::Outcome),
    ) {
        loop {
            if self.refusal().is_some() {
                drafts
                    .by_ref()
                    .filter_map(|_| self.refusal())
                    .for_each(|refusal| done(Settled { outcome: Err(refusal), _spent: None }));
            }
            self.encode(&mut drafts);
            if self.encoded.is_empty() {
                return;
            }
            let (recorded, failure) = self.write();
            self.settle(recorded, failure, &mut done);
        }
    }
}

#[cfg(test)]
mod tests;
