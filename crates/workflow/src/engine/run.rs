//! The run as a whole: its beginning, the way from step to step, its end.

use std::collections::BTreeMap;

use quipu_event::StepPath;
use quipu_event::payload::Status;

use super::activity::{Entrance, Parent};
use super::effect::{Effect, Occurrence, RunEnd};
use super::flow::Way;
use super::hooks::{Prepared, prepare_hook};
use super::lifecycle::error_text;
use super::scope::StepScope;
use super::values::SpaceId;
use super::work::{Outcome, WorkStatus};
use super::{Engine, Owner, Todo};
use crate::definition::Hook;
use crate::language::Value;

/// Where a run is in its course.
#[derive(Debug)]
pub(super) enum Course {
    /// It has not begun.
    Ahead,
    /// Its hooks before the first step.
    Starting { hook: usize },
    /// Its steps.
    Steps,
    /// Its steps, for as long as those that were begun take.
    Canceling { reason: String },
    /// Its hooks after the last step.
    Ending { hook: usize, end: Box<RunEnd> },
    /// Nothing any more.
    Over,
}

impl Engine {
    pub(super) fn begin_run(&mut self) {
        if !matches!(self.course, Course::Ahead) {
            return;
        }
        if !self.setup.history.is_empty() {
            // What stands before the first step was done when the run began.
            self.course = Course::Steps;
            self.queue.push_back(Todo::Go(self.plan.initial.clone()));
            return;
        }
        self.course = Course::Starting { hook: 0 };
        self.next_run_hook();
    }

    /// Goes to a step of the run itself.
    pub(super) fn go_to(&mut self, name: &str) {
        if !matches!(self.course, Course::Steps) {
            return;
        }
        let Some(step) = self.plan.steps.get(name).cloned() else {
            let error = format!("there is no step `{name}`");
            return self.end_run(Status::Failed, Some(error), None);
        };
        let entrance = Entrance {
            parent: Parent::Run,
            path: StepPath::root().child(name),
            iteration: 0,
            space: SpaceId::ROOT,
            inner_loop: None,
        };
        self.start(&step, entrance);
    }

    /// Goes on after a step of the run itself.
    pub(super) fn root_step_is_over(&mut self, way: Way) {
        if let Course::Canceling { reason } = &self.course {
            let reason = reason.clone();
            return self.end_run(Status::Canceled, Some(reason), None);
        }
        match way {
            Way::Goto(target) => self.queue.push_back(Todo::Go(target)),
            Way::Nowhere => self.end_run(Status::Succeeded, None, None),
            Way::Fail(error) => self.end_run(Status::Failed, Some(error), None),
            Way::EndRun { succeeded: true, .. } => self.end_run(Status::Succeeded, None, Some(way)),
            Way::EndRun { ref message, ref terminal, .. } => {
                let error = message.clone().unwrap_or_else(|| match terminal {
                    Some(step) => format!("the run reached the failure state `{step}`"),
                    None => "the run failed".to_owned(),
                });
                self.end_run(Status::Failed, Some(error), Some(way));
            }
        }
    }

    /// Ends the run, hooks first.
    pub(super) fn end_run(&mut self, status: Status, error: Option<String>, way: Option<Way>) {
        let (message, terminal, exit_status) = match way {
            Some(Way::EndRun { message, terminal, exit_status, .. }) => {
                (message, terminal, exit_status)
            }
            _ => (None, None, None),
        };
        let end = RunEnd {
            status,
            error,
            message,
            terminal,
            exit_status,
            outputs: serde_json::Map::new(),
            deliverables: Vec::new(),
            step_outputs: BTreeMap::new(),
        };
        self.course = Course::Ending { hook: 0, end: Box::new(end) };
        self.next_run_hook();
    }

