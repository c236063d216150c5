//! Hears what an agent prints: finds out whose language it is, and makes drafts of it while it comes.
//!
//! What is nobody's language becomes pieces of text. A banner before an agent's first record is told
//! as such, and the records behind it are still understood.

use std::time::{Duration, Instant};

use memchr::memmem;
use quipu_event::Draft;
use quipu_provider::{
    Detection, KeptBytes, Made, Normalizer, PROVIDERS, Provider, Surface, detect_among,
};

use super::pieces::Pieces;
use super::whose::{Agent, Speech, find_agent};

/// How long output that could be anybody's is looked at before it is told as text.
pub(super) const DOUBT: Duration = Duration::from_secs(2);
/// How long output that is plainly no record is held, in case that it goes on.
const PAUSE: Duration = Duration::from_millis(100);
/// So much is looked at before it is told as text.
const HEAD: usize = 64 * 1024;
/// The most that a document in the making may be.
const DOCUMENT: usize = 64 * 1024 * 1024;
/// Whoever has printed so much text is not going to be recognised.
const TEXT: usize = 1024 * 1024;
/// How long a stream is silent before a call that has begun is told: its tool is at work then.
const CALL_PAUSE: Duration = Duration::from_secs(1);
/// How long a stream is silent before the blocks that have come are told. A model may take seconds
/// from one block of a message to the next, and a message that is torn apart is told as two.
const BLOCK_PAUSE: Duration = Duration::from_secs(10);

/// Listens to standard output.
pub(super) struct Hearing {
    candidates: Vec<(&'static Provider, &'static Surface)>,
    /// Whose agent it is by its name, or as somebody said.
    likely: Option<&'static str>,
    state: State,
    pieces: Pieces,
    last: Option<Instant>,
}

enum State {
    /// It is not known whose language it is.
    Looking(Head),
    /// It is.
    Known(Box<Known>),
    /// It is nobody's.
    Text,
}

/// What has come of a language that is not known.
#[derive(Default)]
struct Head {
    bytes: Vec<u8>,
    /// When the first of it came.
    since: Option<Instant>,
    /// Whether a line has ended in it.
    has_line: bool,
    /// How much of it has been looked at.
    looked_at: usize,
    /// How much before it was told as text.
    told: usize,
}

struct Known {
    provider: &'static Provider,
    agent: Option<&'static Agent>,
    normalizer: Normalizer,
    made: Vec<Made>,
    /// The last bytes, in case what begins a call was cut in two.
    seam: Vec<u8>,
    silence: Silence,
}

