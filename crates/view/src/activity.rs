//! What a run is doing: who works where, what was done last, and whether a person is waited for.
//!
//! The fold itself knows no time: [`Activity::state`] is asked with one. What has ended is
//! forgotten, and of texts only the gist is kept, so an activity stays small however long the run.

mod action;
mod open;
mod state;

use quipu_event::payload::{
    Agent, Message, RunCompleted, RunKind, RunStarted, Status, StepStarted, System, TokenCounts,
};
use quipu_event::{BlockContent, Event, Kind, Payload, RunId, Timestamp};
use serde::Deserialize;

use crate::reading::{read, step_path};
use action::gist;
use open::{OpenCall, OpenWork};

pub use action::Action;
pub use state::{State, Writer};

/// What one run is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// Which run: that of the first event.
    pub run_id: Option<RunId>,
    /// The run that called it.
    pub parent_run_id: Option<RunId>,
    /// What sort of thing it is.
    pub kind: Option<RunKind>,
    /// Its name.
    pub name: Option<String>,
    /// The agent's own name for its session.
    pub session_id: Option<String>,
    /// Whose agent is, or was last, at work.
    pub agent: Option<String>,
    /// The model that it asks.
    pub model: Option<String>,
    /// Where it runs.
    pub cwd: Option<String>,
    /// When its first event happened.
    pub started: Option<Timestamp>,
    /// When its last event happened.
    pub latest: Option<Timestamp>,
    /// The sum over its `usage` events.
    pub usage: TokenCounts,
    /// Whether it is made from files that an agent wrote for itself.
    ///
    /// Such a run is ended whenever its collector stops to listen, which says nothing of the agent.
    pub is_collected: bool,
    /// How far the agent is in its turn.
    phase: Phase,
    /// What was done last, and when.
    last: Action,
    last_at: Option<Timestamp>,
    open: OpenWork,
}

/// How far an agent is in its turn, as far as events say.
#[derive(Clone, Debug, Default, PartialEq)]
enum Phase {
    /// It is its turn.
    #[default]
    Busy,
    /// It has spoken, and did not say whether it has more to say.
    Spoke,
    /// It is somebody else's turn.
    TurnEnded,
    /// The run has ended.
    Ended(Status),
}

impl Activity {
    /// Takes the next event.
    pub fn add(&mut self, event: &Event) {
        if self.run_id.is_none() {
            self.run_id = Some(event.run_id.clone());
            self.started = Some(event.timestamp);
        }
        // Some writers put a child run's events among its caller's.
        let is_own = self.run_id.as_ref() == Some(&event.run_id);
        if is_own && self.parent_run_id.is_none() {
            self.parent_run_id.clone_from(&event.parent_run_id);
        }
        self.is_collected |= event.origin.is_some();
        self.latest = self.latest.max(Some(event.timestamp));
        if event.kind == Kind::ToolResult {
            return self.note_result(event);
        }
        match read(event).payload {
            Payload::RunCreated(run) if is_own => self.note_name(run.name, run.kind),
            Payload::RunStarted(run) if is_own => self.begin(*run),
            Payload::RunCompleted(run) if is_own => self.end(event, *run),
            Payload::StepStarted(step) => self.begin_step(event, &step),
            Payload::StepCompleted(step) => {
                let path = step_path(event, &step.name);
                self.open.end_step(&path);
                let status = step.status.unwrap_or(Status::Succeeded);
                self.note(event, Action::StepEnded { path, status });
            }
            Payload::Message(message) => self.note_message(event, message),
            Payload::ToolCall(call) => {
                self.go_on(event);
                self.open.begin_call(OpenCall::new(event, *call));
            }
            Payload::Usage(usage) => {
                self.note_model(event, usage.model.as_deref());
                self.usage.add(&usage.tokens());
            }
            Payload::System(system) => self.note_system(event, &system),
            Payload::Error(error) => {
                if self.speaks(event) && !error.retryable {
                    self.end_turn();
                }
                self.note(event, Action::Failed(gist(&error.message)));
            }
            _ => {}
        }
    }

    /// Returns what is being done, or was done last.
    pub fn action(&self) -> Action {
        if matches!(self.phase, Phase::Ended(_)) {
            return self.last.clone();
        }
        if let Some(call) = self.open.question().or_else(|| self.open.last_call()) {
            return call.action();
        }
        match (&self.last, self.open.last_step()) {
            (Action::StepEnded { .. } | Action::Nothing, Some(step)) => step.action(),
            (last, _) => last.clone(),
        }
    }

    /// Returns since when it is as it is.
    pub fn since(&self) -> Option<Timestamp> {
        if matches!(self.phase, Phase::Ended(_)) {
            return self.last_at;
        }
        let call = self.open.question().or_else(|| self.open.last_call());
        call.map(|call| call.since).or(self.last_at).or(self.started)
    }

    /// Returns what it works on: the last part of the directory for an agent's session, the name
    /// for a workflow.
    pub fn project(&self) -> Option<&str> {
        let name = self.name.as_deref();
        let cwd = self.cwd.as_deref().map(|cwd| cwd.trim_end_matches(['/', '\\']));
        let folder = cwd.and_then(|cwd| cwd.rsplit(['/', '\\']).next());
        let folder = folder.filter(|folder| !folder.is_empty());
        match self.kind {
            Some(RunKind::Workflow) => name.or(folder),
            _ => folder.or(name),
        }
    }

    /// Tells whether a tool is at work or a person has been asked something, so that silence says
    /// nothing.
    pub fn has_open_call(&self) -> bool {
        self.open.last_call().is_some() || self.open.question().is_some()
    }

