//! A run and the runs it called, as one row of moments in the order in which they happened.
//!
//! Called runs join when they are called and are told below the step that calls them, as in a live
//! run. It reads on as it is asked to: a moment is made when its turn has come.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use quipu_event::{Event, Kind, RunId, StepPath};
use quipu_journal::{Layout, ReadError};
use quipu_workflow::display::{DisplayEvent, Retelling, below};

use super::lines::{Line, Lines};
use crate::format::damage::DamageCount;

/// A run and those it called, being told.
pub(super) struct Voices<'a> {
    layout: &'a Layout,
    is_followed: bool,
    voices: Vec<Voice>,
    known: HashSet<RunId>,
    /// Runs that were called and are not in the storage.
    missing: BTreeSet<RunId>,
    damage: DamageCount,
}

/// One event of one of the runs.
#[derive(Debug)]
pub(super) struct Moment {
    /// When it is told, in microseconds: never before what was told before it.
    pub(super) at: i64,
    /// Its number, if it belongs to the run itself.
    pub(super) seq: Option<u64>,
    /// What it is: its type, or what is wrong with its line.
    pub(super) what: What,
    pub(super) seen: Vec<DisplayEvent>,
}

/// What a moment is.
#[derive(Debug)]
pub(super) enum What {
    /// An event of this type.
    Event(String),
    /// The end of the run itself.
    End(Box<Event>),
    /// A line that is no event.
    Damage(String),
}

impl Moment {
    /// Tells whether something begins here that a person would look for: a step, or a turn.
    pub(super) fn begins(&self) -> bool {
        let is_beginning = |event: &DisplayEvent| {
            matches!(event, DisplayEvent::StepStarted { .. } | DisplayEvent::Prompt { .. })
        };
        self.seen.iter().any(is_beginning)
    }
}

/// One run.
struct Voice {
    lines: Lines,
    retelling: Retelling,
    /// The step that called it.
    below: StepPath,
    depth: usize,
    /// When it last told something.
    at: i64,
    next: Option<Line>,
}

impl<'a> Voices<'a> {
    /// Begins with the first line of `run`, whose first event happened at `first`.
    pub(super) fn begin(
        layout: &'a Layout,
        run: &RunId,
        first: i64,
        is_followed: bool,
    ) -> Result<Self, ReadError> {
        let damage = DamageCount::default();
        let known = HashSet::from([run.clone()]);
        let (voices, missing) = (Vec::new(), BTreeSet::new());
        let mut voices = Voices { layout, is_followed, voices, known, missing, damage };
        let root = voices.voice(run, StepPath::root(), 0, first)?;
        voices.voices.push(root);
        Ok(voices)
    }

    /// Returns what damage was met so far.
    pub(super) fn damage(&self) -> DamageCount {
        self.damage
    }

    /// Returns the runs that were called so far and are not in the storage.
    pub(super) fn missing(&self) -> &BTreeSet<RunId> {
        &self.missing
    }

    /// Returns the next moment, if there is one now.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<Moment>> {
        for voice in &mut self.voices {
            if voice.next.is_none() {
                voice.next = voice.lines.next(&mut self.damage)?;
            }
        }
        let waiting = self.voices.iter().enumerate().filter_map(|(index, voice)| {
            // Of what happened at once, what is called comes before what waits for it.
            Some((voice.due()?, Reverse(voice.depth), index))
        });
        let Some((at, _, index)) = waiting.min() else { return Ok(None) };
        let voice = &mut self.voices[index];
        voice.at = at;
        match voice.next.take() {
            Some(Ok(event)) => self.tell(index, *event).map(Some),
            Some(Err(damage)) => {
                let what = What::Damage(damage);
                Ok(Some(Moment { at, seq: None, what, seen: Vec::new() }))
            }
            None => Ok(None),
        }
    }

    fn tell(&mut self, index: usize, event: Event) -> anyhow::Result<Moment> {
        let voice = &mut self.voices[index];
        let (at, depth, is_root) = (voice.at, voice.depth, voice.depth == 0);
        let mut seen = voice.retelling.tell(&event);
        if !is_root {
            seen = seen.into_iter().map(|event| below(&voice.below, event)).collect();
        }
        let place = match event.path.is_root() {
            true => voice.below.clone(),
            false => voice.below.child(event.path.as_str()),
        };
        if let Some(child) = &event.child_run_id
            && event.kind == Kind::CallWorkflowStarted
        {
            if !self.layout.transcript(child).is_file() {
                self.missing.insert(child.clone());
            } else if self.known.insert(child.clone()) {
                self.missing.remove(child);
                let voice = self.voice(child, place, depth + 1, at)?;
                self.voices.push(voice);
            }
        }
        let seq = is_root.then_some(event.seq);
        let what = match event.kind {
            Kind::RunCompleted if is_root => What::End(Box::new(event)),
            kind => What::Event(kind.as_str().to_owned()),
        };
        Ok(Moment { at, seq, what, seen })
    }

    fn voice(
        &self,
        run: &RunId,
        below: StepPath,
        depth: usize,
        at: i64,
    ) -> Result<Voice, ReadError> {
        let lines = Lines::open(&self.layout.transcript(run), self.is_followed)?;
        let retelling = Retelling::new(run.clone());
        Ok(Voice { lines, retelling, below, depth, at, next: None })
    }
}

impl Voice {
    /// Returns when what it says next is to be told.
    fn due(&self) -> Option<i64> {
        Some(match self.next.as_ref()? {
            Ok(event) => self.at.max(event.timestamp.as_micros()),
            Err(_) => self.at,
        })
    }
}
