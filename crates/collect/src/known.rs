//! Lines that are recorded elsewhere: copied from another session, or read before.

use std::collections::HashSet;

use memchr::memmem;
use quipu_event::{Kind, Raw, RunId};
use quipu_provider::{Made, Place};

use crate::history::print_of;
use crate::marks;

/// Lines that are recorded elsewhere.
pub(crate) enum Known {
    /// Those whose record has an id of another session.
    Copied {
        /// The ids of that session's records.
        ids: HashSet<u128>,
        /// That session.
        session: String,
        /// Its run.
        run: RunId,
        /// Where such a line was first met, until that is told, and whether it was met at all.
        met: Option<Place>,
        is_met: bool,
    },
    /// Those that say the same, byte for byte, as one that was read before.
    Read(HashSet<u64>),
}

impl Known {
    /// Tells whether `line` is one of them.
    pub(crate) fn is_known(&self, line: &[u8]) -> bool {
        match self {
            Known::Copied { ids, .. } => own_id(line).is_some_and(|id| ids.contains(&id)),
            Known::Read(prints) => print_of(line).is_some_and(|print| prints.contains(&print)),
        }
    }

    /// Tells whether `made` was made from lines that were read before, and are not read again.
    pub(crate) fn is_made_before(&self, made: &Made) -> bool {
        let Known::Read(prints) = self else { return false };
        let Some(record) = made.draft.raw.as_ref().and_then(Raw::bytes) else { return false };
        let mut lines = record.split(|byte| *byte == b'\n').filter_map(print_of).peekable();
        lines.peek().is_some() && lines.all(|print| prints.contains(&print))
    }

    /// Tells whether what they say is to be known, though it is not recorded again.
    pub(crate) fn is_heard(&self) -> bool {
        matches!(self, Known::Copied { .. })
    }

    /// Notes that one of them was met.
    pub(crate) fn meet(&mut self, offset: u64, len: u64) {
        if let Known::Copied { met, is_met, .. } = self
            && !std::mem::replace(is_met, true)
        {
            *met = Some(Place { line: 0, offset, len });
        }
    }

    /// Tells among what was made, from `from` on, that such lines were met: once, and behind the
    /// beginning of the run.
    pub(crate) fn tell(&mut self, made: &mut Vec<Made>, from: usize) {
        let Known::Copied { session, run, met, .. } = self else { return };
        let Some(first) = made.get(from) else { return };
        let at = from + usize::from(first.draft.kind == Kind::RunStarted);
        if let Some(place) = met.take() {
            made.insert(at, Made { draft: marks::inherited(session, run), place: Some(place) });
        }
    }
}

/// Returns the id of the record on `line`: its own, not one of those that it quotes.
pub(crate) fn own_id(line: &[u8]) -> Option<u128> {
    #[derive(serde::Deserialize)]
    struct Record<'a> {
        #[serde(borrow)]
        uuid: std::borrow::Cow<'a, str>,
    }
    let record: Record<'_> = serde_json::from_slice(line).ok()?;
    uuid::Uuid::try_parse(&record.uuid).ok().map(|id| id.as_u128())
}

/// Returns the ids of the records in `text`, which need not end with a whole record.
pub(crate) fn record_ids(text: &[u8]) -> impl Iterator<Item = u128> {
    const KEY: &[u8] = b"\"uuid\":\"";
    memmem::find_iter(text, KEY).filter_map(|at| {
        let id = text.get(at + KEY.len()..at + KEY.len() + 36)?;
        uuid::Uuid::try_parse_ascii(id).ok().map(|id| id.as_u128())
    })
}
