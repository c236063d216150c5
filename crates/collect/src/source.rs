//! One file of a session: read on from where it ended, its events made the same way every time.
//!
//! A normaliser makes the same events of the same bytes, as long as it is told to settle at the
//! same places. So a file that was read before is read again from its beginning: the first events
//! are those that the transcript holds, and are not recorded; the next one is new. Should they
//! differ, the file is not the one that was read.

use quipu_event::Kind;
use quipu_provider::{KeptBytes, Made, Normalizer};

use crate::beside::Beside;
use crate::delivery::{Delivery, Stop};
use crate::error::CollectError;
use crate::history::SourceHistory;
use crate::input::Input;
use crate::known::Known;
use crate::plan::SourceFile;
use crate::session_run::SessionRun;

/// So many bytes are read at a time.
pub(crate) const PIECE: usize = 256 * 1024;

/// So many bytes at the end of what was read are remembered.
const LAST: usize = 1024;

/// A file that is being read.
pub(crate) struct Source {
    file: SourceFile,
    input: Input,
    normalizer: Normalizer,
    delivery: Delivery,
    /// How many bytes have been taken, and the last of them.
    position: u64,
    last: Vec<u8>,
    /// Lines that are recorded elsewhere, and the bytes of a line that has not ended.
    known: Option<(Known, Vec<u8>)>,
    made: Vec<Made>,
}

impl Source {
    /// Opens `file`, of which the transcript holds `history`; lines of `known` are passed over.
    pub(crate) fn open(
        file: SourceFile,
        history: SourceHistory,
        known: Option<Known>,
    ) -> Result<Self, CollectError> {
        let input =
            Input::open(&file.path).map_err(|error| CollectError::read(&file.path, error))?;
        let mut normalizer = Normalizer::new(file.surface, KeptBytes::Full);
        if let Some(beside) = Beside::new(&file.path) {
            normalizer = normalizer.with_companions(Box::new(beside));
        }
        Ok(Source {
            input,
            normalizer,
            delivery: Delivery::new(&file, history),
            position: 0,
            last: Vec::new(),
            known: known.map(|known| (known, Vec::new())),
            made: Vec::new(),
            file,
        })
    }

    /// Takes over what earlier files of this name said, without recording it again.
    pub(crate) fn remember(&mut self, records: &[(u32, Vec<u8>)]) {
        for (_, record) in records {
            self.normalizer.push(record, &mut self.made);
            self.normalizer.push(b"\n", &mut self.made);
        }
        self.normalizer.settle(&mut self.made);
        self.normalizer.end_input(&mut self.made);
        self.made.clear();
    }

    /// Returns how many bytes have been taken.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Tells whether the file can grow.
    pub(crate) fn can_grow(&self) -> bool {
        self.input.can_grow()
    }

    /// Tells whether what was read last still stands where it was: a file may be written anew in
    /// its place, and be longer than before when it is next looked at.
    pub(crate) fn goes_on(&mut self) -> bool {
        if !self.input.can_grow() {
            return true;
        }
        let mut found = vec![0; self.last.len()];
        let from = self.position - self.last.len() as u64;
        let read = self.input.read_at(from, &mut found);
        read.is_ok_and(|read| found[..read] == self.last)
    }

    /// Returns how many bytes stand behind the last whole record.
    pub(crate) fn unfinished(&self) -> usize {
        match &self.known {
            Some((_, line)) => line.len(),
            None => self.normalizer.unfinished().len(),
        }
    }

    /// Returns how many things are wrong with the file.
    pub(crate) fn problems(&self) -> u64 {
        self.normalizer.tally().problem_count
    }

