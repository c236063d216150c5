//! The app-server: JSON-RPC over lines, in both directions or as the server alone speaks.
//!
//! The newer protocol tells of `thread/…`, `turn/…` and `item/…`, the older one wraps event
//! messages in `codex/event/…`; some versions speak both at once. Several threads share one
//! connection: the first is the run, the others are its subagents.

mod envelope;
mod items;
mod methods;
mod notices;
mod requests;
mod threads;

use std::collections::HashSet;

use quipu_event::payload::{RunCompleted, Status};
use serde_json::json;

use self::envelope::{Envelope, Shape};
use self::requests::Pending;
use self::threads::{Origin, Threads};
use super::live::{Agents, TurnEnd};
use crate::framing::Framing;
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::record::Record;
use crate::registry::{Likeness, Surface};
use crate::value::Fields;

pub(super) const SURFACE: Surface = Surface {
    name: "app-server",
    about: "what `codex app-server` and its client say to each other",
    framing: Framing::Lines,
    start: || Box::new(AppServer::new()),
    likeness,
};

struct AppServer {
    opening: Opening,
    threads: Threads,
    agents: Agents,
    pending: Pending,
    /// Whether the newer protocol has been heard.
    is_newer: bool,
    /// Whether a compaction was told of as an item.
    compacted: bool,
    /// Items that were told of once and are not worth telling twice.
    told: HashSet<String>,
    /// Why the server would not begin, as it said last.
    refused: Option<String>,
}

impl AppServer {
    fn new() -> Self {
        AppServer {
            opening: Opening::new("codex", "app-server"),
            threads: Threads::default(),
            agents: Agents::default(),
            pending: Pending::default(),
            is_newer: false,
            compacted: false,
            told: HashSet::new(),
            refused: None,
        }
    }
}

impl Normalize for AppServer {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let envelope = Envelope::open(record);
        self.opening.begin(envelope.as_ref().and_then(|envelope| envelope.time));
        let Some(envelope) = envelope else { return };
        match envelope.shape() {
            Shape::Request(method, id) => self.take_request(out, &method, id, &envelope),
            Shape::Response(id) => self.take_response(out, &id, &envelope),
            Shape::Notification(method) => {
                let params = envelope.params();
                let stamp = self.threads.stamp(&thread_id(&params), envelope.time);
                self.take_notice(out, stamp, &method, &params);
            }
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.opening.put(out);
        self.threads.each(|_, thread| thread.settle(out));
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.threads.each(|stamp, thread| thread.cut_off(out, &stamp));
        let refused = self.refused.take().filter(|_| self.threads.main().is_none());
        let main = self.threads.main().unwrap_or_default().to_owned();
        let thread = &self.threads.get(&main).thread;
        let (status, error) = match &thread.end {
            Some(TurnEnd::Completed) => (Status::Succeeded, None),
            Some(TurnEnd::Failed(message)) => {
                (Status::Failed, Some(message.clone()).filter(|message| !message.is_empty()))
            }
            Some(TurnEnd::Interrupted) => (Status::Aborted, None),
            None if thread.is_in_turn() => (Status::Aborted, None),
            None if refused.is_some() => (Status::Failed, refused),
            // A connection has no end of its own.
            None => (Status::Succeeded, None),
        };
        let end = RunCompleted { status: Some(status), error, ..RunCompleted::default() };
        self.opening.complete(out, end);
    }
}

impl AppServer {
    /// Returns the thread that a notification is about, which now has the word.
    fn thread_of(&mut self, out: &mut Outbox<'_>, params: &Fields<'_>) -> String {
        let id = thread_id(params);
        if self.threads.claim(&id) && !id.is_empty() {
            self.opening.started.session_id.get_or_insert_with(|| id.clone());
        }
        self.opening.put(out);
        self.threads.rest_others(out, &id);
        id
    }

    /// Takes `thread/started`.
    fn take_thread(&mut self, out: &mut Outbox<'_>, stamp: &Stamp, params: &Fields<'_>) {
        let thread = params.fields("thread").unwrap_or_default();
        let id = thread.string("id").unwrap_or_default();
        let is_put = self.opening.is_put();
        let is_known = self.threads.main() == Some(&*id);
        let is_main = self.note_thread(&thread, &Fields::default());
        if is_main && !is_put {
            self.opening.absorb(out);
            return self.opening.put(out);
        }
        let stamp = &self.threads.stamp(&id, stamp.time);
        if is_main && is_known {
            return out.system(stamp, "repeated", json!({ "session_id": id }));
        }
        let name = thread.string("agentNickname").or_else(|| thread.string("agentRole"));
        let is_child = thread.get("parentThreadId").is_some();
        if is_child && self.agents.start(out, stamp, &id, None, name.as_deref()) {
            return;
        }
        let facts = json!({ "session_id": id, "cwd": thread.string("cwd"), "name": name });
        out.system(stamp, "session_started", facts);
    }

