//! A run on its way through whoever watches it: where it is, what comes next, and the way back.
//!
//! There is no index. To go back is to begin anew and to pass over what comes before.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use quipu_event::{Event, RunId};
use quipu_journal::{Layout, Reader};
use quipu_workflow::display::{Display, DisplayEvent};

use super::voices::{Moment, Voices, What};
use crate::format::damage::DamageCount;
use crate::format::visible::visible;
use crate::workflow::Watch;

/// A run that is being told.
pub(super) struct Tale<'a> {
    layout: &'a Layout,
    run: RunId,
    watch: &'a Watch,
    is_followed: bool,
    /// When its first event happened, in microseconds, and which moment stands for that here.
    first: i64,
    base: Instant,
    voices: Voices<'a>,
    next: Option<Moment>,
    place: Place,
    /// After how many moments something began.
    beginnings: Vec<u64>,
    damage: DamageCount,
}

/// Where a tale is.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// How many moments have been told.
    pub(super) told: u64,
    /// The number of the last event of the run itself.
    pub(super) seq: u64,
    /// What was told last.
    pub(super) kind: String,
    /// When that was, in microseconds.
    pub(super) at: i64,
    /// The event that ended the run.
    pub(super) end: Option<Box<Event>>,
}

impl<'a> Tale<'a> {
    /// Begins to tell `run`, of which nothing is shown yet.
    pub(super) fn begin(
        layout: &'a Layout,
        run: &RunId,
        watch: &'a Watch,
        is_followed: bool,
    ) -> anyhow::Result<Self> {
        let events = Reader::open(layout.transcript(run))?.filter_map(Result::ok);
        let first = events.map(|event| event.timestamp.as_micros()).next().unwrap_or_default();
        let mut tale = Tale {
            layout,
            run: run.clone(),
            watch,
            is_followed,
            first,
            base: Instant::now(),
            voices: Voices::begin(layout, run, first, is_followed)?,
            next: None,
            place: Place { at: first, ..Place::default() },
            beginnings: Vec::new(),
            damage: DamageCount::default(),
        };
        tale.next = tale.voices.next()?;
        Ok(tale)
    }

    pub(super) fn watch(&self) -> &'a Watch {
        self.watch
    }

    /// Returns where it is.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the runs that were called so far and are not in the storage.
    pub(super) fn missing(&self) -> &BTreeSet<RunId> {
        self.voices.missing()
    }

    /// Returns when its first event happened, in microseconds.
    pub(super) fn first(&self) -> i64 {
        self.first
    }

    /// Returns the number of the first event of the run itself that is numbered `seq` or higher.
    pub(super) fn seq_from(&self, seq: u64) -> anyhow::Result<Option<u64>> {
        let mut events = Reader::from_seq(self.layout.transcript(&self.run), seq)?;
        Ok(events.find_map(Result::ok).map(|event| event.seq))
    }

    /// Returns when its next moment is, if there is one now.
    pub(super) fn next_at(&mut self) -> anyhow::Result<Option<i64>> {
        if self.next.is_none() && self.is_followed {
            self.next = self.voices.next()?;
        }
        Ok(self.next.as_ref().map(|next| next.at))
    }

    /// Returns the worst damage that was met.
    pub(super) fn damage(&self) -> DamageCount {
        let now = self.voices.damage();
        if now.lines() > self.damage.lines() { now } else { self.damage }
    }

    /// Shows the next moment.
    pub(super) fn tell(&mut self) -> anyhow::Result<()> {
        let Some(moment) = self.advance()? else { return Ok(()) };
        self.set_clock(moment.at);
        moment.seen.iter().for_each(|event| self.watch.show(event));
        if let What::Damage(damage) = &moment.what {
            self.watch.line(&format!("✗ damaged: {}", visible(damage)));
        }
        Ok(())
    }

    /// Passes over moments until `is_there` says so, without showing any; shows which steps run then.
    pub(super) fn pass_until(
        &mut self,
        is_there: impl Fn(&Place, &Moment) -> bool,
    ) -> anyhow::Result<()> {
        let mut running: Vec<DisplayEvent> = Vec::new();
        while let Some(next) = &self.next
            && !is_there(&self.place, next)
        {
            let Some(moment) = self.advance()? else { break };
            for event in moment.seen {
                self.watch.pass(&event);
                match &event {
                    DisplayEvent::StepStarted { .. } => running.push(event),
                    DisplayEvent::StepCompleted { at: over, .. } => running.retain(
                        |step| !matches!(step, DisplayEvent::StepStarted { at, .. } if at == over),
                    ),
                    _ => {}
                }
            }
        }
        running.iter().for_each(|event| self.watch.show(event));
        Ok(())
    }

    /// Shows moments until `is_there` says so.
    pub(super) fn tell_until(
        &mut self,
        is_there: impl Fn(&Place, &Moment) -> bool,
    ) -> anyhow::Result<()> {
        while let Some(next) = &self.next
            && !is_there(&self.place, next)
        {
            self.tell()?;
        }
        Ok(())
    }

    /// Goes back to where nothing has been shown.
    pub(super) fn rewind(&mut self) -> anyhow::Result<()> {
        self.damage = self.damage();
        self.watch.forget();
        self.voices = Voices::begin(self.layout, &self.run, self.first, self.is_followed)?;
        self.next = self.voices.next()?;
        self.place = Place { at: self.first, ..Place::default() };
        self.beginnings.clear();
        Ok(())
    }

    /// Returns how many moments had been told when the last thing before this moment began.
    pub(super) fn beginning_before(&self) -> u64 {
        let before = self.beginnings.iter().rev().find(|told| **told < self.place.told);
        before.copied().unwrap_or_default()
    }

    /// Sets the clock of whoever watches to a moment of the run, in microseconds.
    pub(super) fn set_clock(&self, at: i64) {
        let passed = u64::try_from(at.saturating_sub(self.first)).unwrap_or_default();
        if let Some(terminal) = self.watch.terminal()
            && let Some(now) = self.base.checked_add(Duration::from_micros(passed))
        {
            terminal.set_clock(now);
        }
    }

    fn advance(&mut self) -> anyhow::Result<Option<Moment>> {
        let Some(moment) = self.next.take() else { return Ok(None) };
        self.next = self.voices.next()?;
        self.place.told += 1;
        self.place.at = moment.at;
        self.place.seq = moment.seq.unwrap_or(self.place.seq);
        if moment.begins() {
            self.beginnings.push(self.place.told);
        }
        match &moment.what {
            What::Event(kind) => {
                self.place.kind.clone_from(kind);
                // A run that was taken up again has not ended.
                self.place.end = self.place.end.take().filter(|_| moment.seq.is_none());
            }
            What::End(event) => {
                self.place.kind = event.kind.to_string();
                self.place.end = Some(event.clone());
            }
            What::Damage(_) => "damaged".clone_into(&mut self.place.kind),
        }
        Ok(Some(moment))
    }
}
