//! The public face: bytes in, drafts out, and an account of both.

use crate::companions::Companions;
use crate::framing::Framer;
use crate::outbox::{KeptBytes, Made, Outbox, Queue};
use crate::record::{Fragment, Record, Worth};
use crate::registry::Surface;
use crate::tally::Tally;

/// What one surface of one provider needs to know: how a record becomes events.
///
/// It never fails and never forgets: a record from which it makes nothing becomes `unknown`.
pub(crate) trait Normalize: Send {
    /// Takes the next record.
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>);

    /// Gives what was held back because more might have come; more may still come.
    fn settle(&mut self, out: &mut Outbox<'_>);

    /// Takes the end of the input: gives what was held back, then the run's end.
    fn finish(&mut self, out: &mut Outbox<'_>);
}

/// Turns the bytes of one input into drafts.
pub struct Normalizer {
    framer: Framer,
    surface: Box<dyn Normalize>,
    queue: Queue,
}

impl Normalizer {
    /// Makes a normaliser for `surface`.
    pub fn new(surface: &Surface, kept: KeptBytes) -> Self {
        Normalizer {
            framer: Framer::new(surface.framing),
            surface: (surface.start)(),
            queue: Queue::new(kept),
        }
    }

    /// Lets `companions` answer for what lies beside the input.
    pub fn with_companions(mut self, companions: Box<dyn Companions>) -> Self {
        self.queue.companions = Some(companions);
        self
    }

    /// Takes the next bytes and appends to `out` what they become.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Made>) {
        let (surface, queue) = (&mut self.surface, &mut self.queue);
        self.framer.push(bytes, &mut |fragment| {
            take(surface.as_mut(), queue, &fragment);
            queue.drain_into(out);
        });
    }

    /// Appends to `out` what was held back because more might have come.
    ///
    /// For live streams that have fallen silent: a reply that goes on after this goes on in a
    /// second event with the same id.
    pub fn settle(&mut self, out: &mut Vec<Made>) {
        self.surface.settle(&mut Outbox::new(&mut self.queue, None));
        self.queue.drain_into(out);
    }

    /// Takes the end of the input and appends to `out` what is left, the run's end last.
    pub fn finish(&mut self, out: &mut Vec<Made>) {
        self.finish_framer();
        self.conclude(out);
    }

    /// Ends the run as [`finish`](Self::finish) does, without the record whose line has no end.
    ///
    /// For a file that somebody may still be writing: [`unfinished`](Self::unfinished) stays as
    /// it is, and nothing is made of it.
    pub fn conclude(&mut self, out: &mut Vec<Made>) {
        let (surface, queue) = (&mut self.surface, &mut self.queue);
        self.framer.give_up(&mut |fragment| take(surface.as_mut(), queue, &fragment));
        surface.finish(&mut Outbox::new(queue, None));
        queue.give_up_first();
        queue.drain_into(out);
    }

    /// Takes the end of one input without ending the run.
    ///
    /// What is pushed next is another input of the same surface, counted from its own beginning:
    /// a document that was written anew, for one.
    pub fn end_input(&mut self, out: &mut Vec<Made>) {
        self.finish_framer();
        self.framer.start_anew();
        self.queue.drain_into(out);
    }

    /// Returns what has come of a record whose line has no end yet.
    ///
    /// Of an input that is one document, this is all of it.
    pub fn unfinished(&self) -> &[u8] {
        self.framer.unfinished()
    }

    /// Returns where in the input the [`unfinished`](Self::unfinished) bytes begin.
    pub fn offset(&self) -> u64 {
        self.framer.offset()
    }

    /// Tells whether the [`unfinished`](Self::unfinished) bytes are one whole JSON value between
    /// white space and NUL bytes, so that [`finish`](Self::finish) would make a record of them.
    ///
    /// Not for numbers and bare words: they look whole wherever they are cut.
    pub fn has_whole_tail(&self) -> bool {
        self.framer.has_whole_tail()
    }

    /// Passes over a line of `len` bytes, its end included, without looking at it.
    ///
    /// Only between lines: nothing may be [`unfinished`](Self::unfinished).
    pub fn skip(&mut self, len: u64) {
        self.framer.skip(len);
    }

    /// Returns what has been seen and made so far.
    pub fn tally(&self) -> &Tally {
        &self.queue.tally
    }

    fn finish_framer(&mut self) {
        let (surface, queue) = (&mut self.surface, &mut self.queue);
        self.framer.finish(&mut |fragment| take(surface.as_mut(), queue, &fragment));
    }
}

fn take(surface: &mut dyn Normalize, queue: &mut Queue, fragment: &Fragment<'_>) {
    match fragment {
        Fragment::Record(record) => {
            queue.tally.records += 1;
            let mut out = Outbox::new(queue, Some(record));
            if record.is_object() {
                surface.take(record, &mut out);
            } else {
                out.unknown("not an object");
            }
            out.close();
        }
        Fragment::Damage { exact, place, what, worth } => {
            queue.tally.report(*place, what);
            if *worth == Worth::Kept {
                Outbox::new(queue, None).damage(exact, *place, what);
            }
        }
    }
}

#[cfg(test)]
mod tests;
