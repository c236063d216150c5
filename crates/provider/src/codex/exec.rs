//! `codex exec --json`: one thread, its turns and items, one record a line, without times.
//!
//! All ages: bare event messages until 0.41, `session.created` and `item_type` in 0.42,
//! `thread.started` since 0.43. The prompt, the model and the end of an interrupted turn are not
//! in this stream; nothing here guesses them.

use quipu_event::payload::{RunCompleted, Status, UsageScope};
use serde_json::json;

use super::live::{
    Agents, Growth, Item, ItemKind, Session, Stage, Telling, Thread, Totals, Trouble, TurnEnd,
    retry_facts, take_event, take_tool,
};
use crate::framing::Framing;
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::record::Record;
use crate::registry::{Likeness, Surface};
use crate::value::Fields;

pub(super) const SURFACE: Surface = Surface {
    name: "exec",
    about: "what `codex exec --json` prints",
    framing: Framing::Lines,
    start: || Box::new(Exec::new()),
    likeness,
};

struct Exec {
    opening: Opening,
    thread: Thread,
    thread_id: Option<String>,
    agents: Agents,
}

impl Exec {
    fn new() -> Self {
        Exec {
            opening: Opening::new("codex", "exec"),
            thread: Thread::default(),
            thread_id: None,
            agents: Agents::default(),
        }
    }
}

impl Normalize for Exec {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        let stamp = Stamp::at(fields.time("timestamp"));
        self.opening.begin(stamp.time);
        let Some(kind) = fields.text("type") else {
            return self.take_older(out, &stamp, fields);
        };
        match &*kind {
            "thread.started" | "session.created" => self.begin_thread(out, &stamp, fields),
            "turn.started" => {
                self.opening.put(out);
                self.thread.begin_turn(out, &stamp, "");
            }
            "turn.completed" => self.end_turn(out, &stamp, fields),
            "turn.failed" => self.fail_turn(out, &stamp, fields),
            "item.started" => self.take_item(out, &stamp, fields, Stage::Started),
            "item.updated" => self.take_item(out, &stamp, fields, Stage::Updated),
            "item.completed" => self.take_item(out, &stamp, fields, Stage::Completed),
            "error" => self.take_error(out, &stamp, fields),
            _ => {}
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.opening.put(out);
        self.thread.settle(out);
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.thread.cut_off(out, &Stamp::default());
        let (status, error) = match self.thread.end.take() {
            Some(TurnEnd::Completed) => (Status::Succeeded, None),
            Some(TurnEnd::Failed(message)) => (Status::Failed, Some(message)),
            Some(TurnEnd::Interrupted) | None => (Status::Aborted, None),
        };
        let end = RunCompleted { status: Some(status), error, ..RunCompleted::default() };
        self.opening.complete(out, end);
    }
}

impl Exec {
    fn begin_thread(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>) {
        let id = fields.string("thread_id").or_else(|| fields.string("session_id"));
        if self.opening.is_put() {
            // Another process: its items are numbered from 0 again, its total runs on if it
            // resumes the same thread.
            self.thread.cut_off(out, stamp);
            let before = std::mem::take(&mut self.thread);
            if id == self.thread_id {
                self.thread.meter = before.meter;
            }
            out.system(stamp, "session_started", json!({ "session_id": id }));
        } else {
            self.opening.started.session_id.clone_from(&id);
            self.opening.absorb(out);
            self.opening.put(out);
        }
        self.thread_id = id;
    }

    fn end_turn(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>) {
        self.opening.put(out);
        self.thread.cut_off(out, stamp);
        if let Some(usage) = fields.fields("usage") {
            self.thread.count(out, stamp, UsageScope::Turn, Totals::read(&usage), None);
        }
        self.thread.end_turn(out, stamp, TurnEnd::Completed, None);
    }

    fn fail_turn(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>) {
        self.opening.put(out);
        self.thread.cut_off(out, stamp);
        let trouble = match fields.fields("error") {
            Some(error) => Trouble::of_object(&error),
            None => Trouble::of_message(&fields.text("error").unwrap_or_default()),
        };
        self.thread.fail(out, stamp, &trouble);
        self.thread.end_turn(out, stamp, TurnEnd::Failed(trouble.message), None);
    }

    /// Takes an error, which ends nothing: only `turn.failed` does.
    fn take_error(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>) {
        let message = fields.text("message").unwrap_or_default();
        if let Some(facts) = retry_facts(&message) {
            out.system(stamp, "retry", facts);
        } else if !self.thread.fail(out, stamp, &Trouble::of_message(&message)) {
            out.system(stamp, "repeated", json!({ "topic": "error" }));
        }
    }

