//! Rollouts → drafts.
//!
//! Text, reasoning and calls come from the Responses items, prompts and turns from the agent's
//! own events, tokens from either; what one of the two leaves out is taken from the other. What a
//! thread inherited from another one is named as such and neither said nor paid again. Compressed
//! files are unpacked elsewhere.

mod events;
mod items;
mod lineage;
mod outcome;
mod prompts;
mod session;
mod speech;
mod tokens;
mod turn_items;
mod twins;
mod wire;

use std::collections::{HashMap, HashSet};

use quipu_event::payload::{RunCompleted, Status};
use quipu_event::{Json, Timestamp};
use serde_json::json;

use self::lineage::Lineage;
use self::outcome::Outcome;
use self::speech::Speech;
use self::tokens::TokenLedger;
use self::wire::{Line, LineKind, Tokens};
use crate::calls::Calls;
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::record::Record;
use crate::value::Fields;

pub(super) use self::wire::likeness;

/// So many inherited lines wait for the model of the thread itself to be named.
const INHERITED_HELD: u32 = 4_096;

/// The state of one rollout.
pub(super) struct Rollout {
    opening: Opening,
    lineage: Lineage,
    speech: Speech,
    calls: Calls,
    /// How calls ended, as events tell before the model is told.
    outcomes: HashMap<String, Outcome>,
    ledger: TokenLedger,
    turn: Turn,
    /// The model of the latest settings.
    model: Option<String>,
    /// What was last reported as an error.
    last_error: Option<String>,
    /// A web search of which an event has told and whose item may leave out everything.
    search: Option<(String, Option<Json>)>,
    ended_agents: HashSet<String>,
    has_session: bool,
    /// The thread, if another one began it.
    agent_id: Option<String>,
    inherited: u32,
    unnamed_calls: u32,
}

/// How the latest turn stands.
#[derive(Default)]
enum Turn {
    /// No turn was ever announced; older versions do not.
    #[default]
    Unheard,
    Running,
    Completed,
    Failed(String),
    Interrupted,
}

impl Rollout {
    /// Makes the state before the first line.
    pub(super) fn new() -> Self {
        Rollout {
            opening: Opening::new("codex", "rollout"),
            lineage: Lineage::default(),
            speech: Speech::default(),
            calls: Calls::default(),
            outcomes: HashMap::new(),
            ledger: TokenLedger::default(),
            turn: Turn::default(),
            model: None,
            last_error: None,
            search: None,
            ended_agents: HashSet::new(),
            has_session: false,
            agent_id: None,
            inherited: 0,
            unnamed_calls: 0,
        }
    }

    fn take_line(&mut self, line: &Line<'_>, out: &mut Outbox<'_>) {
        let (stamp, payload) = (self.stamp(line.time), &line.payload);
        if line.kind == LineKind::SessionMeta && !self.has_session {
            return self.begin_session(payload, &stamp, out);
        }
        if self.lineage.is_inherited(line) {
            return self.inherit(line, &stamp, out);
        }
        if line.kind != LineKind::Event {
            self.release(out);
        }
        match line.kind {
            LineKind::ResponseItem => self.take_item(payload, &stamp, out),
            LineKind::Event => self.take_event(payload, &stamp, out),
            LineKind::TurnContext => self.take_turn_context(payload, &stamp, out),
            LineKind::TokenUsageRecord => self.take_token_record(payload, &stamp, out),
            LineKind::SessionMeta => self.take_other_session(payload, &stamp, out),
            LineKind::Compacted => self.take_compaction(payload, &stamp, out),
            LineKind::Noted(kind) => out.system(&stamp, "metadata", json!({ "topic": kind })),
        }
    }

