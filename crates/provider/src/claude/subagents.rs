//! Who the subagents are, and which call started each of them.
//!
//! A subagent is known by its own id, by the call that started it, or, in the oldest files, only
//! by the chain of records that goes back to its prompt. Each is announced once and ends once.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::Timestamp;
use serde_json::json;

use crate::outbox::{Outbox, Stamp};
use crate::value::{Fields, Value};

/// The subagents of one input.
#[derive(Default)]
pub(super) struct Subagents {
    /// The subagents that have ids of their own, by the call that started them.
    by_call: HashMap<String, String>,
    announced: HashSet<String>,
    ended: HashSet<String>,
    /// The calls that start subagents, by the prompt they give.
    tasks: HashMap<u64, String>,
    /// The subagents of records, for files in which records do not name them.
    chains: HashMap<String, String>,
}

/// Tells whether a tool starts subagents.
pub(super) fn starts_subagents(tool_name: &str) -> bool {
    matches!(tool_name, "Task" | "Agent")
}

impl Subagents {
    /// Notes that a call may start a subagent.
    pub(super) fn expect(&mut self, call_id: &str, input: Option<Value<'_>>) {
        if let Some(prompt) = input.and_then(Value::fields).and_then(|input| input.text("prompt")) {
            self.tasks.insert(print(&prompt), call_id.to_owned());
        }
    }

    /// Notes the id of the subagent that a call started.
    pub(super) fn name(&mut self, call_id: &str, agent_id: &str) {
        self.by_call.insert(call_id.to_owned(), agent_id.to_owned());
    }

    /// Returns the id of the subagent that a call started; the call's own if it has no other.
    pub(super) fn started_by(&self, call_id: &str) -> String {
        self.by_call.get(call_id).map_or(call_id, String::as_str).to_owned()
    }

    /// Tells whether there is a subagent of this id.
    pub(super) fn knows(&self, agent_id: &str) -> bool {
        self.announced.contains(agent_id)
    }

    /// Takes a subagent as announced: the whole input is its own.
    pub(super) fn take_for_granted(&mut self, agent_id: &str) {
        self.announced.insert(agent_id.to_owned());
        self.ended.insert(agent_id.to_owned());
    }

    /// Puts the start of a subagent, once.
    pub(super) fn start(
        &mut self,
        out: &mut Outbox<'_>,
        time: Option<Timestamp>,
        agent_id: &str,
        call_id: Option<&str>,
        name: Option<&str>,
    ) {
        if self.announced.insert(agent_id.to_owned()) {
            let facts = json!({ "agent_id": agent_id, "tool_id": call_id, "name": name });
            out.system(&Stamp::at(time), "subagent_started", facts);
        }
    }

    /// Puts the end of a subagent, once; returns whether it did.
    pub(super) fn end(
        &mut self,
        out: &mut Outbox<'_>,
        time: Option<Timestamp>,
        agent_id: &str,
        facts: serde_json::Value,
    ) -> bool {
        let is_first = self.ended.insert(agent_id.to_owned());
        if is_first {
            out.system(&Stamp::at(time), "subagent_completed", facts);
        }
        is_first
    }

    /// Takes what a call that starts subagents left beside its answer.
    pub(super) fn answered(
        &mut self,
        out: &mut Outbox<'_>,
        time: Option<Timestamp>,
        call_id: &str,
        details: &Fields<'_>,
    ) {
        // In the oldest files a subagent has no other id than that of its call.
        let unnamed = || self.knows(call_id).then(|| call_id.to_owned());
        let Some(agent_id) = details.string("agentId").or_else(unnamed) else { return };
        let name = details.text("agentType");
        self.name(call_id, &agent_id);
        self.start(out, time, &agent_id, Some(call_id), name.as_deref());
        // It goes on in the background; its end is told elsewhere.
        if details.flag("isAsync") == Some(true) {
            return;
        }
        let facts = json!({
            "agent_id": agent_id,
            "tool_id": call_id,
            "name": name,
            "status": details.text("status"),
            "duration_ms": details.count("totalDurationMs"),
            "tokens": details.count("totalTokens"),
            "tool_calls": details.count("totalToolUseCount"),
        });
        self.end(out, time, &agent_id, facts);
    }

    /// Returns the subagent of a record that does not name it, from the chain it stands in.
    pub(super) fn of_chain(
        &mut self,
        uuid: &str,
        parent: Option<&str>,
        prompt: Option<&str>,
    ) -> (String, bool) {
        let known = parent.and_then(|parent| self.chains.get(parent)).cloned();
        let is_root = known.is_none();
        let task = || prompt.and_then(|prompt| self.tasks.get(&print(prompt))).cloned();
        let agent_id = known.or_else(task).unwrap_or_else(|| uuid.to_owned());
        self.chains.insert(uuid.to_owned(), agent_id.clone());
        (agent_id, is_root)
    }
}

fn print(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
