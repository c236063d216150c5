//! What only a look at all lines can tell: the tokens of runs that have no end to say them, and how
//! many events there are where another writer numbered them.

use std::path::Path;

use quipu_event::payload::TokenCounts;
use quipu_event::{Kind, Payload, decode_line, peek};
use quipu_journal::Lines;

use super::facts::Facts;
use crate::cores;

/// Files larger than this are not read for a list.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Fills in what only a look at all lines can tell.
pub(crate) fn fill_in(runs: &mut [Facts]) {
    let is_unknown = |run: &Facts| (run.has_no_sum || !run.has_own_numbers) && run.bytes <= LARGEST;
    let unknown: Vec<&Path> =
        runs.iter().filter(|run| is_unknown(run)).map(|run| run.path.as_path()).collect();
    let sums = cores::map(&unknown, |path| sum(path));
    let unknown = runs.iter_mut().filter(|run| is_unknown(run));
    for (run, sum) in unknown.zip(sums) {
        let Sum { tokens, events } = sum.unwrap_or_default();
        if run.has_no_sum {
            run.tokens = (!tokens.is_empty()).then_some(tokens);
        }
        if !run.has_own_numbers {
            run.events = (events > 0).then_some(events);
        }
    }
}

/// What the lines of a transcript come to.
#[derive(Default)]
struct Sum {
    tokens: TokenCounts,
    events: u64,
}

/// Sums up the lines of a transcript; nothing if it cannot be read.
fn sum(path: &Path) -> Option<Sum> {
    let mut lines = Lines::open(path, 0).ok()?;
    let mut sum = Sum::default();
    while let Ok(Some(line)) = lines.next_whole() {
        // A line that does not begin as ours do may still be one of usage.
        if peek(line.bytes).is_some_and(|seen| seen.kind != Kind::Usage.as_str()) {
            sum.events += 1;
            continue;
        }
        let Ok(event) = decode_line(line.bytes) else { continue };
        sum.events += 1;
        if let (Kind::Usage, Ok(Payload::Usage(usage))) = (&event.kind, event.decode_payload()) {
            sum.tokens.add(&usage.tokens());
        }
    }
    Some(sum)
}