    /// Takes what the file has more than before. `taken` is shown the bytes as they are taken.
    pub(crate) fn catch_up(
        &mut self,
        run: &mut SessionRun,
        buffer: &mut [u8],
        taken: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Stop> {
        loop {
            let settle_at = self.delivery.next_settle();
            let most = settle_at.map_or(u64::MAX, |at| at.saturating_sub(self.position));
            let most = usize::try_from(most).unwrap_or(usize::MAX).min(buffer.len());
            let read = self.read(&mut buffer[..most])?;
            if read > 0 && !self.goes_on() {
                if self.delivery.is_certain() {
                    self.finish(run)?;
                }
                return Err(Stop::Changed("it was rewritten"));
            }
            self.position += read as u64;
            self.note_last(&buffer[..read]);
            self.push(&buffer[..read]);
            self.deliver(None, run)?;
            taken(&buffer[..read]);
            match settle_at {
                Some(at) if self.position >= at => match self.settle_again(run, at)? {
                    true => {}
                    false => return Ok(()),
                },
                _ if read == 0 => break,
                _ => {}
            }
        }
        match self.delivery.is_caught_up() {
            true => Ok(()),
            false => Err(Stop::Changed("it has become shorter")),
        }
    }

    /// Gives what was held back because more might have come.
    pub(crate) fn settle(&mut self, run: &mut SessionRun) -> Result<(), Stop> {
        let until = self.normalizer.offset();
        self.release(run, until)
    }

    /// Takes the end of the file, as it is now: a last line that is whole counts without its end.
    pub(crate) fn finish(&mut self, run: &mut SessionRun) -> Result<(), Stop> {
        if let Some((known, line)) = &mut self.known {
            let line = std::mem::take(line);
            if !known.is_known(&line) {
                self.normalizer.push(&line, &mut self.made);
            }
        }
        let until = if self.normalizer.has_whole_tail() {
            self.normalizer.finish(&mut self.made);
            self.position
        } else {
            let until = self.normalizer.offset();
            self.normalizer.conclude(&mut self.made);
            until
        };
        self.tell_known();
        self.deliver(Some(until), run)
    }

    /// Gives what is held back, the file having been read to `until`.
    fn release(&mut self, run: &mut SessionRun, until: u64) -> Result<(), Stop> {
        self.normalizer.settle(&mut self.made);
        self.tell_known();
        self.deliver(Some(until), run)
    }

    /// Records what was made. What was made from records of an earlier file is recorded already.
    fn deliver(&mut self, until: Option<u64>, run: &mut SessionRun) -> Result<(), Stop> {
        if let Some((known, _)) = &self.known {
            self.made.retain(|made| !known.is_made_before(made));
        }
        self.delivery.deliver(&mut self.made, until, run)
    }

    fn tell_known(&mut self) {
        if let Some((known, _)) = &mut self.known {
            known.tell(&mut self.made, 0);
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Stop> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let read = self.input.read_at(self.position, buffer);
        Ok(read.map_err(|error| CollectError::read(&self.file.path, error))?)
    }

    fn note_last(&mut self, bytes: &[u8]) {
        self.last.extend_from_slice(&bytes[bytes.len().saturating_sub(LAST)..]);
        self.last.drain(..self.last.len().saturating_sub(LAST));
    }

    /// Settles where that was done before, with the end of the line that the last record stands on.
    /// A file that ends there still, in the middle of a line, ends as it did then: not here.
    fn settle_again(&mut self, run: &mut SessionRun, at: u64) -> Result<bool, Stop> {
        let mut next = [0];
        if self.unfinished() > 0 {
            let read = self.input.read_at(self.position, &mut next);
            match read.map_err(|error| CollectError::read(&self.file.path, error))? {
                0 => return Ok(false),
                // What was taken out of a compressed file is not there a second time.
                _ if next == *b"\n" || !self.input.can_grow() => {
                    self.position += 1;
                    self.note_last(&next);
                    self.push(&next);
                    self.deliver(None, run)?;
                }
                _ => {}
            }
        }
        self.release(run, at)?;
        self.delivery.settled(at);
        Ok(true)
    }

    /// Takes bytes of the file; lines that are recorded elsewhere are passed over.
    fn push(&mut self, bytes: &[u8]) {
        let Some((known, line)) = &mut self.known else {
            return self.normalizer.push(bytes, &mut self.made);
        };
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            line.extend_from_slice(&rest[..=end]);
            rest = &rest[end + 1..];
            let from = self.made.len();
            if known.is_known(line) {
                let (offset, len) = (self.normalizer.offset(), line.len() as u64);
                known.meet(offset, len);
                if known.is_heard() {
                    self.normalizer.push(line, &mut self.made);
                    self.normalizer.settle(&mut self.made);
                    keep_beginning(&mut self.made, from);
                } else {
                    self.normalizer.skip(len);
                }
            } else {
                self.normalizer.push(line, &mut self.made);
            }
            known.tell(&mut self.made, from);
            line.clear();
        }
        line.extend_from_slice(rest);
    }
}

/// Drops what was made from `from` on of lines that are recorded elsewhere, but for the beginning
/// of the run: every session has its own.
fn keep_beginning(made: &mut Vec<Made>, from: usize) {
    let heard = made.split_off(from);
    let beginning = heard.into_iter().find(|made| made.draft.kind == Kind::RunStarted);
    made.extend(beginning.map(|mut made| {
        made.draft.raw = None;
        made
    }));
}
