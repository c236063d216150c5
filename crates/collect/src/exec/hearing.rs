//! Hears what an agent prints: finds out whose language it is, and makes drafts of it while it comes.
//!
//! What is nobody's language becomes pieces of text. A banner before an agent's first record is told
//! as such, and the records behind it are still understood.

use std::time::Instant;

use quipu_event::Draft;
use quipu_journal::{Clock, SystemClock};
use quipu_provider::{Detection, KeptBytes, Listener, PROVIDERS, Provider, Surface, detect_among};

use super::head::Head;
use super::pieces::Pieces;

/// Whoever has printed so much text is not going to be recognised.
const TEXT: usize = 1024 * 1024;

/// Listens to standard output.
pub(super) struct Hearing {
    candidates: Vec<(&'static Provider, &'static Surface)>,
    /// Whose agent it is by its name, or as somebody said.
    likely: Option<&'static str>,
    state: State,
    pieces: Pieces,
    /// How much was told as text while it was looked whose it is.
    told: usize,
    last: Option<Instant>,
}

enum State {
    /// It is not known whose language it is.
    Looking(Head),
    /// It is.
    Known(Box<Listener>),
    /// It is nobody's.
    Text,
}

impl Hearing {
    /// Listens to an agent of `provider` only, or to one that is likely one of `guess`.
    pub(super) fn new(provider: Option<&'static Provider>, guess: Option<&'static str>) -> Self {
        let providers = provider.map_or(PROVIDERS.to_vec(), |provider| vec![provider]);
        let of = |provider: &'static Provider| provider.surfaces.iter().map(move |s| (provider, s));
        Hearing {
            candidates: providers.into_iter().flat_map(of).collect(),
            likely: provider.map(|provider| provider.name).or(guess),
            state: State::Looking(Head::default()),
            pieces: Pieces::new("stdout"),
            told: 0,
            last: None,
        }
    }

    /// Returns whose language it is, once that is known.
    pub(super) fn provider(&self) -> Option<&'static Provider> {
        match &self.state {
            State::Known(known) => Some(known.provider()),
            _ => None,
        }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8], now: Instant, out: &mut Vec<Draft>) {
        self.last = Some(now);
        match &mut self.state {
            State::Known(known) => known.take(bytes, SystemClock.now(), out),
            State::Text => self.pieces.take(bytes, now, out),
            State::Looking(head) => {
                head.take(bytes, now);
                self.look(now, out);
            }
        }
    }

    /// Returns when [`Hearing::pause`] is to be called, if nothing comes until then.
    pub(super) fn due(&self) -> Option<Instant> {
        let of_state = match &self.state {
            State::Known(known) => self.last.zip(known.patience()).map(|(last, wait)| last + wait),
            State::Text => None,
            State::Looking(head) => head.due(self.last),
        };
        [of_state, self.pieces.due()].into_iter().flatten().min()
    }

    /// Takes a silence.
    pub(super) fn pause(&mut self, now: Instant, out: &mut Vec<Draft>) {
        match &mut self.state {
            State::Known(known) => known.settle(out),
            State::Text => {}
            State::Looking(head) => {
                if head.due(self.last).is_some_and(|due| due <= now) {
                    self.tell_head(now, out);
                }
            }
        }
        self.pieces.pause(out);
    }

    /// Takes the end of the stream. Nothing is due afterwards.
    pub(super) fn finish(&mut self, now: Instant, out: &mut Vec<Draft>) {
        self.last = None;
        if let State::Looking(head) = &self.state
            && let Some(found) = detect_among(&head.bytes, self.candidates.iter().copied())
            && self.is_believed(&found)
        {
            self.know(&found, out);
        }
        match &mut self.state {
            State::Known(known) => known.finish(out),
            State::Text => {}
            State::Looking(_) => self.tell_head(now, out),
        }
        self.pieces.finish(out);
    }

    /// Looks whose language it is, as far as that can be told by now.
    fn look(&mut self, now: Instant, out: &mut Vec<Draft>) {
        let State::Looking(head) = &mut self.state else { return };
        if head.is_worth_a_look()
            && let Some(found) = detect_among(&head.bytes, self.candidates.iter().copied())
            && self.is_believed(&found)
        {
            self.know(&found, out);
            return;
        }
        if matches!(&self.state, State::Looking(head) if head.is_too_much()) {
            self.tell_head(now, out);
        }
    }

    /// Records that could be another's are believed of an agent whose they likely are.
    fn is_believed(&self, found: &Detection) -> bool {
        found.is_sure || self.likely == Some(found.provider.name)
    }

    fn know(&mut self, found: &Detection, out: &mut Vec<Draft>) {
        self.pieces.finish(out);
        let known = Listener::new(found.provider, found.surface, KeptBytes::Full);
        let before = std::mem::replace(&mut self.state, State::Known(Box::new(known)));
        if let (State::Known(known), State::Looking(head)) = (&mut self.state, before) {
            known.take(&head.bytes, SystemClock.now(), out);
        }
    }

    /// Tells what has come as text, and goes on looking at what comes, for a while.
    fn tell_head(&mut self, now: Instant, out: &mut Vec<Draft>) {
        let State::Looking(head) = &mut self.state else { return };
        self.pieces.take(&head.bytes, now, out);
        self.told += head.bytes.len();
        self.state = if self.told > TEXT { State::Text } else { State::Looking(Head::default()) };
    }
}