    fn take_item(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        fields: &Fields<'_>,
        stage: Stage,
    ) {
        let Some(item) = fields.fields("item").and_then(Item::read) else { return };
        if item.kind != ItemKind::Error {
            self.opening.put(out);
        }
        match item.kind {
            ItemKind::AgentMessage => self.say(out, stamp, Growth::Text, &item, stage),
            ItemKind::Reasoning => self.say(out, stamp, Growth::Thinking, &item, stage),
            ItemKind::Tool(kind) => {
                let (thread, agents) = (&mut self.thread, &mut self.agents);
                take_tool(thread, agents, out, stamp, (kind, &item, stage));
            }
            ItemKind::TodoList => {
                let (steps, completed) = item.todos();
                let facts = json!({ "item_id": item.id, "steps": steps, "completed": completed });
                out.system(stamp, "plan", facts);
            }
            ItemKind::Error => {
                let message = item.fields.string("message");
                out.system(stamp, "notice", json!({ "message": message }));
            }
            // The rest is not known to be printed here.
            _ => {}
        }
    }

    fn say(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        growth: Growth,
        item: &Item<'_>,
        stage: Stage,
    ) {
        match stage {
            Stage::Completed => self.thread.voice.say(out, stamp, &item.id, growth, item.said()),
            Stage::Started => {
                self.thread.voice.grow(out, stamp, &item.id, growth, (0, &item.said()));
            }
            Stage::Updated => self.thread.voice.grow(out, stamp, &item.id, growth, (0, "")),
        }
    }

    /// Takes a record of a version that had no types: a summary of the settings, the prompt, and
    /// then event messages.
    fn take_older(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, fields: &Fields<'_>) {
        if let Some(msg) = fields.fields("msg") {
            return self.take_message(out, stamp, fields, &msg);
        }
        if is_settings(fields) {
            self.opening.started.cwd = fields.string("workdir");
            self.opening.agent.model = fields.string("model");
            self.thread.voice.model = fields.string("model");
            self.opening.absorb(out);
        } else if let Some(prompt) = fields.string("prompt") {
            self.thread.prompt_text(out, stamp, prompt);
        }
    }

    fn take_message(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        fields: &Fields<'_>,
        msg: &Fields<'_>,
    ) {
        let kind = msg.text("type").unwrap_or_default();
        if kind == "session_configured" {
            return self.begin_session(out, stamp, Session::read(msg));
        }
        self.opening.put(out);
        let (thread, agents) = (&mut self.thread, &mut self.agents);
        let submission = &*fields.text("id").unwrap_or_default();
        take_event(&mut Telling { thread, agents, out, stamp, submission }, &kind, msg);
    }

    fn begin_session(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, session: Session) {
        if self.opening.is_put() {
            let facts = json!({ "session_id": session.id, "model": session.model });
            out.system(stamp, "session_started", facts);
        }
        self.thread.voice.model = session.model.or(self.thread.voice.model.take());
        self.thread.meter.has_past = session.has_past;
        self.opening.agent.model.clone_from(&self.thread.voice.model);
        self.opening.started.session_id = session.id;
        self.opening.started.cwd = session.cwd.or(self.opening.started.cwd.take());
        self.opening.absorb(out);
        self.opening.put(out);
    }
}

fn is_settings(fields: &Fields<'_>) -> bool {
    ["workdir", "model", "sandbox"].into_iter().all(|key| fields.has(key))
}

fn likeness(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let Some(kind) = fields.text("type") else {
        let message = fields.fields("msg").filter(|msg| msg.has("type") && fields.has("id"));
        return match message {
            Some(_) => Likeness::Sure,
            None if is_settings(fields) => Likeness::Sure,
            None if fields.has("prompt") && fields.iter().count() == 1 => Likeness::Maybe,
            None => Likeness::No,
        };
    };
    let has_item = || fields.fields("item").is_some_and(|item| item.has("id"));
    match &*kind {
        "item.started" | "item.updated" | "item.completed" if has_item() => Likeness::Sure,
        "thread.started" if fields.has("thread_id") => Likeness::Sure,
        "session.created" if fields.has("session_id") => Likeness::Sure,
        "turn.completed" | "turn.failed" => Likeness::Sure,
        "turn.started" => Likeness::Maybe,
        "error" if fields.has("message") => Likeness::Maybe,
        _ => Likeness::No,
    }
}
