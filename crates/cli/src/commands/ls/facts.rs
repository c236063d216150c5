//! What a list shows of a run, taken from the first and the last line of its transcript.

use std::collections::BTreeSet;
use std::path::PathBuf;

use quipu_event::payload::{Agent, RunCompleted, RunKind, RunStarted, TokenCounts};
use quipu_event::{Event, Kind, Payload, RunId, Timestamp};
use quipu_journal::{RunListing, RunState};

use crate::format::status::Standing;

/// What a list shows of a run. Whatever is not known is absent.
pub(crate) struct Facts {
    pub(crate) run_id: RunId,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) parent: Option<RunId>,
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<RunKind>,
    pub(crate) standing: Standing,
    pub(crate) started: Option<Timestamp>,
    pub(crate) ended: Option<Timestamp>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) events: Option<u64>,
    pub(crate) tokens: Option<TokenCounts>,
    pub(crate) agents: Vec<String>,
    /// Whether only a look at all its lines can tell its tokens.
    pub(crate) has_no_sum: bool,
    /// Whether its numbers are ours, so that the last one tells how many events there are.
    pub(crate) has_own_numbers: bool,
}

impl Facts {
    pub(crate) fn of(run: RunListing, now: Timestamp) -> Self {
        let first = Beginning::of(run.first.as_deref());
        let end = completed(run.last.as_deref());
        let whole = end.as_ref().zip(run.first.as_ref()).zip(run.last.as_ref());
        let whole = whole.map(|((end, first), last)| end.whole_ms(first.timestamp, last.timestamp));
        let started = run.first.as_ref().map(|first| first.timestamp);
        let last = run.last.as_ref().map(|last| last.timestamp);
        let ended = last.filter(|_| run.state == RunState::Ended);
        let until = if matches!(run.state, RunState::Live(_)) { Some(now) } else { last };
        let elapsed = started.zip(until).map(|(started, until)| until.millis_since(started));
        let standing = Standing::of_listing(&run);
        let has_no_sum = end.is_none();
        let RunCompleted { name, kind, duration_ms, usage, counts, .. } = end.unwrap_or_default();
        let name = first.name.or(Some(name)).filter(|name| !name.is_empty());
        let counted = counts.map(|counts| counts.agents.into_keys().collect::<BTreeSet<_>>());
        let agents = counted.filter(|agents| !agents.is_empty()).unwrap_or(first.agents);
        Facts {
            bytes: run.bytes,
            parent: run.first.as_ref().and_then(|first| first.parent_run_id.clone()),
            kind: first.kind.or(name.is_some().then_some(kind)),
            name,
            standing,
            started,
            ended,
            duration_ms: whole.or(duration_ms).or(elapsed),
            events: run.last_seq,
            tokens: usage,
            agents: agents.into_iter().collect(),
            has_no_sum,
            has_own_numbers: first.has_own_numbers,
            run_id: run.run_id,
            path: run.path,
        }
    }
}

/// What the first line says.
#[derive(Default)]
struct Beginning {
    name: Option<String>,
    kind: Option<RunKind>,
    agents: BTreeSet<String>,
    /// Whether our own writer wrote it.
    has_own_numbers: bool,
}

impl Beginning {
    fn of(first: Option<&Event>) -> Self {
        let payload = first
            .filter(|first| matches!(first.kind, Kind::RunStarted | Kind::RunCreated))
            .and_then(|first| first.decode_payload().ok());
        match payload {
            Some(Payload::RunStarted(started)) => {
                let RunStarted { name, kind, agent, format, .. } = *started;
                let agent = agent.as_ref().and_then(Agent::label).map(str::to_owned);
                Beginning {
                    name: Some(name),
                    kind: Some(kind),
                    agents: agent.into_iter().collect(),
                    has_own_numbers: format.is_some(),
                }
            }
            Some(Payload::RunCreated(created)) => {
                let (name, kind) = (Some(created.name), Some(created.kind));
                Beginning { name, kind, has_own_numbers: true, ..Beginning::default() }
            }
            _ => Beginning::default(),
        }
    }
}

fn completed(last: Option<&Event>) -> Option<RunCompleted> {
    let last = last.filter(|last| last.kind == Kind::RunCompleted)?;
    match last.decode_payload() {
        Ok(Payload::RunCompleted(completed)) => Some(*completed),
        _ => None,
    }
}
