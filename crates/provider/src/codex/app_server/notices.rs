//! Notifications about threads, turns and everything that is not an item.

use quipu_event::payload::UsageScope;
use serde_json::json;

use super::super::live::{
    Session, Telling, Totals, Trouble, TurnEnd, retry_facts, seconds, take_event,
};
use super::threads::Origin;
use super::{AppServer, methods};
use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

impl AppServer {
    /// Takes a notification; one that nobody knows is left alone.
    pub(super) fn take_notice(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: Stamp,
        method: &str,
        params: &Fields<'_>,
    ) {
        if method.starts_with("codex/event") {
            return self.take_older(out, &stamp, params);
        }
        let family = method.split('/').next().unwrap_or_default();
        self.is_newer |= method.contains('/') && matches!(family, "thread" | "turn" | "item");
        match (family, method) {
            ("item", _) => self.take_item_notice(out, stamp, method, params),
            (_, "thread/started") => self.take_thread(out, &stamp, params),
            (_, "thread/tokenUsage/updated") => self.count(out, &stamp, params),
            (_, "turn/started") => self.begin_turn(out, stamp, params),
            (_, "turn/completed") => self.end_turn(out, stamp, params),
            (_, "turn/plan/updated") => plan(out, &stamp, params),
            (_, "thread/compacted") if !self.compacted => {
                out.system(&stamp, "compaction", json!({ "turn_id": params.string("turnId") }));
            }
            (_, "error") => self.take_error(out, &stamp, params),
            (_, "model/rerouted" | "thread/settings/updated") => {
                self.change_model(out, &stamp, method, params);
            }
            (_, "initialized") if !self.opening.is_put() => self.opening.absorb(out),
            (_, "sessionConfigured") => self.take_session(out, &stamp, Session::read(params)),
            _ => note(out, &stamp, method, params),
        }
    }

    fn begin_turn(&mut self, out: &mut Outbox<'_>, mut stamp: Stamp, params: &Fields<'_>) {
        let thread_id = self.thread_of(out, params);
        let turn = params.fields("turn").unwrap_or_default();
        stamp.time = stamp.time.or_else(|| seconds(turn.count("startedAt")));
        let id = turn.text("id").unwrap_or_default();
        self.threads.get(&thread_id).thread.begin_turn(out, &stamp, &id);
    }

    fn end_turn(&mut self, out: &mut Outbox<'_>, mut stamp: Stamp, params: &Fields<'_>) {
        let thread_id = self.thread_of(out, params);
        let turn = params.fields("turn").unwrap_or_default();
        stamp.time = stamp.time.or_else(|| seconds(turn.count("completedAt")));
        let thread = &mut self.threads.get(&thread_id).thread;
        let status = turn.text("status").unwrap_or_default();
        let end = match (turn.fields("error"), &*status) {
            (_, "interrupted") => TurnEnd::Interrupted,
            (Some(error), _) => {
                let trouble = Trouble::of_object(&error);
                thread.cut_off(out, &stamp);
                thread.fail(out, &stamp, &trouble);
                TurnEnd::Failed(trouble.message)
            }
            (None, "failed") => TurnEnd::Failed(thread.trouble().unwrap_or_default()),
            _ => TurnEnd::Completed,
        };
        thread.end_turn(out, &stamp, end, turn.count("durationMs"));
    }

    /// Takes the running total of a thread.
    fn count(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, params: &Fields<'_>) {
        let thread_id = self.thread_of(out, params);
        let is_main = self.threads.is_main(&thread_id);
        let usage = params.fields("tokenUsage").unwrap_or_default();
        let read = |key| usage.fields(key).map(|totals| Totals::read(&totals));
        let (Some(total), last) = (read("total"), read("last")) else { return };
        let state = self.threads.get(&thread_id);
        let is_of_now = params.text("turnId").is_none_or(|turn| state.thread.knows_turn(&turn));
        // A thread that is resumed first repeats what it had spent before.
        if state.origin == Origin::Resumed && !is_of_now {
            state.thread.meter.begin_at(total);
            return out.system(stamp, "metadata", json!({ "topic": "tokens_spent_before" }));
        }
        state.thread.meter.has_past = match state.origin {
            Origin::New => false,
            Origin::Resumed => true,
            Origin::Unknown => !is_main,
        };
        if !state.thread.count(out, stamp, UsageScope::Message, total, last) {
            let window = usage.count("modelContextWindow");
            let facts = json!({ "topic": "tokens_unchanged", "context_window": window });
            out.system(stamp, "metadata", facts);
        }
    }

