//! The agent's stream and the account of calls: what of its drafts is recorded, and as what.
//!
//! A draft about a call of ours becomes a `system` event `tool_linked`, which keeps its bytes; the call
//! itself is in the transcript already, or will be, by the router's word.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quipu_event::payload::{Message, ToolCall, ToolResult, ToolStatus};
use quipu_event::{BlockContent, Draft, Json, Kind, Payload};
use quipu_tool::mcp::Asked;
use serde_json::{Value, json};

use super::ledger::{Ids, Ledger, Link, Spoken, Telling};
use super::names::Names;

/// Both sides of the account of one turn.
#[derive(Debug)]
pub(in crate::agent) struct Links {
    names: Names,
    ledger: Mutex<Ledger<Draft>>,
}

impl Links {
    pub(super) fn new(names: Names, ids: Ids) -> Links {
        Links { names, ledger: Mutex::new(Ledger::new(ids)) }
    }

    /// Enters a call that is made of us. Returns its id and what is to be recorded now; nothing if the
    /// turn is over.
    pub(super) fn made(
        &self,
        asked: &Asked,
        free: impl FnOnce(Option<&str>) -> String,
    ) -> Option<(String, Vec<Draft>)> {
        let spoken = spoken(asked.name.clone(), asked.input.clone());
        let made = self.ledger().made(spoken, asked.tool_use_id.clone(), free);
        made.map(|(call_id, telling)| (call_id, drafts_of(telling)))
    }

    /// Refuses calls from now on.
    pub(super) fn refuse(&self) {
        self.ledger().refuse();
    }

    /// Returns the ids of calls of ours among drafts that came together: not every agent's message says
    /// whose tool it asks for.
    pub(in crate::agent) fn ours_among<'a>(
        &self,
        drafts: impl Iterator<Item = &'a Draft>,
    ) -> HashSet<String> {
        let calls = drafts.filter(|draft| draft.kind == Kind::ToolCall);
        let calls = calls.filter_map(|draft| draft.payload.decode::<ToolCall>().ok());
        let ours =
            calls.filter(|call| self.names.ours(&call.name, call.provider.as_deref()).is_some());
        ours.map(|call| call.call_id).collect()
    }

    /// Takes a message: what it asks of us gets our ids, as far as they are known.
    pub(in crate::agent) fn said(&self, draft: Draft, ours: &HashSet<String>) -> Draft {
        let Ok(Payload::Message(mut message)) = Payload::decode(&draft.kind, &draft.payload) else {
            return draft;
        };
        match self.rename(&mut message, ours).then(|| Json::encode(&message)) {
            Some(Ok(payload)) => Draft { payload, ..draft },
            _ => draft,
        }
    }

    /// Takes a call, and returns what is to be recorded of it now.
    pub(in crate::agent) fn called(&self, draft: Draft) -> Vec<Draft> {
        let Ok(call) = draft.payload.decode::<ToolCall>() else { return vec![draft] };
        let Some(tool) = self.names.ours(&call.name, call.provider.as_deref()) else {
            return vec![draft];
        };
        let told = spoken(tool, value_of(&call.input));
        drafts_of(self.ledger().told(&call.call_id, told, draft))
    }

    /// Takes a result, and returns what is to be recorded of it and of its call.
    pub(in crate::agent) fn ended(&self, draft: Draft) -> Vec<Draft> {
        let Ok(result) = draft.payload.decode::<ToolResult>() else { return vec![draft] };
        let is_completed = result.status == Some(ToolStatus::Completed);
        drafts_of(self.ledger().ended(&result.call_id, is_completed, draft))
    }

    /// Takes the end of the stream, and returns the calls that never reached us.
    pub(in crate::agent) fn close(&self) -> Vec<Draft> {
        self.ledger().close()
    }

    fn rename(&self, message: &mut Message, ours: &HashSet<String>) -> bool {
        let mut is_changed = false;
        for block in &mut message.blocks {
            let BlockContent::ToolUse { tool_name, tool_id, tool_input } = &mut block.content
            else {
                continue;
            };
            let by_id = || ours.contains(tool_id.as_str()).then(|| tool_name.clone());
            let Some(tool) = self.names.ours(tool_name, None).or_else(by_id) else { continue };
            let call_id = self.ledger().said(tool_id, spoken(tool, value_of(tool_input)));
            if let Some(call_id) = call_id.filter(|call_id| call_id != tool_id) {
                *tool_id = call_id;
                is_changed = true;
            }
        }
        is_changed
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger<Draft>> {
        // No change to it can be left half done: nothing in there panics.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a call as it is compared: no arguments are the same as none.
fn spoken(tool: String, input: Value) -> Spoken {
    let input = match input {
        Value::Null => json!({}),
        input => normal(input),
    };
    Spoken { tool, input }
}

/// Returns a value in which equal numbers are the same: what is `1` here is `1.0` there.
fn normal(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            // Beyond that not every integer has a place of its own among the floats.
            Some(float) if float.abs() < 9e15 => json!(float),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(normal).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, normal(value))).collect(),
        other => other,
    }
}

fn value_of(json: &Json) -> Value {
    json.decode().unwrap_or_default()
}

/// Returns what is to be recorded, in its order.
fn drafts_of(telling: Telling<Draft>) -> Vec<Draft> {
    match telling {
        Telling::Nothing => Vec::new(),
        Telling::Own(call, result) => call.into_iter().chain(result).collect(),
        Telling::Linked(link, call, result) => {
            // Without bytes there is nothing in a result that the router does not know better.
            let result = result.filter(|draft| draft.raw.is_some());
            let call = call.map(|draft| echo("tool_linked", &link, draft));
            call.into_iter()
                .chain(result.map(|draft| echo("tool_result_linked", &link, draft)))
                .collect()
        }
    }
}

/// Makes the agent's word for a call of ours of a draft, which keeps its time, its source and its bytes.
fn echo(subtype: &str, link: &Link, draft: Draft) -> Draft {
    let name = draft.payload.decode::<Value>().unwrap_or_default()["name"].take();
    let Link { call_id, agent_call_id } = link;
    let facts = json!({ "tool_id": call_id, "agent_tool_id": agent_call_id, "name": name });
    match Draft::system(subtype, facts) {
        Ok(fact) => Draft { kind: fact.kind, payload: fact.payload, ..draft },
        Err(_) => draft,
    }
}
