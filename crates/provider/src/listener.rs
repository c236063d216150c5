//! A program that is listened to while it works: bytes become drafts, a silence is understood, and
//! what was held back is dated by when it came.
//!
//! Looks at no clock: whoever listens says when bytes came.

use std::collections::VecDeque;
use std::time::Duration;

use quipu_event::{Draft, Timestamp};

use crate::normalizer::Normalizer;
use crate::outbox::{KeptBytes, Made};
use crate::pauses::Pauses;
use crate::record::Place;
use crate::registry::{Provider, Surface};
use crate::tally::Tally;

/// Listens to one program.
pub struct Listener {
    provider: &'static Provider,
    normalizer: Normalizer,
    pauses: Pauses,
    arrivals: Arrivals,
    made: Vec<Made>,
}

impl Listener {
    /// Begins to listen to a program of `provider` that speaks `surface`.
    pub fn new(provider: &'static Provider, surface: &Surface, kept: KeptBytes) -> Self {
        Listener {
            provider,
            normalizer: Normalizer::new(surface, kept),
            pauses: Pauses::new(&provider.telling),
            arrivals: Arrivals::default(),
            made: Vec::new(),
        }
    }

    /// Returns whose program it is.
    pub fn provider(&self) -> &'static Provider {
        self.provider
    }

    /// Takes the next bytes, which came `now`, and appends to `out` what they become.
    ///
    /// A draft of a record that came earlier and was held back has the time when that came. One that
    /// was not held back has none: its time is the present.
    pub fn take(&mut self, bytes: &[u8], now: Timestamp, out: &mut Vec<Draft>) {
        self.pauses.take(bytes);
        self.arrivals.take(bytes.len(), now);
        self.normalizer.push(bytes, &mut self.made);
        self.tell(Some(now), out);
    }

    /// Returns how long a silence must be to mean anything; nothing if none does.
    pub fn patience(&self) -> Option<Duration> {
        self.pauses.patience()
    }

    /// Takes such a silence, and appends to `out` what was held back.
    pub fn settle(&mut self, out: &mut Vec<Draft>) {
        self.pauses.settle();
        self.normalizer.settle(&mut self.made);
        self.tell(None, out);
    }

    /// Takes the end of the stream, and appends to `out` what is left.
    pub fn finish(&mut self, out: &mut Vec<Draft>) {
        self.normalizer.finish(&mut self.made);
        self.tell(None, out);
    }

    /// Returns what has been seen and made so far.
    pub fn tally(&self) -> &Tally {
        self.normalizer.tally()
    }

    fn tell(&mut self, now: Option<Timestamp>, out: &mut Vec<Draft>) {
        for Made { mut draft, place } in self.made.drain(..) {
            let came = place.and_then(|place| self.arrivals.of(place));
            if draft.timestamp.is_none() && came != now {
                draft.timestamp = came;
            }
            out.push(draft);
        }
    }
}

/// When the bytes of a stream came.
#[derive(Default)]
struct Arrivals {
    /// How many bytes have come.
    end: u64,
    /// Up to where they came by when, the earliest first.
    heard: VecDeque<(u64, Timestamp)>,
}

impl Arrivals {
    /// So many moments are remembered; what came before is dated by the first of them.
    const REMEMBERED: usize = 1024;

    fn take(&mut self, len: usize, now: Timestamp) {
        self.end += len as u64;
        match self.heard.back_mut() {
            Some((end, time)) if *time == now => *end = self.end,
            _ => self.heard.push_back((self.end, now)),
        }
        if self.heard.len() > Self::REMEMBERED {
            self.heard.pop_front();
        }
    }

    /// Returns when the last byte of a record came.
    fn of(&self, place: Place) -> Option<Timestamp> {
        let end = place.offset + place.len;
        let at = self.heard.partition_point(|(until, _)| *until < end);
        self.heard.get(at).or(self.heard.back()).map(|(_, time)| *time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_micros(second * 1_000_000)
    }

    #[test]
    fn a_record_came_when_its_last_byte_did() {
        let mut arrivals = Arrivals::default();
        let place = |offset, len| Place { offset, len, line: 1 };
        assert_eq!(arrivals.of(place(0, 4)), None);
        arrivals.take(10, at(1));
        arrivals.take(10, at(2));
        arrivals.take(5, at(2));
        arrivals.take(10, at(3));
        let cases = [((0, 4), 1), ((0, 10), 1), ((4, 7), 2), ((10, 15), 2), ((25, 1), 3)];
        for ((offset, len), second) in cases {
            assert_eq!(arrivals.of(place(offset, len)), Some(at(second)), "{offset} {len}");
        }
        (0..5000).for_each(|moment| arrivals.take(1, at(10 + moment)));
        assert_eq!(arrivals.heard.len(), Arrivals::REMEMBERED);
        assert_eq!(arrivals.of(place(0, 4)), arrivals.heard.front().map(|(_, time)| *time));
    }
}
