//! What happens beside the steps: hooks before and after a step, and around the run.
//!
//! A hook is told as a `system` event. Only a hook at the start of the run can fail anything.

use std::sync::Arc;

use serde_json::json;

use super::activity::{ActivityId, Doing};
use super::effect::{Effect, Occurrence};
use super::scope::StepScope;
use super::steps::command::{exported_inputs, step_env};
use super::work::{CommandJob, Outcome, ScriptText, Work, WorkStatus};
use super::{Engine, Owner, Todo};
use crate::definition::{Hook, Step};
use crate::language::protect;

/// When a hook of a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Before,
    After,
}

/// What is to be done for a hook.
pub(super) enum Prepared {
    /// Nothing but saying it.
    Say(String),
    /// A command, and how it reads with its values in place.
    Run { work: Work, shown: String },
}

impl Engine {
    /// Goes on with the next hook before a step, or with the step.
    pub(super) fn next_hook_before(&mut self, id: ActivityId) {
        loop {
            let activity = self.activities.get_mut(id);
            let Doing::Before { hook, .. } = activity.doing else { return };
            let is_stopping = activity.stopping.is_some();
            let next = activity.step.hooks.pre.get(hook).cloned().filter(|_| !is_stopping);
            let Some(next) = next else { break };
            if self.start_hook(id, When::Before, &next) {
                return;
            }
            if let Doing::Before { hook, .. } = &mut self.activities.get_mut(id).doing {
                *hook += 1;
            }
        }
        let activity = self.activities.get_mut(id);
        let Doing::Before { work, .. } = std::mem::replace(&mut activity.doing, Doing::Nothing)
        else {
            return;
        };
        match activity.stopping {
            Some(stopping) => {
                let outcome = activity.outcome_of_stopping(stopping);
                self.end_attempt(id, outcome, None);
            }
            None => self.launch(id, work),
        }
    }

    /// Goes on with the next hook after a step, or with its end.
    pub(super) fn next_hook_after(&mut self, id: ActivityId) {
        loop {
            let activity = self.activities.get_mut(id);
            let Doing::After { hook, .. } = activity.doing else { return };
            let is_stopping = activity.stopping.is_some();
            let next = activity.step.hooks.post.get(hook).cloned().filter(|_| !is_stopping);
            let Some(next) = next else { break };
            if self.start_hook(id, When::After, &next) {
                return;
            }
            if let Doing::After { hook, .. } = &mut self.activities.get_mut(id).doing {
                *hook += 1;
            }
        }
        self.leave_hooks(id);
    }

    /// Passes the rest of the hooks after a step by.
    pub(super) fn leave_hooks(&mut self, id: ActivityId) {
        let activity = self.activities.get_mut(id);
        if let Doing::After { ended, .. } = std::mem::replace(&mut activity.doing, Doing::Nothing) {
            activity.doing = Doing::Over(ended);
            self.queue.push_back(Todo::Close(id));
        }
    }

    /// Starts a hook of a step. Tells whether there is something to wait for.
    fn start_hook(&mut self, id: ActivityId, when: When, hook: &Hook) -> bool {
        let at = self.activities.get(id).occurrence();
        let step = Arc::clone(&self.activities.get(id).step);
        let prepared = prepare_hook(hook, Some(&step), &self.scope(id));
        match prepared {
            Ok(Prepared::Run { work, shown }) => {
                self.activities.get_mut(id).hook_command = shown;
                self.perform(Owner::Activity(id), at, work, None);
                true
            }
            Ok(Prepared::Say(text)) => {
                self.say(Some(at), text);
                false
            }
            Err(problem) => {
                let facts = json!({ "hook": word(when), "error": problem });
                self.emit(Effect::Note { at: Some(at), subtype: "hook_failed", facts });
                false
            }
        }
    }

    /// Tells what came of a hook of a step.
    pub(super) fn tell_hook(&mut self, id: ActivityId, when: When, outcome: &Outcome) {
        let activity = self.activities.get_mut(id);
        let command = std::mem::take(&mut activity.hook_command);
        let at = activity.occurrence();
        self.note_hook(Some(at), word(when), &command, outcome);
    }

    /// Tells what came of a hook.
    pub(super) fn note_hook(
        &mut self,
        at: Option<Occurrence>,
        when: &str,
        command: &str,
        outcome: &Outcome,
    ) {
        let succeeded = outcome.status == WorkStatus::Succeeded;
        let facts = json!({
            "hook": when, "command": command, "exit_code": outcome.exit_code,
            "output": outcome.output, "stderr": outcome.stderr,
            "error": if succeeded { None } else { Some(super::lifecycle::error_text(outcome)) },
        });
        let subtype = if succeeded { "hook" } else { "hook_failed" };
        self.emit(Effect::Note { at, subtype, facts });
    }

    /// Says what a workflow wants said.
    pub(super) fn say(&mut self, at: Option<Occurrence>, text: String) {
        self.emit(Effect::Note { at, subtype: "log", facts: json!({ "message": text }) });
    }
}

/// Fills a hook in. One of a step has the variables of that step.
pub(super) fn prepare_hook(
    hook: &Hook,
    step: Option<&Step>,
    scope: &StepScope<'_>,
) -> Result<Prepared, String> {
    match hook {
        Hook::Log(text) => {
            text.render(scope).map(Prepared::Say).map_err(|error| super::steps::told(&error))
        }
        Hook::Command(command) => {
            let pieces = command.pieces(scope).map_err(|error| super::steps::told(&error))?;
            let script = protect(&pieces).map_err(|error| error.to_string())?;
            let shown = script.shown.clone();
            let mut env = exported_inputs(scope);
            if let Some(step) = step {
                env.extend(step_env(step, scope)?);
            }
            let work = Work::Command(CommandJob {
                script: ScriptText::Shell(script),
                dir: None,
                env,
                capture: None,
            });
            Ok(Prepared::Run { work, shown })
        }
    }
}

fn word(when: When) -> &'static str {
    match when {
        When::Before => "pre",
        When::After => "post",
    }
}
