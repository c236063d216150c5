//! The other agents of a run: when each began and ended, told once.

use std::collections::HashSet;

use serde_json::json;

use crate::outbox::{Outbox, Stamp};
use crate::value::Value;

/// The subagents that have been told of.
#[derive(Default)]
pub(in crate::codex) struct Agents {
    started: HashSet<String>,
    ended: HashSet<String>,
}

impl Agents {
    /// Tells that `agent` began, unless that has been told; returns whether it was.
    pub(in crate::codex) fn start(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        agent: &str,
        call_id: Option<&str>,
        name: Option<&str>,
    ) -> bool {
        let is_new = self.started.insert(agent.to_owned());
        if is_new {
            let facts = json!({ "agent_id": agent, "tool_id": call_id, "name": name });
            out.system(stamp, "subagent_started", facts);
        }
        is_new
    }

    /// Tells of the agents that a report calls ended: `{id: {status, message}}`.
    pub(in crate::codex) fn take_states(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        call_id: &str,
        states: Value<'_>,
    ) {
        for (agent, state) in states.fields().unwrap_or_default().iter() {
            let status = state.fields().and_then(|state| state.string("status"));
            let status = status.or_else(|| state.text().map(|status| status.into_owned()));
            let is_end = matches!(
                status.as_deref(),
                Some("completed" | "errored" | "shutdown" | "interrupted")
            );
            if is_end && self.ended.insert(agent.to_owned()) {
                let facts = json!({ "agent_id": agent, "tool_id": call_id, "status": status });
                out.system(stamp, "subagent_completed", facts);
            }
        }
    }
}