    /// Takes news of a thread's settings, of which the model counts.
    fn change_model(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        method: &str,
        params: &Fields<'_>,
    ) {
        let settings =
            ["threadSettings", "settings"].into_iter().find_map(|key| params.fields(key));
        let model = settings.and_then(|settings| settings.string("model"));
        let Some(model) = params.string("toModel").or(model) else {
            return note(out, stamp, method, params);
        };
        let id = params.string("threadId").unwrap_or_default();
        let voice = &mut self.threads.get(&id).thread.voice;
        if voice.model.as_ref() == Some(&model) {
            return note(out, stamp, method, params);
        }
        let before = voice.model.replace(model.clone()).or_else(|| params.string("fromModel"));
        out.system(stamp, "model_changed", json!({ "from": before, "to": model }));
    }

    fn take_error(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, params: &Fields<'_>) {
        let thread_id = params.string("threadId").unwrap_or_default();
        let error = params.fields("error").unwrap_or_default();
        let trouble = Trouble::of_object(&error);
        if params.flag("willRetry") == Some(true) {
            let mut facts = retry_facts(&trouble.message).unwrap_or_else(|| json!({}));
            if facts.get("reason").is_none_or(serde_json::Value::is_null) {
                let details = error.string("additionalDetails");
                facts["reason"] = json!(details.unwrap_or(trouble.message));
            }
            return out.system(stamp, "retry", facts);
        }
        if !self.threads.get(&thread_id).thread.fail(out, stamp, &trouble) {
            out.system(stamp, "repeated", json!({ "topic": "error" }));
        }
    }

    /// Takes an event message of the first protocol.
    ///
    /// Some versions tell everything in both protocols. The newer one counts as soon as it is
    /// heard; of the older one only totals and settings are then looked at, which bear repeating.
    fn take_older(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, params: &Fields<'_>) {
        let Some(msg) = params.fields("msg") else { return };
        let kind = msg.text("type").unwrap_or_default();
        if kind == "session_configured" {
            return self.take_session(out, stamp, Session::read(&msg));
        }
        let thread_id = self.thread_of(out, params);
        let thread = &mut self.threads.get(&thread_id).thread;
        if self.is_newer && kind != "token_count" {
            let facts = json!({ "topic": kind });
            return thread.voice.absorb_or(out, stamp, "repeated", facts);
        }
        let submission = &*params.text("id").unwrap_or_default();
        let agents = &mut self.agents;
        take_event(&mut Telling { thread, agents, out, stamp, submission }, &kind, &msg);
    }

    fn take_session(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, session: Session) {
        let id = session.id.unwrap_or_default();
        let is_main = self.threads.claim(&id);
        let state = self.threads.get(&id);
        state.thread.voice.model = session.model.clone().or(state.thread.voice.model.take());
        if session.has_past {
            state.origin = Origin::Resumed;
            state.thread.meter.has_past = true;
        }
        if !is_main || self.opening.is_put() {
            let facts = json!({ "session_id": id, "model": session.model, "cwd": session.cwd });
            return out.system(stamp, "session_started", facts);
        }
        let model = self.opening.agent.model.take();
        self.opening.agent.model = session.model.or(model);
        self.opening.started.cwd = self.opening.started.cwd.take().or(session.cwd);
        self.opening.started.session_id = Some(id).filter(|id| !id.is_empty());
        self.opening.absorb(out);
    }
}

fn plan(out: &mut Outbox<'_>, stamp: &Stamp, params: &Fields<'_>) {
    let steps = params.items("plan");
    let is_done = |step: &&crate::value::Value<'_>| {
        step.fields().and_then(|step| step.string("status")).as_deref() == Some("completed")
    };
    let done = steps.iter().filter(is_done).count();
    out.system(stamp, "plan", json!({ "steps": steps.len(), "completed": done }));
}

/// Puts a fact of which only the method, and perhaps a message, is worth telling.
fn note(out: &mut Outbox<'_>, stamp: &Stamp, method: &str, params: &Fields<'_>) {
    let Some(subtype) = methods::noted_as(method) else { return };
    let message = params.string("message").or_else(|| params.string("summary"));
    let status = params.get("status").and_then(|status| {
        let word = status.text().map(|word| word.into_owned());
        word.or_else(|| status.fields()?.string("type"))
    });
    out.system(stamp, subtype, json!({ "method": method, "message": message, "status": status }));
}
