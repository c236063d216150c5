//! An output whose language is known: its bytes become drafts, and a silence is understood.

use std::time::Duration;

use memchr::memmem;
use quipu_event::Draft;
use quipu_provider::{Detection, KeptBytes, Made, Normalizer, Provider};

use super::whose::{Agent, Speech, find_agent};

/// How long a stream is silent before a call that has begun is told: its tool is at work then.
const CALL_PAUSE: Duration = Duration::from_secs(1);
/// How long a stream is silent before the blocks that have come are told. A model may take seconds
/// from one block of a message to the next, and a message that is torn apart is told as two.
const BLOCK_PAUSE: Duration = Duration::from_secs(10);

/// A language that is known.
pub(super) struct Known {
    /// Whose it is.
    pub(super) provider: &'static Provider,
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

impl Known {
    /// Begins to listen to the language that was found.
    pub(super) fn new(found: &Detection) -> Self {
        Known {
            provider: found.provider,
            agent: find_agent(found.provider.name),
            normalizer: Normalizer::new(found.surface, KeptBytes::Full),
            made: Vec::new(),
            seam: Vec::new(),
            silence: Silence::Nothing,
        }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8], out: &mut Vec<Draft>) {
        self.silence = self.meaning_of_silence(bytes);
        self.normalizer.push(bytes, &mut self.made);
        self.tell(out);
    }

    /// Returns how long a silence must be to mean anything.
    pub(super) fn patience(&self) -> Option<Duration> {
        match self.silence {
            Silence::Nothing => None,
            Silence::Call => Some(CALL_PAUSE),
            Silence::Blocks => Some(BLOCK_PAUSE),
        }
    }

    /// Takes such a silence.
    pub(super) fn settle(&mut self, out: &mut Vec<Draft>) {
        self.silence = Silence::Nothing;
        self.normalizer.settle(&mut self.made);
        self.tell(out);
    }

    /// Takes the end of the stream.
    pub(super) fn finish(&mut self, out: &mut Vec<Draft>) {
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
