//! Transcripts → outlines, and single events read back.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use quipu_event::{Event, RunId, decode_line, peek};
use quipu_journal::{Layout, Lines, ReadError, Reader};
use quipu_view::diff::{Item, Outline, OutlineBuilder, Part, Words, words_at};

use crate::format::damage::DamageCount;

/// Reads runs and keeps in mind what was wrong with them.
pub(super) struct Loader<'a> {
    pub(super) layout: &'a Layout,
    pub(super) damage: DamageCount,
    pub(super) failure: Option<anyhow::Error>,
    /// Runs that were called and are not in the storage, in the order in which they were asked for.
    pub(super) missing: Vec<RunId>,
    /// Where the events of a run stand, once one was asked for.
    places: HashMap<RunId, HashMap<u64, u64>>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(layout: &'a Layout) -> Self {
        let (damage, places) = (DamageCount::default(), HashMap::new());
        Loader { layout, damage, failure: None, missing: Vec::new(), places }
    }

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

    /// Reads a run that was called, if it is in the same storage.
    pub(super) fn find(&mut self, run: &RunId) -> Option<Outline> {
        if !self.layout.transcript(run).is_file() {
            if !self.missing.contains(run) {
                self.missing.push(run.clone());
            }
            return None;
        }
        self.load(run).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            None
        })
    }

    /// Returns all that a part of an item says, read anew: an outline only has the first words.
    pub(super) fn words_of(
        &mut self,
        run: &RunId,
        item: &Item,
        part: Part,
    ) -> anyhow::Result<Option<Words>> {
        let Some(seq) = item.seq_of(part) else { return Ok(None) };
        let event = self.event(run, seq)?;
        Ok(event.map(|event| words_at(&event, item, part)))
    }

    /// Returns the event of that number.
    fn event(&mut self, run: &RunId, seq: u64) -> Result<Option<Event>, ReadError> {
        let path = self.layout.transcript(run);
        let failed = |source| ReadError { path: path.clone(), source };
        if !self.places.contains_key(run) {
            let found = find_lines(&path).map_err(failed)?;
            self.places.insert(run.clone(), found);
        }
        let place = self.places.get(run).and_then(|places| places.get(&seq));
        let Some(&offset) = place else { return Ok(None) };
        let mut lines = Lines::open(&path, offset).map_err(failed)?;
        let line = lines.next_whole().map_err(failed)?;
        Ok(line.and_then(|line| decode_line(line.bytes).ok()))
    }
}

/// Returns where each event stands. Foreign runs need not be in order, so all lines are asked.
fn find_lines(path: &Path) -> io::Result<HashMap<u64, u64>> {
    let mut places = HashMap::new();
    let mut lines = Lines::open(path, 0)?;
    while let Some(line) = lines.next_whole()? {
        let seq = match peek(line.bytes) {
            Some(seen) => Some(seen.seq),
            None => decode_line(line.bytes).ok().map(|event| event.seq),
        };
        if let Some(seq) = seq {
            places.entry(seq).or_insert(line.offset);
        }
    }
    Ok(places)
}
