//! `session/update`: what an agent tells of a session.

use serde_json::json;

use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

use super::normalize::Dialogue;
use super::speech::Voice;
use super::{notes, wire};

impl Dialogue {
    /// Takes an update.
    pub(super) fn take_update(&mut self, update: &Fields<'_>, out: &mut Outbox<'_>) {
        let kind = update.text("sessionUpdate").unwrap_or_default();
        let stamp = wire::stamp(update, self.time);
        if is_content(&kind) {
            if self.is_replaying {
                let call_id = update.string("toolCallId");
                return out.system(
                    &stamp,
                    "replayed",
                    json!({ "topic": kind, "tool_id": call_id }),
                );
            }
            self.opening.put(out);
            self.account.begin_turn();
        }
        match &*kind {
            "user_message_chunk" | "user_message" => self.take_echo(update, &stamp, out),
            "agent_thought_chunk" => self.take_chunk(Voice::Thought, update, &stamp, out),
            "agent_message_chunk" => self.take_chunk(Voice::Text, update, &stamp, out),
            "agent_thought" => self.take_message(Voice::Thought, update, &stamp, out),
            "agent_message" => self.take_message(Voice::Text, update, &stamp, out),
            "tool_call" | "tool_call_update" => {
                self.ending.go_on();
                self.speech.tool(update, &stamp, self.millis, out);
            }
            "tool_call_content_chunk" => {
                self.speech.tool_content(update, &stamp, self.millis, out);
            }
            "turn_completed" => {
                self.ending.prompt_answered(None);
                self.end_turn(update.string("stop_reason"), update, out);
            }
            "state_update" => self.take_state(update, &stamp, out),
            "usage_update" => self.take_occupancy(update, &stamp, out),
            kind => notes::put_update(out, &stamp, kind, update),
        }
    }

    fn take_chunk(
        &mut self,
        voice: Voice,
        update: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        self.ending.go_on();
        self.is_prompted = false;
        self.speech.chunk(voice, update, stamp, out);
    }

    fn take_message(
        &mut self,
        voice: Voice,
        update: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        self.ending.go_on();
        self.is_prompted = false;
        if !self.speech.replace(voice, update, stamp, out) {
            out.system(stamp, "revised", json!({ "message_id": update.string("messageId") }));
        }
    }

    /// Takes a prompt as the agent tells it back; the client's own words count if they are there.
    fn take_echo(&mut self, update: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        if self.is_prompted {
            return out.system(
                stamp,
                "repeated",
                json!({ "topic": update.string("sessionUpdate") }),
            );
        }
        self.ending.go_on();
        self.speech.prompt_chunk(update, stamp, out);
    }

    fn take_state(&mut self, update: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let state = update.string("state").or_else(|| update.string("status"));
        if state.as_deref() == Some("idle") {
            self.ending.prompt_answered(None);
            return self.end_turn(update.string("stopReason"), update, out);
        }
        out.system(stamp, "state_changed", json!({ "state": state }));
    }

    /// Takes how full the context is: that is no bill, but the cost beside it is one.
    fn take_occupancy(&mut self, update: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let cost = update.fields("cost").unwrap_or_default();
        let is_usd = cost.text("currency").is_some_and(|currency| currency == "USD");
        let cost_usd = cost.number("amount").filter(|_| is_usd);
        if let Some(usd) = cost_usd {
            self.ending.cost(usd);
        }
        let (used, size) = (update.count("used"), update.count("size"));
        out.system(
            stamp,
            "context_usage",
            json!({ "used": used, "size": size, "cost_usd": cost_usd }),
        );
    }

    /// Takes the end of a turn, by whichever record tells it.
    pub(super) fn end_turn(
        &mut self,
        reason: Option<String>,
        facts: &Fields<'_>,
        out: &mut Outbox<'_>,
    ) {
        let stamp = Stamp::at(self.time);
        self.opening.put(out);
        self.speech.end_turn(&stamp, self.millis, out);
        out.system(&stamp, "turn_completed", json!({ "stop_reason": reason }));
        self.account.take_answer(out, &stamp, facts);
        self.is_prompted = false;
        self.ending.stop(reason);
    }
}

/// Tells whether an update is part of the conversation, and so of what a replay repeats.
fn is_content(kind: &str) -> bool {
    kind.contains("_message")
        || kind.contains("_thought")
        || kind.starts_with("tool_call")
        || kind == "plan"
}
