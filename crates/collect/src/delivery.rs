//! From what was made to what is recorded: the events that the transcript lacks, and no others.

use std::collections::VecDeque;

use quipu_event::{Draft, Kind, Origin, Raw, Timestamp};
use quipu_provider::Made;

use crate::error::CollectError;
use crate::history::{Recorded, SourceHistory, print_of_raw};
use crate::marks;
use crate::plan::SourceFile;
use crate::session_run::SessionRun;

/// Why a file was left.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It does not begin with what was read before.
    Changed(&'static str),
    /// Something went wrong.
    Failed(CollectError),
}

impl From<CollectError> for Stop {
    fn from(error: CollectError) -> Self {
        Stop::Failed(error)
    }
}

/// Takes the events of one file to the run.
pub(crate) struct Delivery {
    /// The file's path, as origins have it.
    file: String,
    /// The subagent that speaks in it.
    agent: Option<String>,
    /// What the transcript holds and has not been made again yet.
    expected: VecDeque<Recorded>,
    /// Where the file had been read to when it was found silent, as far as that is still to come.
    settles: VecDeque<u64>,
    /// What was made when the file ended, and may be made once more now that it goes on.
    at_end: Vec<Recorded>,
    /// Behind the last record from which an event was made.
    last_place: u64,
    /// When the last thing happened, for records that do not say: at first, when the file was
    /// last written.
    last_time: Timestamp,
    is_inheriting: bool,
}

impl Delivery {
    /// Makes the delivery of `file`, of which the transcript holds `history`.
    pub(crate) fn new(file: &SourceFile, history: SourceHistory) -> Self {
        let mut settles: VecDeque<u64> =
            history.events.iter().filter_map(|event| event.until).collect();
        settles.make_contiguous().sort_unstable();
        let mut settles: Vec<u64> = settles.into();
        settles.dedup();
        Delivery {
            file: file.path.to_string_lossy().into_owned(),
            agent: file.agent.clone(),
            expected: history.events,
            settles: settles.into(),
            at_end: Vec::new(),
            last_place: 0,
            last_time: file.stamp.modified(),
            is_inheriting: false,
        }
    }

    /// Tells whether all has been made again that the transcript holds.
    pub(crate) fn is_caught_up(&self) -> bool {
        self.expected.is_empty()
    }

    /// Tells whether it is certain that the file is the one that was read before.
    pub(crate) fn is_certain(&self) -> bool {
        self.expected.is_empty() && self.at_end.is_empty()
    }

    /// Returns where the file was found silent next.
    pub(crate) fn next_settle(&self) -> Option<u64> {
        self.settles.front().copied()
    }

    /// Notes that what was made when the file was silent at `until` has been made again.
    pub(crate) fn settled(&mut self, until: u64) {
        self.settles.pop_front();
        // What is left was made because the file had ended.
        while let Some(event) = self.expected.pop_front_if(|event| event.until == Some(until)) {
            self.at_end.push(event);
        }
    }

    /// Expects nothing any more.
    pub(crate) fn forget(&mut self) {
        self.expected.clear();
        self.settles.clear();
    }

    /// Records what was made and is not recorded yet.
    pub(crate) fn deliver(
        &mut self,
        made: &mut Vec<Made>,
        until: Option<u64>,
        run: &mut SessionRun,
    ) -> Result<(), Stop> {
        made.drain(..).try_for_each(|made| self.deliver_one(made, until, run))
    }

    fn deliver_one(
        &mut self,
        made: Made,
        until: Option<u64>,
        run: &mut SessionRun,
    ) -> Result<(), Stop> {
        let Made { draft, place } = made;
        if draft.kind == Kind::RunCompleted {
            if self.agent.is_none() {
                run.take_end(&draft);
            }
            return Ok(());
        }
        let was_inheriting =
            std::mem::replace(&mut self.is_inheriting, marks::is_inherited(&draft));
        if was_inheriting && self.is_inheriting {
            return Ok(());
        }
        self.last_time = draft.timestamp.unwrap_or(self.last_time);
        let (offset, len) = place.map_or((self.last_place, 0), |place| (place.offset, place.len));
        self.last_place = self.last_place.max(offset + len);
        // Whoever made it once more before did not record it either.
        let is_again = |event: &Recorded| is_kind(event, &draft) && event.offset == offset;
        if let Some(at) = self.at_end.iter().position(is_again) {
            let event = self.at_end.remove(at);
            return match draft.timestamp.is_none() || draft.timestamp == event.time {
                true => Ok(()),
                false => Err(Stop::Changed("it was rewritten")),
            };
        }
        if let Some(expected) = self.expected.pop_front() {
            let is_said = run.is_masked() || says_the_same(&expected, &draft);
            return match is_said && is_same(&expected, &draft, offset, len) {
                true => Ok(()),
                false => Err(Stop::Changed("it was rewritten")),
            };
        }
        let origin = Origin { until, ..Origin::new(self.file.as_str(), offset, len) };
        let mut draft = draft.from_origin(origin);
        draft.timestamp.get_or_insert(self.last_time);
        if let Some(agent) = &self.agent {
            draft.source.get_or_insert_with(|| format!("subagent:{agent}").into());
        }
        if self.is_inheriting {
            // The record is kept in the session that it was copied from.
            draft.raw = None;
        }
        run.record(draft, self.agent.is_none()).map_err(Stop::Failed)
    }
}

/// Compares what was made with what the transcript holds in its place. The beginning of a run may
/// stand there as that of one more source of it.
///
/// What a record says may have been masked before it was written, its place and time never.
fn is_same(expected: &Recorded, draft: &Draft, offset: u64, len: u64) -> bool {
    let is_then = draft.timestamp.is_none() || draft.timestamp == expected.time;
    let is_there = (expected.offset, expected.len) == (offset, len);
    is_there && is_then && is_kind(expected, draft) && has_joints(expected, draft)
}

/// Tells whether the records are the same to the byte, if both are kept.
fn says_the_same(expected: &Recorded, draft: &Draft) -> bool {
    let made = draft.raw.as_ref().and_then(print_of_raw);
    made.zip(expected.raw).is_none_or(|(made, expected)| made == expected)
}

/// Tells whether what was made comes of as many records as what the transcript holds.
fn has_joints(expected: &Recorded, draft: &Draft) -> bool {
    match (&draft.raw, expected.joints) {
        (Some(Raw::Bytes(record)), Some(joints)) => {
            memchr::memchr_iter(b'\n', record).count() == joints
        }
        _ => true,
    }
}

fn is_kind(expected: &Recorded, draft: &Draft) -> bool {
    let is_start = draft.kind == Kind::RunStarted && expected.kind == Kind::System;
    expected.kind == draft.kind || is_start
}
