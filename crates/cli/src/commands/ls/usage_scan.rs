//! The tokens of runs that have no end to say them: summed up over their `usage` lines.

use std::fs::File;
use std::path::Path;

use quipu_event::payload::TokenCounts;
use quipu_event::{Kind, Payload, decode_line, peek};
use quipu_journal::Lines;

use super::facts::Facts;

/// Files larger than this are not read for a list.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Fills in the tokens that only a look at all lines can tell.
pub(super) fn fill_in(runs: &mut [Facts<'_>]) {
    let mut unknown: Vec<&mut Facts<'_>> =
        runs.iter_mut().filter(|run| run.has_no_sum && run.bytes <= LARGEST).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = unknown.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        for runs in unknown.chunks_mut(share) {
            scope.spawn(|| runs.iter_mut().for_each(|run| run.tokens = sum(run.path)));
        }
    });
}

/// Sums up the `usage` lines of a transcript; nothing if it has none or cannot be read.
fn sum(path: &Path) -> Option<TokenCounts> {
    let mut lines = Lines::new(File::open(path).ok()?, 0);
    let mut total = TokenCounts::default();
    while let Ok(Some(line)) = lines.next_whole() {
        // A line that does not begin as ours do may still be one of usage.
        if peek(line.bytes).is_some_and(|seen| seen.kind != Kind::Usage.as_str()) {
            continue;
        }
        let event = decode_line(line.bytes).ok().filter(|event| event.kind == Kind::Usage);
        if let Some(Ok(Payload::Usage(usage))) = event.map(|event| event.decode_payload()) {
            total.add(&usage.tokens());
        }
    }
    (!total.is_empty()).then_some(total)
}
