//! An output whose language is known: its bytes become drafts, and a silence is understood.

use std::time::Duration;

use quipu_event::Draft;
use quipu_provider::{Detection, KeptBytes, Made, Normalizer, Pauses, Provider};

/// A language that is known.
pub(super) struct Known {
    /// Whose it is.
    pub(super) provider: &'static Provider,
    normalizer: Normalizer,
    made: Vec<Made>,
    pauses: Pauses,
}

impl Known {
    /// Begins to listen to the language that was found.
    pub(super) fn new(found: &Detection) -> Self {
        Known {
            provider: found.provider,
            normalizer: Normalizer::new(found.surface, KeptBytes::Full),
            made: Vec::new(),
            pauses: Pauses::new(&found.provider.telling),
        }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8], out: &mut Vec<Draft>) {
        self.pauses.take(bytes);
        self.normalizer.push(bytes, &mut self.made);
        self.tell(out);
    }

    /// Returns how long a silence must be to mean anything.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.pauses.patience()
    }

    /// Takes such a silence.
    pub(super) fn settle(&mut self, out: &mut Vec<Draft>) {
        self.pauses.settle();
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
}