    /// Goes on with the next hook of the run, or with what follows the last.
    fn next_run_hook(&mut self) {
        while let Some((hook, when)) = self.current_run_hook() {
            match prepare_hook(&hook, None, &self.run_scope()) {
                Ok(Prepared::Run { work, shown }) => {
                    self.hook_command = shown;
                    self.perform(Owner::Run, run_occurrence(), work, None);
                    return;
                }
                Ok(Prepared::Say(text)) => self.say(None, text),
                Err(problem) => {
                    let facts = serde_json::json!({ "hook": when, "error": problem });
                    self.emit(Effect::Note { at: None, subtype: "hook_failed", facts });
                    if self.start_hook_failed(&problem) {
                        return;
                    }
                }
            }
            self.pass_run_hook();
        }
        match std::mem::replace(&mut self.course, Course::Over) {
            Course::Starting { .. } => {
                self.course = Course::Steps;
                self.queue.push_back(Todo::Go(self.plan.initial.clone()));
            }
            Course::Ending { end, .. } => self.finish(*end),
            other => self.course = other,
        }
    }

    /// Takes what came of a hook of the run.
    pub(super) fn run_hook_is_over(&mut self, outcome: Outcome) {
        let Some((_, when)) = self.current_run_hook() else {
            // The run was canceled while its first hooks ran.
            if let Course::Canceling { reason } = &self.course {
                let reason = reason.clone();
                self.end_run(Status::Canceled, Some(reason), None);
            }
            return;
        };
        let command = std::mem::take(&mut self.hook_command);
        self.note_hook(None, when, &command, &outcome);
        if outcome.status != WorkStatus::Succeeded && self.start_hook_failed(&error_text(&outcome))
        {
            return;
        }
        self.pass_run_hook();
        self.next_run_hook();
    }

    /// A hook before the first step that fails ends the run. Tells whether it did.
    fn start_hook_failed(&mut self, problem: &str) -> bool {
        match &self.course {
            Course::Starting { .. } => {
                let error = format!("a hook at the start of the run failed: {problem}");
                self.end_run(Status::Failed, Some(error), None);
                true
            }
            Course::Canceling { reason } => {
                let reason = reason.clone();
                self.end_run(Status::Canceled, Some(reason), None);
                true
            }
            _ => false,
        }
    }

    fn current_run_hook(&self) -> Option<(Hook, &'static str)> {
        let hooks = &self.plan.hooks;
        let (list, index, when) = match &self.course {
            Course::Starting { hook } => (&hooks.start, *hook, "workflow_start"),
            Course::Ending { hook, end } => match end.status {
                Status::Succeeded => (&hooks.end, *hook, "workflow_end"),
                Status::Canceled => (&hooks.cancel, *hook, "workflow_cancel"),
                _ => (&hooks.error, *hook, "workflow_error"),
            },
            _ => return None,
        };
        list.get(index).map(|hook| (hook.clone(), when))
    }

    fn pass_run_hook(&mut self) {
        if let Course::Starting { hook } | Course::Ending { hook, .. } = &mut self.course {
            *hook += 1;
        }
    }

    fn run_scope(&self) -> StepScope<'_> {
        StepScope {
            plan: &self.plan,
            setup: &self.setup,
            values: &self.values,
            space: SpaceId::ROOT,
            inner_loop: None,
            current_step: "",
            elapsed: self.now,
            failure: None,
        }
    }

    fn finish(&mut self, mut end: RunEnd) {
        let scope = self.run_scope();
        for (name, from) in &self.plan.outputs {
            // An output of a step that did not run is no output.
            if let Ok(text) = from.render(&scope) {
                end.outputs.insert(name.clone(), Value::String(text));
            }
        }
        for path in &self.plan.deliverables {
            // A path that a step was to name, which did not run, is still asked for.
            let path = path.render(&scope).unwrap_or_else(|_| path.source().to_owned());
            end.deliverables.push(path.trim().to_owned());
        }
        for name in self.values.names(SpaceId::ROOT) {
            if let Some(value) = self.values.get(SpaceId::ROOT, &name) {
                end.step_outputs.insert(name, value.outcome.output.clone());
            }
        }
        self.course = Course::Over;
        self.emit(Effect::Finish(end));
    }
}

/// Where work of the run itself belongs.
fn run_occurrence() -> Occurrence {
    Occurrence { path: StepPath::root(), iteration: 0, attempt: 1 }
}
