//! The items of a paginated thread's turns, which repeat what the Responses items say.
//!
//! Only prompts are taken from here. What the agent says lends its bytes to the reply, what it
//! does is told as a fact about the call.

use quipu_event::{BlockContent, ContentBlock, Fidelity};
use serde_json::json;

use super::Rollout;
use super::events::{as_text, as_thinking};
use super::prompts::prompt_text;
use super::wire::texts;
use crate::outbox::{Outbox, Stamp};
use crate::value::{Fields, Value};

/// Items that are known and only noted, and what they are told as.
const NOTED: &[(&str, &str)] = &[
    ("ContextCompaction", "notice"),
    ("EnteredReviewMode", "notice"),
    ("ExitedReviewMode", "notice"),
    ("Extension", "progress"),
    ("HookPrompt", "context"),
    ("Plan", "notice"),
    ("Sleep", "progress"),
];

impl Rollout {
    /// Takes an `item_completed`.
    pub(super) fn take_turn_item(
        &mut self,
        event: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let item = event.fields("item").unwrap_or_default();
        let kind = item.text("type").unwrap_or_default();
        if kind == "UserMessage" {
            let blocks = item.items("content").into_iter().map(prompt_block).collect();
            self.forget_turn();
            return self.speech.prompt(out, stamp, item.string("id"), blocks);
        }
        self.release(out);
        match &*kind {
            "AgentMessage" => self.tell_parts(&item, "content", as_text, stamp, out),
            "Reasoning" => {
                let has_summary = !item.items("summary_text").is_empty();
                let key = if has_summary { "summary_text" } else { "raw_content" };
                self.tell_parts(&item, key, as_thinking, stamp, out);
            }
            "CommandExecution" | "FileChange" | "McpToolCall" | "DynamicToolCall"
            | "FunctionCallOutput" | "WebSearch" | "ImageGeneration" | "ImageView" => {
                self.take_tool_end(&kind, &item, "id", stamp, out);
            }
            "CollabAgentToolCall" => self.take_collaboration(&item, stamp, out),
            "SubAgentActivity" => self.take_agent_activity(&item, "id", stamp, out),
            _ => {
                if let Some((_, subtype)) = NOTED.iter().find(|(name, _)| *name == kind) {
                    let facts = json!({ "topic": kind, "id": item.text("id") });
                    out.system(stamp, subtype, facts);
                }
            }
        }
    }

    fn tell_parts(
        &mut self,
        item: &Fields<'_>,
        key: &str,
        block: fn(String) -> BlockContent,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        self.begin_work(out);
        let mut parts = texts(item, key);
        if parts.is_empty() {
            parts.push(Default::default());
        }
        for text in parts {
            let content = block(text.into_owned());
            self.speech.tell(out, stamp, self.model.as_deref(), content);
        }
    }

    /// Takes a call that begins, waits for or ends another agent.
    fn take_collaboration(&mut self, item: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        if item.text("tool").as_deref() != Some("spawn_agent") {
            return self.take_agent_states("CollabAgentToolCall", item, "id", stamp, out);
        }
        let agent = item.items("receiver_agents").first().and_then(|agent| agent.fields());
        let agent = agent.unwrap_or_default();
        let first = item.items("receiver_thread_ids").first().and_then(|id| id.text());
        let facts = json!({
            "agent_id": agent.text("thread_id").or(first),
            "tool_id": item.text("id"),
            "name": agent.text("agent_nickname"),
            "model": item.text("model"),
        });
        out.system(stamp, "subagent_started", facts);
    }

    /// Takes what another agent does.
    pub(super) fn take_agent_activity(
        &mut self,
        activity: &Fields<'_>,
        id_key: &str,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let kind = activity.text("kind").unwrap_or_default();
        let subtype = match &*kind {
            "started" => "subagent_started",
            "completed" | "interrupted" | "failed" | "closed" => "subagent_completed",
            _ => "progress",
        };
        let id = activity.text(id_key);
        let facts = json!({
            "agent_id": activity.text("agent_thread_id"),
            "tool_id": id.filter(|id| self.calls.knows(id)),
            "name": activity.text("agent_path"),
            "status": kind,
        });
        out.system(stamp, subtype, facts);
    }

    /// Takes how other agents stand, and tells once of each that has ended.
    pub(super) fn take_agent_states(
        &mut self,
        kind: &str,
        event: &Fields<'_>,
        id_key: &str,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let call_id = event.text(id_key);
        let states = event.fields("statuses").or_else(|| event.fields("agents_states"));
        let mut states: Vec<_> = states.iter().flat_map(Fields::iter).collect();
        let closed = event.text("receiver_thread_id");
        if let (Some(agent), Some(state)) = (&closed, event.get("status")) {
            states.push((agent, state));
        }
        let mut has_ended = false;
        for (agent, state) in states {
            let Some(status) = ending(state) else { continue };
            if self.ended_agents.insert(agent.to_owned()) {
                has_ended = true;
                let facts = json!({ "agent_id": agent, "tool_id": call_id, "status": status });
                out.system(stamp, "subagent_completed", facts);
            }
        }
        if !has_ended {
            out.system(stamp, "progress", json!({ "topic": kind, "tool_id": call_id }));
        }
    }
}

/// Returns how an agent ended, if it has: `{"completed": text}`, `{"errored": text}`, `"shutdown"`.
fn ending(state: Value<'_>) -> Option<String> {
    let word = match state.fields() {
        Some(fields) => fields.iter().next().map(|(word, _)| word.to_owned()),
        None => state.text().map(|word| word.into_owned()),
    };
    let is_ending = |word: &String| matches!(&**word, "completed" | "errored" | "shutdown");
    word.filter(is_ending)
}

fn prompt_block(part: Value<'_>) -> ContentBlock {
    let fields = part.fields().unwrap_or_default();
    match fields.string("text") {
        Some(text) => prompt_text(text),
        None => {
            let block_type = fields.string("type").unwrap_or_default();
            let content = BlockContent::Other { block_type, content: Some(part.json()) };
            content.vouched_by(Fidelity::AgentEmitted)
        }
    }
}