    /// Takes an answer that describes the thread which is begun or resumed; returns whether it
    /// was one.
    fn take_thread_answer(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        method: Option<&str>,
        result: &Fields<'_>,
    ) -> bool {
        let is_asked = match method {
            Some(method) => methods::asked(method) == methods::Asked::Opening,
            // Only these answers have the model beside the thread.
            None => result.has("model"),
        };
        let thread = result.fields("thread").or_else(|| {
            // The first protocol has but an id.
            let conversation = result.has("conversationId") && result.has("model");
            conversation.then(|| result.clone())
        });
        let Some(thread) = thread.filter(|_| is_asked) else { return false };
        let is_put = self.opening.is_put();
        let is_main = self.note_thread(&thread, result);
        let id = thread_name(&thread);
        let has_past = self.threads.get(&id).origin == Origin::Resumed
            || method.is_some_and(|method| !matches!(method, "thread/start" | "newConversation"));
        if has_past {
            self.threads.get(&id).origin = Origin::Resumed;
        }
        if !is_main || is_put {
            let facts = json!({ "session_id": id, "model": result.string("model") });
            out.system(stamp, "session_started", facts);
            return true;
        }
        self.opening.absorb(out);
        if has_past {
            // Nothing else tells that a thread goes on.
            self.opening.put(out);
        }
        true
    }

    /// Notes what is said of a thread; returns whether it is the main one.
    fn note_thread(&mut self, thread: &Fields<'_>, beside: &Fields<'_>) -> bool {
        let id = thread_name(thread);
        let is_main = self.threads.claim(&id);
        let model = beside.string("model").or_else(|| thread.string("model"));
        let has_past = thread.get("forkedFromId").is_some()
            || !thread.items("turns").is_empty()
            || thread.text("preview").is_some_and(|preview| !preview.is_empty());
        let state = self.threads.get(&id);
        if state.origin == Origin::Unknown {
            state.origin = if has_past { Origin::Resumed } else { Origin::New };
        }
        state.thread.voice.model = model.clone().or(state.thread.voice.model.take());
        if is_main {
            let cwd = beside.string("cwd").or_else(|| thread.string("cwd"));
            let version = thread.string("cliVersion");
            let (started, agent) = (&mut self.opening.started, &mut self.opening.agent);
            started.session_id = Some(id).filter(|id| !id.is_empty());
            started.cwd = cwd.or(started.cwd.take());
            agent.model = model.or(agent.model.take());
            agent.cli_version = version.or(agent.cli_version.take());
        }
        is_main
    }
}

fn thread_id(params: &Fields<'_>) -> String {
    let keys = ["threadId", "conversationId", "thread_id"];
    keys.into_iter().find_map(|key| params.string(key)).unwrap_or_default()
}

fn thread_name(thread: &Fields<'_>) -> String {
    let keys = ["id", "conversationId"];
    keys.into_iter().find_map(|key| thread.string(key)).unwrap_or_default()
}

fn likeness(record: &Record<'_>) -> Likeness {
    let Some(envelope) = Envelope::open(record) else { return Likeness::No };
    let is_plain = !envelope.message.has("jsonrpc");
    match envelope.shape() {
        Shape::Request(method, _) | Shape::Notification(method) => match () {
            () if methods::is_ours_alone(&method) => Likeness::Sure,
            () if is_plain && methods::noted_as(&method).is_some() => Likeness::Maybe,
            () if is_plain && methods::asked(&method) != methods::Asked::Nothing => Likeness::Maybe,
            () => Likeness::No,
        },
        Shape::Response(_) => {
            let result = envelope.message.fields("result").unwrap_or_default();
            match () {
                () if ["codexHome", "thread", "turn"].iter().any(|key| result.has(key)) => {
                    Likeness::Sure
                }
                () if is_plain => Likeness::Maybe,
                () => Likeness::No,
            }
        }
    }
}
