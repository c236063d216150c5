//! What has begun and not ended: calls, questions to a person, steps.

use quipu_event::payload::{StepStarted, ToolCall};
use quipu_event::{BlockContent, Event, StepPath, Timestamp};

use super::action::{Action, gist, telling};

/// More than so many are not remembered; the oldest are forgotten first.
const MOST: usize = 256;

/// The tools with which agents ask a person something.
const QUESTIONS: [&str; 6] = [
    "AskUserQuestion",
    "ExitPlanMode",
    "ask_user",
    "ask_followup_question",
    "exit_plan_mode",
    "request_user_input",
];

/// What has begun and not ended, in the order in which it began.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OpenWork {
    calls: Vec<OpenCall>,
    steps: Vec<OpenStep>,
}

/// A call without a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenCall {
    id: String,
    path: StepPath,
    pub(super) tool: String,
    pub(super) about: Option<String>,
    pub(super) since: Timestamp,
    need: Need,
}

/// What a call needs a person for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// For nothing.
    Nothing,
    /// It is a question itself.
    Answer,
    /// It may not begin without permission.
    Permission,
}

/// A step that runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenStep {
    path: StepPath,
    about: Option<String>,
}

impl OpenCall {
    pub(super) fn new(event: &Event, call: ToolCall) -> Self {
        let is_question = QUESTIONS.contains(&call.name.as_str());
        OpenCall {
            about: telling(&call.input),
            id: call.call_id,
            path: event.path.clone(),
            tool: call.name,
            since: event.timestamp,
            need: if is_question { Need::Answer } else { Need::Nothing },
        }
    }

    /// Tells whether it is the call `id` of the step at `path`: another step may use the same id.
    fn is(&self, path: &StepPath, id: &str) -> bool {
        self.id == id && self.path == *path
    }

    pub(super) fn action(&self) -> Action {
        let (tool, about) = (self.tool.clone(), self.about.clone());
        match self.need {
            Need::Nothing => Action::Calling { tool, about },
            Need::Answer => Action::Asking { about },
            Need::Permission => Action::NeedsPermission { tool, about },
        }
    }
}

impl OpenStep {
    pub(super) fn action(&self) -> Action {
        Action::Step { path: self.path.clone(), about: self.about.clone() }
    }
}

impl OpenWork {
    pub(super) fn begin_call(&mut self, call: OpenCall) {
        if self.calls.len() == MOST {
            self.calls.remove(0);
        }
        self.calls.push(call);
    }

    pub(super) fn end_call(&mut self, path: &StepPath, id: &str) -> Option<OpenCall> {
        let at = self.calls.iter().rposition(|call| call.is(path, id))?;
        Some(self.calls.remove(at))
    }

    /// Forgets the calls made at `path`: whoever made them does something else.
    pub(super) fn end_calls(&mut self, path: &StepPath) {
        self.calls.retain(|call| call.path != *path);
    }

    pub(super) fn begin_step(&mut self, path: StepPath, step: &StepStarted) -> Action {
        let command = step.blocks.iter().flatten().find_map(|block| match &block.content {
            BlockContent::Command { command, .. } => Some(gist(command)),
            _ => None,
        });
        let agent = step.agent.as_ref().and_then(|agent| agent.label()).map(str::to_owned);
        if self.steps.len() == MOST {
            self.steps.remove(0);
        }
        let open = OpenStep { path, about: command.or(agent) };
        let action = open.action();
        self.steps.push(open);
        action
    }

    pub(super) fn end_step(&mut self, path: &StepPath) {
        self.steps.retain(|step| step.path != *path);
        self.end_calls(path);
    }

    /// Notes that a person is asked, about the call `id` if one is named.
    pub(super) fn need(&mut self, event: &Event, id: Option<&str>, about: Option<String>) {
        let named = id.and_then(|id| self.calls.iter().rposition(|call| call.is(&event.path, id)));
        match named.or(self.calls.len().checked_sub(1)) {
            Some(at) => self.calls[at].need = Need::Permission,
            None => self.begin_call(OpenCall {
                id: id.unwrap_or_default().to_owned(),
                path: event.path.clone(),
                tool: String::new(),
                about,
                since: event.timestamp,
                need: Need::Permission,
            }),
        }
    }

    /// Notes that a person has answered, about the call `id` if one is named.
    pub(super) fn answer(&mut self, path: &StepPath, id: Option<&str>) {
        for call in &mut self.calls {
            if call.need == Need::Permission && id.is_none_or(|id| call.is(path, id)) {
                call.need = Need::Nothing;
            }
        }
        self.answer_loose();
    }

    /// Forgets what was asked about no call: whoever goes on has its answer.
    pub(super) fn answer_loose(&mut self) {
        self.calls.retain(|call| !call.tool.is_empty());
    }

    pub(super) fn question(&self) -> Option<&OpenCall> {
        self.calls.iter().rev().find(|call| call.need != Need::Nothing)
    }

    pub(super) fn last_call(&self) -> Option<&OpenCall> {
        self.calls.last()
    }

    pub(super) fn last_step(&self) -> Option<&OpenStep> {
        self.steps.last()
    }

    pub(super) fn clear(&mut self) {
        self.calls.clear();
        self.steps.clear();
    }
}
