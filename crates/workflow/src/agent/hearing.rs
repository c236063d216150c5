//! What is heard of an agent: each draft is recorded at the step, and what the step comes to is noted.
//!
//! The beginning and end that a normaliser gives to an agent's session are facts of the step here, not
//! a run's. It does not read bytes and does not decide whether the step succeeded.

use std::collections::HashSet;
use std::sync::Arc;

use quipu_event::payload::{RunCompleted, RunStarted, Status, System, TokenCounts, Usage};
use quipu_event::{BlockContent, Draft, Kind, Payload};
use serde_json::{Map, Value, json};

use super::desk::Desk;
use super::proxy::Links;

/// Listens to one answer.
pub(super) struct Hearing<'d> {
    desk: &'d Desk,
    manner: Manner,
    heard: Heard,
    /// Calls of ours that are spoken of in what is heard next.
    ours: HashSet<String>,
}

/// What is to be known of an agent to hear it right.
#[derive(Clone, Debug, Default)]
pub(super) struct Manner {
    /// Which turn of a conversation this is.
    pub(super) turn: Option<u64>,
    /// The prompt as the agent got it, to know it again.
    pub(super) sent: String,
    /// Whether only the last of several texts is the answer: each is a message of its own.
    pub(super) last_text_only: bool,
    /// What the session had used up before, if the agent counts it again.
    pub(super) counted_before: Option<TokenCounts>,
    /// Whether its tools are called by us, so that its own word for it is not needed.
    pub(super) calls_are_ours: bool,
    /// The calls that reach us by another way, if it is given tools of ours.
    pub(super) links: Option<Arc<Links>>,
}

/// What has been heard.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Heard {
    /// The last thing the main agent said.
    pub(super) text: Option<String>,
    /// What the agent itself calls its answer.
    pub(super) result: Option<String>,
    /// Its session.
    pub(super) session: Option<String>,
    /// Its model.
    pub(super) model: Option<String>,
    /// The sum of its usage.
    pub(super) usage: TokenCounts,
    /// How it says that it ended.
    pub(super) end: Option<Status>,
    /// Why it says that it failed.
    pub(super) error: Option<String>,
    /// The last error it told of.
    pub(super) last_error: Option<String>,
    /// How many calls are without an answer.
    pub(super) open_calls: usize,
    /// Whether anything of it was understood.
    pub(super) is_understood: bool,
    last_message: Option<String>,
    has_replied: bool,
}

impl<'d> Hearing<'d> {
    pub(super) fn new(desk: &'d Desk, manner: Manner) -> Self {
        Hearing { desk, manner, heard: Heard::default(), ours: HashSet::new() }
    }

    /// Returns how the agent says that it ended, and forgets it: there may be another end.
    pub(super) fn take_end(&mut self) -> (Option<Status>, Option<String>) {
        (self.heard.end.take(), self.heard.error.take())
    }

    /// Returns what has been heard.
    pub(super) fn finish(self) -> Heard {
        self.heard
    }