    /// Takes a line of the format before 0.32.
    fn take_bare(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        let stamp = self.stamp(fields.time("timestamp"));
        if wire::is_bare_header(fields) {
            if self.has_session {
                return self.take_other_session(fields, &stamp, out);
            }
            return self.begin_session(fields, &stamp, out);
        }
        match fields.text("record_type").as_deref() {
            Some("state") => out.system(&stamp, "metadata", json!({ "topic": "state" })),
            _ => self.take_bare_item(fields, &stamp, out),
        }
    }

    /// Takes a line that was copied from another thread.
    ///
    /// Its totals are where the thread's own begin, its model is the thread's until told otherwise.
    fn inherit(&mut self, line: &Line<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let payload = &line.payload;
        match line.kind {
            LineKind::TurnContext => self.model = payload.string("model").or(self.model.take()),
            LineKind::TokenUsageRecord => _ = self.ledger.take_record(payload),
            LineKind::Event => _ = payload.fields("info").map(|info| self.ledger.take_event(&info)),
            _ => {}
        }
        let kind = payload.text("type").unwrap_or_else(|| line.kind.name().into());
        out.system(stamp, "inherited", json!({ "topic": kind }));
        self.inherited += 1;
        if self.inherited == INHERITED_HELD {
            self.begin_work(out);
        }
    }

    fn take_token_record(&mut self, record: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        match self.ledger.take_record(record) {
            Some(tokens) => self.pay(tokens, stamp, out),
            None => out.system(stamp, "metadata", json!({ "topic": "token_usage_record" })),
        }
    }

    fn pay(&mut self, tokens: Tokens, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.begin_work(out);
        self.speech.cost(out, stamp, tokens::usage(tokens, self.model.as_deref()));
    }

    /// A summary has replaced the history; what it replaced was said before and is not said again.
    fn take_compaction(&mut self, compacted: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.speech.end(out);
        let facts = json!({
            "window_number": compacted.count("window_number"),
            "kept_items": compacted.get("replacement_history").map(|list| list.items().len()),
        });
        out.system(stamp, "compaction", facts);
    }

    /// Returns who the thread is, at `time`.
    fn stamp(&self, time: Option<Timestamp>) -> Stamp {
        match &self.agent_id {
            Some(id) => Stamp::of_subagent(id, time),
            None => Stamp::at(time),
        }
    }

    /// Puts the message held back, as a prompt or as what was injected.
    fn release(&mut self, out: &mut Outbox<'_>) {
        if self.speech.prompts.awaits() {
            self.forget_turn();
        }
        self.speech.release(out);
    }

    /// Puts `run.started` now that work has begun, with what is known.
    fn begin_work(&mut self, out: &mut Outbox<'_>) {
        if !self.opening.is_put() {
            self.opening.agent.model.clone_from(&self.model);
            self.opening.put(out);
        }
    }

    /// Forgets how the turn before a prompt ended; older versions announce no new one.
    fn forget_turn(&mut self) {
        if !matches!(self.turn, Turn::Running) {
            self.turn = Turn::Unheard;
        }
    }

    fn end(&self) -> RunCompleted {
        let (status, error) = match &self.turn {
            Turn::Completed => (Status::Succeeded, None),
            Turn::Failed(message) => (Status::Failed, Some(message.clone())),
            Turn::Running | Turn::Interrupted => (Status::Aborted, None),
            Turn::Unheard if self.calls.any_open() => (Status::Aborted, None),
            Turn::Unheard => (Status::Succeeded, None),
        };
        RunCompleted { status: Some(status), error, ..RunCompleted::default() }
    }
}

impl Normalize for Rollout {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        match Line::read(&record.fields) {
            Some(line) => {
                self.opening.begin(line.time);
                self.take_line(&line, out);
            }
            None => {
                self.opening.begin(record.fields.time("timestamp"));
                self.take_bare(&record.fields, out);
            }
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.begin_work(out);
        self.release(out);
        self.speech.end(out);
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.release(out);
        self.speech.end(out);
        self.calls.finish(out);
        self.opening.complete(out, self.end());
    }
}
