//! Transcripts → outlines, and single events read back.

use quipu_event::{Event, RunId, decode_line, peek};
use quipu_journal::{Layout, Lines, ReadError, Reader};
use quipu_view::diff::{Item, Outline, OutlineBuilder, text_at};

use crate::format::damage::DamageCount;

/// Reads runs and keeps in mind what was wrong with them.
pub(super) struct Loader<'a> {
    pub(super) layout: &'a Layout,
    pub(super) damage: DamageCount,
    pub(super) failure: Option<anyhow::Error>,
}

impl Loader<'_> {
    pub(super) fn load(&mut self, run: &RunId) -> anyhow::Result<Option<Outline>> {
        let mut builder = OutlineBuilder::default();
        for item in Reader::open(self.layout.transcript(run))? {
            match item {
                Ok(event) => builder.add(&event),
                Err(problem) => drop(self.damage.note(problem)?),
            }
        }
        Ok(builder.finish())
    }

    /// Reads a run if it is in the same storage.
    pub(super) fn find(&mut self, run: &RunId) -> Option<Outline> {
        if !self.layout.transcript(run).is_file() {
            return None;
        }
        self.load(run).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            None
        })
    }

    /// Returns all that an item says, or all that came of it.
    pub(super) fn text_of(
        &self,
        run: &RunId,
        item: &Item,
        outcome: bool,
    ) -> anyhow::Result<String> {
        let seq = item.outcome_seq.filter(|_| outcome).unwrap_or(item.seq);
        let event = self.event(run, seq)?;
        Ok(event.map(|event| text_at(&event, item.block)).unwrap_or_default())
    }

    /// Returns the event of that number. Foreign runs need not be in order, so all lines are asked.
    fn event(&self, run: &RunId, seq: u64) -> Result<Option<Event>, ReadError> {
        let path = self.layout.transcript(run);
        let failed = |source| ReadError { path: path.clone(), source };
        let mut lines = Lines::new(std::fs::File::open(&path).map_err(failed)?, 0);
        while let Some(line) = lines.next_whole().map_err(failed)? {
            if peek(line.bytes).is_some_and(|seen| seen.seq != seq) {
                continue;
            }
            if let Ok(event) = decode_line(line.bytes)
                && event.seq == seq
            {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}