    /// Looks at drafts that came together, before they are taken one by one.
    pub(super) fn look_ahead<'a>(&mut self, drafts: impl Iterator<Item = &'a Draft>) {
        if let Some(links) = &self.manner.links {
            self.ours = links.ours_among(drafts);
        }
    }

    /// Takes the end of the stream.
    pub(super) fn close(&mut self) {
        if let Some(links) = self.manner.links.clone() {
            self.record_all(links.close());
        }
    }

    /// Records drafts, and leaves none to be recorded.
    fn record_all(&self, drafts: Vec<Draft>) -> Option<Draft> {
        drafts.into_iter().for_each(|draft| self.desk.record(draft));
        None
    }

    /// Takes the next draft.
    pub(super) fn take(&mut self, draft: Draft) {
        let draft = match draft.kind {
            Kind::RunStarted => self.session_started(draft),
            Kind::RunCompleted => self.session_completed(draft),
            Kind::MessageUser => Some(self.said_to(draft)),
            Kind::MessageAssistant => Some(self.said_by(draft)),
            Kind::ToolCall => {
                self.heard.open_calls += 1;
                match self.manner.links.clone() {
                    Some(links) => self.record_all(links.called(draft)),
                    None => (!self.manner.calls_are_ours).then_some(draft),
                }
            }
            Kind::ToolResult => {
                self.heard.open_calls = self.heard.open_calls.saturating_sub(1);
                match self.manner.links.clone() {
                    Some(links) => self.record_all(links.ended(draft)),
                    None => Some(draft),
                }
            }
            Kind::Usage => Some(self.used(draft)),
            Kind::System => Some(self.noted(draft)),
            Kind::Error => Some(self.failed(draft)),
            _ => Some(draft),
        };
        if let Some(draft) = draft {
            self.desk.record(draft);
        }
    }

    fn session_started(&mut self, draft: Draft) -> Option<Draft> {
        let started: RunStarted = draft.payload.decode().unwrap_or_default();
        let agent = started.agent.unwrap_or_default();
        self.hear_session(started.session_id.as_deref());
        self.hear_model(agent.model.as_deref());
        let facts = json!({
            "provider": agent.provider,
            "adapter": agent.adapter,
            "session_id": started.session_id,
            "model": agent.model,
            "cwd": started.cwd,
            "cli_version": agent.cli_version,
        });
        self.as_fact(draft, "session_started", facts)
    }

    fn session_completed(&mut self, draft: Draft) -> Option<Draft> {
        let end: RunCompleted = draft.payload.decode().unwrap_or_default();
        let mut facts = match end.result.as_ref().map(quipu_event::Json::decode) {
            Some(Ok(Value::Object(facts))) => facts,
            _ => Map::new(),
        };
        // The answer stands in the last message already.
        if let Some(Value::String(answer)) = facts.remove("output") {
            self.heard.result = Some(answer);
        }
        self.hear_session(facts.get("session_id").and_then(Value::as_str));
        facts.insert("status".to_owned(), json!(end.status.as_ref().map(Status::as_str)));
        facts.insert("error".to_owned(), json!(end.error));
        facts.insert("duration_ms".to_owned(), json!(end.duration_ms));
        self.heard.end = end.status;
        self.heard.error = end.error;
        self.as_fact(draft, "session_completed", Value::Object(facts))
    }

    /// Makes a `system` draft in place of another; a session of ours needs none without bytes.
    fn as_fact(&self, draft: Draft, subtype: &str, mut facts: Value) -> Option<Draft> {
        if self.manner.calls_are_ours && draft.raw.is_none() {
            return None;
        }
        if let Value::Object(facts) = &mut facts {
            facts.retain(|_, fact| !fact.is_null());
        }
        let fact = Draft::system(subtype, facts).ok()?;
        Some(Draft { kind: fact.kind, payload: fact.payload, ..draft })
    }

    /// Takes what was said to an agent. Our own prompt is recorded already.
    fn said_to(&mut self, draft: Draft) -> Draft {
        let is_ours = draft.source.is_none() && !self.heard.has_replied && {
            let text = texts(&draft).join("\n");
            let (text, sent) = (text.trim(), self.manner.sent.trim());
            text == sent || !text.is_empty() && (sent.contains(text) || text.contains(sent))
        };
        if !is_ours {
            return draft;
        }
        match Draft::system("prompt_echo", Value::Null) {
            Ok(echo) => Draft { kind: echo.kind, payload: echo.payload, ..draft },
            Err(_) => draft,
        }
    }

    fn said_by(&mut self, draft: Draft) -> Draft {
        let Ok(Payload::Message(message)) = Payload::decode(&draft.kind, &draft.payload) else {
            return draft;
        };
        if draft.source.is_none() {
            self.heard.has_replied = true;
            self.hear_model(message.model.as_deref());
            let texts = texts(&draft);
            let text = match self.manner.last_text_only {
                true => texts.last().cloned(),
                false => Some(texts.join("\n")).filter(|text| !text.is_empty()),
            };
            // A reply that fell silent for a while goes on in a second event with the same id.
            let goes_on = message.message_id.is_some()
                && message.message_id == self.heard.last_message
                && !self.manner.last_text_only;
            match (text, &mut self.heard.text) {
                (Some(more), Some(before)) if goes_on => {
                    before.push('\n');
                    before.push_str(&more);
                }
                (Some(text), before) => *before = Some(text),
                (None, _) => {}
            }
            self.heard.last_message = message.message_id;
        }
        let draft = match &self.manner.links {
            Some(links) => links.said(draft, &self.ours),
            None => draft,
        };
        match self.manner.turn {
            Some(turn) => with_turn(draft, turn),
            None => draft,
        }
    }

    fn used(&mut self, draft: Draft) -> Draft {
        let mut usage: Usage = draft.payload.decode().unwrap_or_default();
        let before = self.manner.counted_before.take().filter(|_| draft.source.is_none());
        let draft = match before {
            Some(before) => {
                subtract(&mut usage, &before);
                match Draft::new(Kind::Usage, &usage) {
                    Ok(less) => Draft { payload: less.payload, ..draft },
                    Err(_) => draft,
                }
            }
            None => draft,
        };
        self.heard.usage.add(&usage.tokens());
        self.hear_model(usage.model.as_deref());
        draft
    }

    fn noted(&mut self, draft: Draft) -> Draft {
        let system: System = draft.payload.decode().unwrap_or_default();
        if matches!(system.subtype.as_str(), "session_started" | "session_ended") {
            self.hear_session(system.facts.get("session_id").and_then(Value::as_str));
        }
        draft
    }

    fn failed(&mut self, draft: Draft) -> Draft {
        if let Ok(Payload::Error(report)) = Payload::decode(&draft.kind, &draft.payload) {
            self.heard.last_error = Some(report.message).filter(|message| !message.is_empty());
        }
        draft
    }

    fn hear_session(&mut self, session: Option<&str>) {
        if let Some(session) = session.filter(|session| !session.is_empty()) {
            self.heard.session = Some(session.to_owned());
        }
    }

    fn hear_model(&mut self, model: Option<&str>) {
        // A model in angle brackets is none: the agent itself spoke.
        if let Some(model) = model.filter(|model| !model.is_empty() && !model.starts_with('<')) {
            self.heard.model.get_or_insert_with(|| model.to_owned());
        }
    }
}

