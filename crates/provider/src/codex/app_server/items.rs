//! What is told of items: their beginning, their pieces, their end.

use serde_json::json;

use super::super::live::{Growth, Item, ItemKind, Stage, millis, take_tool};
use super::AppServer;
use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

/// Items that come piece by piece, and where a piece says which section it belongs to.
const PIECES: &[(&str, Growth, &str)] = &[
    ("item/agentMessage/delta", Growth::Text, ""),
    ("item/plan/delta", Growth::Plan, ""),
    ("item/reasoning/summaryPartAdded", Growth::Thinking, "summaryIndex"),
    ("item/reasoning/summaryTextDelta", Growth::Thinking, "summaryIndex"),
    ("item/reasoning/textDelta", Growth::Thinking, "contentIndex"),
];

/// What is told of a call while it runs.
const RUNNING: &[&str] = &[
    "item/commandExecution/outputDelta",
    "item/fileChange/outputDelta",
    "item/fileChange/patchUpdated",
    "item/mcpToolCall/progress",
];

impl AppServer {
    /// Takes a notification about an item; one that nobody knows is left alone.
    pub(super) fn take_item_notice(
        &mut self,
        out: &mut Outbox<'_>,
        mut stamp: Stamp,
        method: &str,
        params: &Fields<'_>,
    ) {
        let thread_id = self.thread_of(out, params);
        if let Some(turn) = params.text("turnId") {
            self.threads.get(&thread_id).thread.know_turn(&turn);
        }
        let item_id = params.text("itemId").unwrap_or_default();
        let thread = &mut self.threads.get(&thread_id).thread;
        if let Some((_, growth, section)) = PIECES.iter().find(|(name, ..)| *name == method) {
            let section = params.count(section).unwrap_or(0);
            let piece = params.text("delta").unwrap_or_default();
            return thread.voice.grow(out, &stamp, &item_id, *growth, (section, &piece));
        }
        if RUNNING.contains(&method) {
            let text = params.text("delta").unwrap_or_default();
            return thread.voice.output(out, &stamp, &item_id, &text);
        }
        let (stage, time) = match method {
            "item/started" => (Stage::Started, "startedAtMs"),
            "item/updated" => (Stage::Updated, "updatedAtMs"),
            "item/completed" => (Stage::Completed, "completedAtMs"),
            "item/commandExecution/terminalInteraction" => {
                let facts = json!({ "tool_id": item_id, "topic": "stdin" });
                return out.system(&stamp, "progress", facts);
            }
            _ if method.starts_with("item/autoApprovalReview/") => {
                let facts = json!({ "tool_id": params.string("targetItemId"), "method": method });
                return out.system(&stamp, "permission_review", facts);
            }
            _ => return,
        };
        stamp.time = millis(params.count(time)).or(stamp.time);
        if let Some(item) = params.fields("item").and_then(Item::read) {
            self.take_item(out, &stamp, &thread_id, &item, stage);
        }
    }

    fn take_item(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        thread_id: &str,
        item: &Item<'_>,
        stage: Stage,
    ) {
        let thread = &mut self.threads.get(thread_id).thread;
        match item.kind {
            ItemKind::AgentMessage => self.say(out, stamp, thread_id, (Growth::Text, item, stage)),
            ItemKind::Reasoning => self.say(out, stamp, thread_id, (Growth::Thinking, item, stage)),
            ItemKind::Plan => self.say(out, stamp, thread_id, (Growth::Plan, item, stage)),
            ItemKind::UserMessage if stage == Stage::Completed => {
                thread.end_prompt(out, stamp, &item.id, item.prompt());
            }
            ItemKind::UserMessage => thread.begin_prompt(out, stamp, &item.id, item.prompt()),
            ItemKind::Tool(kind) => {
                take_tool(thread, &mut self.agents, out, stamp, (kind, item, stage));
                self.note_models(item);
            }
            ItemKind::SubAgentActivity => self.take_activity(out, stamp, item),
            ItemKind::Compaction if stage == Stage::Completed => {
                self.compacted = true;
                out.system(stamp, "compaction", json!({ "item_id": item.id }));
            }
            ItemKind::Compaction => {
                out.system(stamp, "compaction_started", json!({ "item_id": item.id }));
            }
            ItemKind::EnteredReview => self.tell_once(out, stamp, "review_started", item),
            ItemKind::ExitedReview => self.tell_once(out, stamp, "review_completed", item),
            ItemKind::HookPrompt => self.tell_once(out, stamp, "context", item),
            ItemKind::TodoList => {
                let (steps, completed) = item.todos();
                out.system(stamp, "plan", json!({ "steps": steps, "completed": completed }));
            }
            ItemKind::Error => {
                let message = item.fields.string("message");
                out.system(stamp, "notice", json!({ "message": message }));
            }
        }
    }

    fn say(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        thread_id: &str,
        (growth, item, stage): (Growth, &Item<'_>, Stage),
    ) {
        let voice = &mut self.threads.get(thread_id).thread.voice;
        match stage {
            Stage::Completed => voice.say(out, stamp, &item.id, growth, item.said()),
            Stage::Started => voice.grow(out, stamp, &item.id, growth, (0, &item.said())),
            Stage::Updated => voice.grow(out, stamp, &item.id, growth, (0, "")),
        }
    }

    /// Notes which model the agents use that a call has begun.
    fn note_models(&mut self, item: &Item<'_>) {
        let model = item.fields.string("model").filter(|model| !model.is_empty());
        let (Some(model), Some(agents)) = (model, item.fields.get("receiverThreadIds")) else {
            return;
        };
        for agent in agents.items() {
            if let Some(agent) = agent.text().filter(|agent| !self.threads.is_main(agent)) {
                self.threads.get(&agent).thread.voice.model = Some(model.clone());
            }
        }
    }

    fn take_activity(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, item: &Item<'_>) {
        let agent = item.string("agent_thread_id", "agentThreadId").unwrap_or_default();
        let name = item.string("agent_path", "agentPath");
        let kind = item.fields.string("kind");
        let is_told = kind.as_deref() == Some("started")
            && self.agents.start(out, stamp, &agent, Some(&item.id), name.as_deref());
        if !is_told {
            let facts = json!({ "topic": kind, "agent_id": agent, "tool_id": item.id });
            out.system(stamp, "subagent_activity", facts);
        }
    }

    /// Tells of an item whose beginning and end say the same.
    fn tell_once(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, subtype: &str, item: &Item<'_>) {
        if self.told.insert(format!("{subtype} {}", item.id)) {
            let facts = json!({ "item_id": item.id, "review": item.fields.string("review") });
            out.system(stamp, subtype, facts);
        } else {
            out.system(stamp, "repeated", json!({ "item_id": item.id }));
        }
    }
}
