//! The lines of one transcript in the order in which they are told.
//!
//! That is the order of the file, but for sessions with several agents: those are collected agent by
//! agent, and each is told at its own time beside the others.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::time::Duration;

use quipu_event::payload::{Payload, RunKind};
use quipu_event::{Event, Kind};
use quipu_journal::{Follow, Followed, ReadError, ReadProblem, Reader};

use crate::format::damage::DamageCount;

/// An event, or what is wrong with its line.
pub(super) type Line = Result<Box<Event>, String>;

/// The lines of one transcript.
pub(super) enum Lines {
    /// Those that are there, one after the other.
    Present(Reader),
    /// Those that are there and those that come.
    Followed(Box<Follow>),
    /// Those of several agents, by the time at which they are told.
    Sorted(VecDeque<Result<Event, ReadProblem>>),
}

impl Lines {
    pub(super) fn open(path: &Path, is_followed: bool) -> Result<Self, ReadError> {
        if is_followed {
            return Ok(Lines::Followed(Box::new(Follow::from_seq(path, 1)?)));
        }
        let has_several_agents = is_session(path)?
            && Reader::open(path)?.any(|item| item.is_ok_and(|event| event.source.is_some()));
        Ok(match has_several_agents {
            true => Lines::Sorted(sorted(Reader::open(path)?)),
            false => Lines::Present(Reader::open(path)?),
        })
    }

    /// Returns the next line, if there is one now.
    pub(super) fn next(&mut self, damage: &mut DamageCount) -> anyhow::Result<Option<Line>> {
        loop {
            let item = match self {
                Lines::Present(reader) => reader.next(),
                Lines::Sorted(lines) => lines.pop_front(),
                Lines::Followed(follow) => match follow.next_within(Duration::ZERO) {
                    Followed::Event(item) => Some(*item),
                    Followed::Nothing => None,
                },
            };
            match item {
                None => return Ok(None),
                Some(Ok(event)) => return Ok(Some(Ok(Box::new(event)))),
                Some(Err(problem)) => {
                    if let Some(found) = damage.note(problem)? {
                        return Ok(Some(Err(found.to_string())));
                    }
                }
            }
        }
    }
}

/// Only sessions are collected; what our own recorders write is in order.
fn is_session(path: &Path) -> Result<bool, ReadError> {
    let first = Reader::open(path)?.find_map(Result::ok);
    let kind = first.filter(|first| first.kind == Kind::RunStarted).map(|first| {
        matches!(first.decode_payload(), Ok(Payload::RunStarted(started)) if started.kind == RunKind::Session)
    });
    Ok(kind.unwrap_or_default())
}

/// Puts lines in the order of their times, those of one agent never out of their own order.
fn sorted(
    lines: impl Iterator<Item = Result<Event, ReadProblem>>,
) -> VecDeque<Result<Event, ReadProblem>> {
    let mut latest: HashMap<Option<Box<str>>, i64> = HashMap::new();
    let mut here = i64::MIN;
    let mut timed: Vec<(i64, Result<Event, ReadProblem>)> = lines
        .map(|mut line| {
            if let Ok(event) = &mut line {
                // What is not told need not be held.
                event.raw = None;
                let at = event.timestamp.as_micros();
                let latest = latest.entry(event.source.clone()).or_insert(at);
                *latest = at.max(*latest);
                here = *latest;
            }
            (here, line)
        })
        .collect();
    // Stable: what happened at once stays as it stands.
    timed.sort_by_key(|(at, _)| *at);
    timed.into_iter().map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use quipu_event::{Draft, RunId, RunIdentity, Timestamp};

    use super::*;

    #[test]
    fn each_agent_of_a_session_is_told_at_its_own_time_and_in_its_own_order() {
        let run = RunIdentity { run_id: RunId::parse("r").unwrap(), parent_run_id: None };
        let recorded = [("", 1), ("", 5), ("", 4), ("", 9), ("a", 2), ("a", 3), ("b", 3), ("a", 9)];
        let events = (1..).zip(recorded).map(|(seq, (source, at))| {
            let mut draft = Draft::system("note", serde_json::Value::Null).unwrap();
            if !source.is_empty() {
                draft = draft.by(source);
            }
            Ok(draft.seal(seq, &run, Timestamp::from_micros(at)))
        });
        let told: Vec<u64> = sorted(events).into_iter().map(|line| line.unwrap().seq).collect();
        assert_eq!(told, [1, 5, 6, 7, 2, 3, 4, 8]);
    }
}
