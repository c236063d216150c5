//! Tracks: which spans share a line of the picture, so that those on one line nest.
//!
//! A span goes below the one it is in if nothing else is under way there; else onto a free track of
//! the same source, else onto a new one.

use std::collections::BTreeMap;

use crate::spans::{Beginning, Key};

/// The tracks of a run.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    tracks: Vec<Track>,
    placed: BTreeMap<Key, usize>,
}

#[derive(Debug)]
struct Track {
    source: Option<Box<str>>,
    /// The spans under way, the innermost last.
    open: Vec<Key>,
    /// When the last span on it was over.
    busy_until: i64,
}

impl Tracks {
    /// Places a span that begins; answers with the track's number and name if it is a new one.
    pub(super) fn begin(&mut self, span: &Beginning) -> Option<(u32, String)> {
        let below = span.parent.as_ref().and_then(|parent| {
            let at = *self.placed.get(parent)?;
            let track = &self.tracks[at];
            let free = track.open.last() == Some(parent) && track.fits(span);
            free.then_some(at)
        });
        let found = below.or_else(|| {
            self.tracks.iter().position(|track| track.open.is_empty() && track.fits(span))
        });
        let at = found.unwrap_or(self.tracks.len());
        if found.is_none() {
            let source = span.source.clone();
            self.tracks.push(Track { source, open: Vec::new(), busy_until: i64::MIN });
        }
        let track = &mut self.tracks[at];
        match span.end {
            Some(end) => track.busy_until = track.busy_until.max(end),
            None => track.open.push(span.key.clone()),
        }
        self.placed.insert(span.key.clone(), at);
        found.is_none().then(|| (number(at), self.name(at)))
    }

    /// Takes a span off its track; answers with the track's number.
    pub(super) fn end(&mut self, key: &Key, end: i64) -> u32 {
        let Some(at) = self.placed.remove(key) else { return number(0) };
        let track = &mut self.tracks[at];
        if let Some(place) = track.open.iter().rposition(|open| open == key) {
            track.open.remove(place);
            track.busy_until = track.busy_until.max(end);
        }
        number(at)
    }

    /// Returns the number of the track of a span that is under way.
    pub(super) fn number(&self, key: &Key) -> u32 {
        number(self.placed.get(key).copied().unwrap_or(0))
    }

    fn name(&self, at: usize) -> String {
        let source = &self.tracks[at].source;
        let before = self.tracks[..at].iter().filter(|track| track.source == *source).count();
        let name = source.as_deref().unwrap_or("main");
        if before == 0 { name.to_owned() } else { format!("{name} ({})", before + 1) }
    }
}

impl Track {
    fn fits(&self, span: &Beginning) -> bool {
        self.source == span.source && self.busy_until <= span.start
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX - 1) + 1
}