    fn note_name(&mut self, name: String, kind: RunKind) {
        if !name.is_empty() {
            self.name.get_or_insert(name);
        }
        self.kind.get_or_insert(kind);
    }

    fn begin(&mut self, run: RunStarted) {
        self.note_agent(run.agent);
        self.note_name(run.name, run.kind);
        self.cwd = run.cwd.or(self.cwd.take());
        self.session_id = run.session_id.or(self.session_id.take());
        if let Phase::Ended(_) = self.phase {
            self.phase = Phase::Busy;
        }
    }

    fn end(&mut self, event: &Event, run: RunCompleted) {
        self.note_name(run.name, run.kind);
        if self.is_collected {
            return;
        }
        let status = run.status.unwrap_or(Status::Succeeded);
        self.open.clear();
        self.phase = Phase::Ended(status);
        match run.error.filter(|error| !error.is_empty()) {
            Some(error) => self.note(event, Action::Failed(gist(&error))),
            None => self.last_at = Some(event.timestamp),
        }
    }

    fn begin_step(&mut self, event: &Event, step: &StepStarted) {
        self.note_agent(step.agent.clone());
        self.phase = Phase::Busy;
        let path = step_path(event, &step.name);
        let action = self.open.begin_step(path, step);
        self.note(event, action);
    }

    fn note_agent(&mut self, agent: Option<Agent>) {
        let Some(agent) = agent else { return };
        self.agent = agent.label().map(str::to_owned).or(self.agent.take());
        self.model = agent.model.or(self.model.take());
    }

    fn note_model(&mut self, event: &Event, model: Option<&str>) {
        // What an agent says in a model's place has no model, and some write that as `<…>`.
        let model = model.filter(|model| !model.is_empty() && !model.starts_with('<'));
        if let Some(model) = model.filter(|model| self.model.as_deref() != Some(*model))
            && event.source.is_none()
        {
            self.model = Some(model.to_owned());
        }
    }

    fn note_message(&mut self, event: &Event, message: Message) {
        let text = spoken(&message);
        if event.kind == Kind::MessageUser {
            // What a tool answered is not said by anybody.
            if text.is_some() && event.source.is_none() {
                self.go_on(event);
                self.open.end_calls(&event.path);
                self.note(event, Action::Prompted(gist(text.unwrap_or_default())));
            }
            return;
        }
        self.note_model(event, message.model.as_deref());
        self.open.answer_loose();
        if event.source.is_none() {
            self.phase = match message.stop_reason.as_deref() {
                Some("tool_use" | "tool_calls" | "pause_turn") => Phase::Busy,
                None if asks_for_tools(&message) => Phase::Busy,
                _ if !self.speaks(event) => Phase::Busy,
                None => Phase::Spoke,
                Some(_) => Phase::TurnEnded,
            };
        }
        if let Some(text) = text {
            self.note(event, Action::Wrote(gist(text)));
        } else if !matches!(self.last, Action::Wrote(_)) {
            self.note(event, Action::Thinking);
        }
    }

    /// Takes a result by its head alone: what a tool answers may be very long.
    fn note_result(&mut self, event: &Event) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Head {
            call_id: String,
            name: String,
        }
        let head: Head = event.payload.decode().unwrap_or_default();
        let call = self.open.end_call(&event.path, &head.call_id);
        self.go_on(event);
        let (tool, about) = call.map_or((head.name, None), |call| (call.tool, call.about));
        self.note(event, Action::Called { tool, about });
    }

    fn note_system(&mut self, event: &Event, system: &System) {
        let fact = |name: &str| system.facts.get(name).and_then(|fact| fact.as_str());
        let call_id = fact("tool_id").or_else(|| fact("call_id"));
        match system.subtype.as_str() {
            "turn_started" => self.go_on(event),
            "turn_completed" if self.speaks(event) => self.end_turn(),
            "interrupted" if self.speaks(event) => {
                self.end_turn();
                self.note(event, Action::Interrupted);
            }
            "session_started" if matches!(self.phase, Phase::Ended(_)) => self.phase = Phase::Busy,
            "session_ended" if self.speaks(event) => {
                self.open.clear();
                self.phase = Phase::Ended(Status::Succeeded);
                self.last_at = Some(event.timestamp);
            }
            "permission_requested" | "input_requested" => {
                let about = fact("message").or_else(|| fact("reason")).map(gist);
                self.open.need(event, call_id, about);
            }
            "permission_granted"
            | "permission_denied"
            | "permission_answered"
            | "answered"
            | "input_given"
            | "tool_started" => self.open.answer(&event.path, call_id),
            _ => {}
        }
    }

    /// Tells whether whoever made the event speaks with a person: neither a subagent, nor an agent
    /// that is a step of something larger.
    fn speaks(&self, event: &Event) -> bool {
        event.source.is_none() && event.path.is_root() && self.kind != Some(RunKind::Workflow)
    }

    fn go_on(&mut self, event: &Event) {
        if event.source.is_none() {
            self.phase = Phase::Busy;
        }
    }

    fn end_turn(&mut self) {
        self.phase = Phase::TurnEnded;
        self.open.clear();
    }

    fn note(&mut self, event: &Event, action: Action) {
        self.last = action;
        self.last_at = Some(event.timestamp);
    }
}

/// Returns what a message says in words: the last of its texts.
fn spoken(message: &Message) -> Option<&str> {
    message.blocks.iter().rev().find_map(|block| match &block.content {
        BlockContent::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    })
}

fn asks_for_tools(message: &Message) -> bool {
    message.blocks.iter().any(|block| matches!(block.content, BlockContent::ToolUse { .. }))
}