/// What a silence would mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Silence {
    /// Nothing: all is told, or a text may be in the making.
    Nothing,
    /// That a tool is at work.
    Call,
    /// That what has come is worth showing.
    Blocks,
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
            last: None,
        }
    }

    /// Returns whose language it is, once that is known.
    pub(super) fn provider(&self) -> Option<&'static Provider> {
        match &self.state {
            State::Known(known) => Some(known.provider),
            _ => None,
        }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8], now: Instant, out: &mut Vec<Draft>) {
        self.last = Some(now);
        match &mut self.state {
            State::Known(known) => known.take(bytes, out),
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

    /// Takes the end of the stream.
    pub(super) fn finish(&mut self, now: Instant, out: &mut Vec<Draft>) {
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
        let State::Looking(head) = &self.state else { return };
        let most = if head.is_in_the_making() { DOCUMENT } else { HEAD };
        if head.bytes.len() > most {
            self.tell_head(now, out);
        }
    }

    /// Records that could be another's are believed of an agent whose they likely are.
    fn is_believed(&self, found: &Detection) -> bool {
        found.is_sure || self.likely == Some(found.provider.name)
    }

    fn know(&mut self, found: &Detection, out: &mut Vec<Draft>) {
        self.pieces.finish(out);
        let known = Known {
            provider: found.provider,
            agent: find_agent(found.provider.name),
            normalizer: Normalizer::new(found.surface, KeptBytes::Full),
            made: Vec::new(),
            seam: Vec::new(),
            silence: Silence::Nothing,
        };
        let before = std::mem::replace(&mut self.state, State::Known(Box::new(known)));
        if let (State::Known(known), State::Looking(head)) = (&mut self.state, before) {
            known.take(&head.bytes, out);
        }
    }

    /// Tells what has come as text, and goes on looking at what comes, for a while.
    fn tell_head(&mut self, now: Instant, out: &mut Vec<Draft>) {
        let State::Looking(head) = &mut self.state else { return };
        self.pieces.take(&head.bytes, now, out);
        let told = head.told + head.bytes.len();
        self.state = match told > TEXT {
            true => State::Text,
            false => State::Looking(Head { told, ..Head::default() }),
        };
    }
}

impl Head {
    fn take(&mut self, bytes: &[u8], now: Instant) {
        self.since.get_or_insert(now);
        self.has_line |= memchr::memchr(b'\n', bytes).is_some();
        self.bytes.extend_from_slice(bytes);
    }

    /// Looking again is worth it when there is another record, and as much again to look at.
    fn is_worth_a_look(&mut self) -> bool {
        let is_more = self.bytes.len() >= 2 * self.looked_at || self.looked_at < HEAD;
        let is_worth = is_more && memchr::memchr(b'\n', &self.bytes[self.looked_at..]).is_some();
        if is_worth {
            self.looked_at = self.bytes.len();
        }
        is_worth
    }

    /// Returns when it is to be told as text; only at its end if nothing is said.
    fn due(&self, last: Option<Instant>) -> Option<Instant> {
        let latest = self.since? + DOUBT;
        match self.bytes.trim_ascii_start().first() {
            Some(b'{' | b'[') if self.is_in_the_making() => None,
            Some(b'{' | b'[') => Some(latest),
            _ => Some(latest.min(last? + PAUSE)),
        }
    }

    /// Tells whether this is the beginning of a JSON value that goes on behind what has come.
    fn is_in_the_making(&self) -> bool {
        let bytes = self.bytes.trim_ascii_start();
        if !matches!(bytes.first(), Some(b'{' | b'[')) {
            return false;
        }
        if !self.has_line && bytes.len() > HEAD {
            // To look at a long line again with each piece of it would take for ever.
            return true;
        }
        let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
        let first = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes[..end]);
        first.is_err_and(|error| error.is_eof())
    }
}

impl Known {
    fn take(&mut self, bytes: &[u8], out: &mut Vec<Draft>) {
        self.silence = self.meaning_of_silence(bytes);
        self.normalizer.push(bytes, &mut self.made);
        self.tell(out);
    }

    fn patience(&self) -> Option<Duration> {
        match self.silence {
            Silence::Nothing => None,
            Silence::Call => Some(CALL_PAUSE),
            Silence::Blocks => Some(BLOCK_PAUSE),
        }
    }

    fn settle(&mut self, out: &mut Vec<Draft>) {
        self.silence = Silence::Nothing;
        self.normalizer.settle(&mut self.made);
        self.tell(out);
    }

    fn finish(&mut self, out: &mut Vec<Draft>) {
        self.normalizer.finish(&mut self.made);
        self.tell(out);
    }

    fn tell(&mut self, out: &mut Vec<Draft>) {
        out.extend(self.made.drain(..).map(|made| made.draft));
    }

    /// Tells what it would mean if nothing came after these bytes.
    fn meaning_of_silence(&mut self, bytes: &[u8]) -> Silence {
        let Some(agent) = self.agent.filter(|agent| !agent.tool_begins.is_empty()) else {
            return Silence::Blocks;
        };
        self.seam.extend_from_slice(bytes);
        let begins = memmem::rfind(&self.seam, agent.tool_begins.as_bytes());
        let ends = memmem::rfind(&self.seam, agent.tool_ends.as_bytes());
        let kept = agent.tool_begins.len().max(agent.tool_ends.len()) - 1;
        self.seam.drain(..self.seam.len().saturating_sub(kept));
        match (begins > ends, ends.is_some(), self.silence) {
            (true, ..) | (_, false, Silence::Call) => Silence::Call,
            _ if agent.speech == Speech::Blocks => Silence::Blocks,
            _ => Silence::Nothing,
        }
    }
}
