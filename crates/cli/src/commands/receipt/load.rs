//! One transcript → its receipt, in one pass and flat memory.
//!
//! A line whose type has no place on a receipt is passed over by a look at its type and never
//! decoded.

use std::io;
use std::path::Path;
use std::sync::Arc;

use quipu_event::{decode_line, peek};
use quipu_journal::{LineEnd, Lines, ReadError, ReaderBackward};
use quipu_view::PriceTable;
use quipu_view::receipt::{Receipt, ReceiptBuilder, ReceiptOptions, is_needed};

use crate::format::damage::{DamageCount, is_being_written};

/// Reads the receipt of the transcript at `path`; nothing if it has no event.
pub(crate) fn read(
    path: &Path,
    prices: &Arc<PriceTable>,
    options: ReceiptOptions,
    damage: &mut DamageCount,
) -> Result<Option<Receipt>, ReadError> {
    let failed = |source: io::Error| ReadError { path: path.to_owned(), source };
    let mut lines = Lines::open(path, 0).map_err(failed)?;
    let mut builder = ReceiptBuilder::new(Arc::clone(prices), options);
    let mut has_begun = false;
    let mut is_heard_to_the_end = true;
    while let Some(line) = lines.next().map_err(failed)? {
        if line.end == LineEnd::Missing {
            // The last line of a run that goes on may be in the making.
            damage.add(u64::from(!is_being_written(path)));
            continue;
        }
        // The first event says which run it is, whatever its type.
        if has_begun && peek(line.bytes).is_some_and(|seen| !is_needed(seen.kind)) {
            is_heard_to_the_end = false;
            continue;
        }
        match decode_line(line.bytes) {
            Ok(event) => builder.add(&event),
            Err(_) => damage.add(1),
        }
        has_begun = true;
        is_heard_to_the_end = true;
    }
    // A run that goes on, or was cut off, has lasted until its last line, whatever that says.
    if !is_heard_to_the_end && let Some(last) = ReaderBackward::open(path)?.flatten().next() {
        builder.hear_until(last.timestamp);
    }
    Ok(builder.finish())
}
