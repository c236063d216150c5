//! The tokens of runs that have no end to say them: summed up over their `usage` lines.

use std::fs::File;
use std::path::Path;

use quipu_event::payload::TokenCounts;
use quipu_event::{Kind, Payload, decode_line, peek};
use quipu_journal::Lines;

use super::facts::Facts;
use crate::cores;

/// Files larger than this are not read for a list.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Fills in the tokens that only a look at all lines can tell.
pub(crate) fn fill_in(runs: &mut [Facts]) {
    let is_unknown = |run: &Facts| run.has_no_sum && run.bytes <= LARGEST;
    let unknown: Vec<&Path> =
        runs.iter().filter(|run| is_unknown(run)).map(|run| run.path.as_path()).collect();
    let sums = cores::map(&unknown, |path| sum(path));
    let unknown = runs.iter_mut().filter(|run| is_unknown(run));
    unknown.zip(sums).for_each(|(run, sum)| run.tokens = sum);
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
