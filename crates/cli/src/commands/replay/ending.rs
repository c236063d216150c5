//! What is known of a run before it is played, and what is said when it is over.

use std::io::Write;

use quipu_event::payload::{Payload, RunCompleted, Status};
use quipu_event::{RunId, Timestamp};
use quipu_journal::{Layout, ReadError, RunState, look_at};

use super::tale::Tale;
use crate::Context;
use crate::format::note::{hint, note};
use crate::format::status::Standing;
use crate::format::visible::one_line;
use crate::workflow::{Ended, told_end};

/// What the first and the last line of a run say.
pub(super) struct Facts {
    pub(super) name: String,
    /// The number of its first event.
    pub(super) first_seq: u64,
    /// The number of its last event.
    pub(super) last_seq: u64,
    /// When that was, in microseconds.
    pub(super) last_at: i64,
    state: RunState,
}

impl Facts {
    pub(super) fn of(layout: &Layout, run: &RunId) -> Result<Self, ReadError> {
        let listing = look_at(layout, run)?;
        let payloads = [&listing.first, &listing.last].into_iter().flatten();
        let name = payloads.filter_map(|event| event.decode_payload().ok()).find_map(|payload| {
            Some(match payload {
                Payload::RunStarted(started) => started.name,
                Payload::RunCompleted(completed) => completed.name,
                Payload::RunCreated(created) => created.name,
                _ => return None,
            })
        });
        let last = listing.last.as_ref();
        Ok(Facts {
            name: name.unwrap_or_default(),
            first_seq: listing.first.as_ref().map_or(0, |first| first.seq),
            last_seq: last.map_or(0, |last| last.seq),
            last_at: last.map_or(0, |last| last.timestamp.as_micros()),
            state: listing.state,
        })
    }
}

/// Says how the run ended, or where it was left.
pub(super) fn tell(
    context: &Context,
    facts: &Facts,
    tale: &Tale<'_>,
    is_left: bool,
) -> anyhow::Result<()> {
    let place = tale.place();
    let (seq, last) = (place.seq, facts.last_seq.max(place.seq));
    // Nobody is there to whom the end could be told, or it was not come to.
    if context.screen.json || tale.watch().is_alone() {
        return Ok(());
    }
    for run in tale.missing() {
        note(&format!("{run} was called and is not in the storage: what it did is not played"));
    }
    if is_left {
        note(&format!("left at {seq} of {last}"));
        return Ok(());
    }
    if let Some(end) = &place.end {
        let completed = match end.decode_payload() {
            Ok(Payload::RunCompleted(completed)) => *completed,
            _ => RunCompleted::default(),
        };
        let first = Timestamp::from_micros(tale.first());
        let result = completed.result.as_ref();
        let result = result.and_then(|result| result.decode::<serde_json::Value>().ok());
        let ended = Ended {
            name: if completed.name.is_empty() { &facts.name } else { &completed.name },
            status: &Status::told(completed.status.as_ref(), completed.error.as_deref()),
            error: completed.error.as_deref(),
            message: result.as_ref().and_then(|result| result.get("message")?.as_str()),
            usage: completed.usage.unwrap_or_default(),
            millis: completed.whole_ms(first, end.timestamp),
        };
        let mut out = context.screen.stdout();
        told_end(&ended, tale.watch()).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        out.flush()?;
        return Ok(());
    }
    let standing = Standing::of_open(&facts.state);
    let name = if facts.name.is_empty() { "the run" } else { &facts.name };
    note(&format!("{} has no end yet: {}", one_line(name, usize::MAX), standing.word()));
    if standing == Standing::Running {
        hint("--follow goes on with what is being written");
    }
    Ok(())
}
