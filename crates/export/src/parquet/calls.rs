//! Tool calls beside their results: a call waits until its result comes.

use std::collections::BTreeMap;

use quipu_event::payload::{ToolCall, ToolResult};
use quipu_event::{Event, Json, Payload};

use super::rows::{Row, json, number, text, time};

/// So many calls wait for their results; the oldest beyond that are written without.
const MOST_CALLS: usize = 4096;

/// Which call: its source, its path and its id.
type Name = (Option<Box<str>>, String, String);

/// A call, and the event that told of it.
type Called = (Event, Box<ToolCall>);

/// The calls whose results have not come yet.
#[derive(Debug, Default)]
pub(super) struct Calls {
    waiting: BTreeMap<Name, Called>,
}

impl Calls {
    /// Takes a call or a result; answers with the rows that are complete.
    pub(super) fn take(&mut self, event: &Event, payload: &Payload) -> Vec<Row> {
        let name = |call_id: &str| {
            (event.source.clone(), event.path.as_str().to_owned(), call_id.to_owned())
        };
        match payload {
            Payload::ToolCall(call) => {
                // The input stands in the call; the rest of the line is not needed again.
                let bare = Event { payload: Json::null(), raw: None, ..event.clone() };
                let before = self.waiting.insert(name(&call.call_id), (bare, call.clone()));
                let mut rows: Vec<Row> =
                    before.map(|called| row(Some(called), None)).into_iter().collect();
                if self.waiting.len() > MOST_CALLS {
                    let oldest = self.waiting.iter().min_by_key(|(_, (event, _))| event.seq);
                    let oldest = oldest.map(|(name, _)| name.clone());
                    let oldest = oldest.and_then(|name| self.waiting.remove(&name));
                    rows.extend(oldest.map(|called| row(Some(called), None)));
                }
                rows
            }
            Payload::ToolResult(result) => {
                let called = self.waiting.remove(&name(&result.call_id));
                vec![row(called, Some((event, result)))]
            }
            _ => Vec::new(),
        }
    }

    /// Returns the rows of the calls that never got a result.
    pub(super) fn left(&mut self) -> Vec<Row> {
        let mut left: Vec<_> = std::mem::take(&mut self.waiting).into_values().collect();
        left.sort_by_key(|(event, _)| event.seq);
        left.into_iter().map(|called| row(Some(called), None)).collect()
    }
}

fn row(called: Option<Called>, answered: Option<(&Event, &ToolResult)>) -> Row {
    let (event, call) = called.unzip();
    let (answer, result) = answered.unzip();
    let either = event.as_ref().or(answer);
    let name = call.as_ref().map(|call| call.name.as_str()).filter(|name| !name.is_empty());
    let fidelity = call.as_ref().map(|call| &call.fidelity).or(result.map(|made| &made.fidelity));
    let call_id = call.as_ref().map(|call| &call.call_id).or(result.map(|made| &made.call_id));
    // A result seldom repeats the input, and what is not known is no value.
    let repeated = result.map(|made| &made.input).filter(|input| !input.is_null());
    let input = call.as_ref().map(|call| &call.input).or(repeated);
    vec![
        text(either.map(|event| event.run_id.as_str())),
        number(event.as_ref().map(|event| event.seq)),
        number(answer.map(|event| event.seq)),
        time(event.as_ref().map(|event| event.timestamp)),
        time(answer.map(|event| event.timestamp)),
        text(either.map(|event| event.path.as_str())),
        text(either.and_then(|event| event.source.as_deref())),
        text(call_id.map(String::as_str)),
        text(name.or(result.map(|made| made.name.as_str()))),
        text(call.as_ref().and_then(|call| call.provider.as_deref())),
        text(fidelity.map(|fidelity| fidelity.as_str())),
        json(input),
        json(result.map(|made| &made.output)),
        text(result.and_then(|made| made.status.as_ref()).map(|status| status.as_str())),
        text(result.and_then(|made| made.error.as_deref())),
        number(result.and_then(|made| made.duration_ms)),
    ]
}