fn texts(draft: &Draft) -> Vec<String> {
    let Ok(Payload::Message(message)) = Payload::decode(&draft.kind, &draft.payload) else {
        return Vec::new();
    };
    let texts = message.blocks.into_iter().filter_map(|block| match block.content {
        BlockContent::Text { text } => Some(text),
        _ => None,
    });
    texts.filter(|text| !text.is_empty()).collect()
}

/// Adds the turn to a message, without touching anything else of it.
fn with_turn(draft: Draft, turn: u64) -> Draft {
    let payload = draft.payload.as_str();
    let Some(open) = payload.strip_suffix('}').filter(|open| open.len() > 1) else { return draft };
    match quipu_event::Json::parse(&format!("{open},\"turn\":{turn}}}")) {
        Ok(payload) => Draft { payload, ..draft },
        Err(_) => draft,
    }
}

fn subtract(usage: &mut Usage, before: &TokenCounts) {
    let less = |count: &mut Option<u64>, before: Option<u64>| {
        *count = count.map(|count| count.saturating_sub(before.unwrap_or(0)));
    };
    less(&mut usage.input_tokens, before.input_tokens);
    less(&mut usage.output_tokens, before.output_tokens);
    less(&mut usage.cache_read_tokens, before.cache_read_tokens);
    less(&mut usage.cache_write_tokens, before.cache_write_tokens);
    less(&mut usage.reasoning_tokens, before.reasoning_tokens);
}
