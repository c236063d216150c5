//! Lines that are recorded elsewhere: copied from another session, or read before.

use std::collections::HashSet;
use std::sync::Arc;

use memchr::memmem;
use quipu_event::RunId;
use quipu_provider::{Made, Place};

use crate::history::print_of;
use crate::marks;

/// Lines that are recorded elsewhere.
pub(crate) enum Known {
    /// Those whose record has an id of another session.
    Copied {
        /// The ids of that session's records.
        ids: Arc<HashSet<u128>>,
        /// That session.
        session: String,
        /// Its run.
        run: RunId,
        /// Whether such a line has been met.
        is_met: bool,
    },
    /// Those that say the same, byte for byte, as one that was read before.
    Read(HashSet<u64>),
}

impl Known {
    /// Tells whether `line` is one of them.
    pub(crate) fn is_known(&self, line: &[u8]) -> bool {
        match self {
            Known::Copied { ids, .. } => record_ids(line).any(|id| ids.contains(&id)),
            Known::Read(prints) => print_of(line).is_some_and(|print| prints.contains(&print)),
        }
    }

    /// Returns what is to be told when the first of them is met, at `offset`.
    pub(crate) fn first_met(&mut self, offset: u64, len: u64) -> Option<Made> {
        let Known::Copied { session, run, is_met, .. } = self else { return None };
        if std::mem::replace(is_met, true) {
            return None;
        }
        let place = Some(Place { line: 0, offset, len });
        Some(Made { draft: marks::inherited(session, run), place })
    }
}

/// Returns the ids of the records in `text`, which need not end with a whole record.
pub(crate) fn record_ids(text: &[u8]) -> impl Iterator<Item = u128> {
    const KEY: &[u8] = b"\"uuid\":\"";
    memmem::find_iter(text, KEY).filter_map(|at| {
        let id = text.get(at + KEY.len()..at + KEY.len() + 36)?;
        uuid::Uuid::try_parse_ascii(id).ok().map(|id| id.as_u128())
    })
}
