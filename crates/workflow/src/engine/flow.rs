//! Where a run goes from a step that is over.
//!
//! Transitions come first; then `on_success` or `on_failure`. A failed agent, operation or called
//! workflow does not look at transitions, as in AWF: they speak of an answer that is not there.

use quipu_event::payload::Status;

use super::Engine;
use super::activity::{ActivityId, Ended, Parent};
use super::effect::Next;
use super::lifecycle::error_text;
use super::scope::StepScope;
use crate::definition::{FailureTarget, Step, StepKind};

/// The way from a step.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Way {
    /// To another step.
    Goto(String),
    /// Out of the run, as the step says: with a message and an exit status.
    EndRun {
        succeeded: bool,
        message: Option<String>,
        terminal: Option<String>,
        exit_status: Option<u8>,
    },
    /// No further: nothing follows a success.
    Nowhere,
    /// No further: nothing takes care of a failure.
    Fail(String),
}

impl Engine {
    /// Chooses the way from a step that is over, and says why.
    pub(super) fn choose_way(&self, id: ActivityId, ended: &Ended) -> (Way, Next) {
        let activity = self.activities.get(id);
        let step = &activity.step;
        if ended.status == Status::Canceled {
            return (Way::Fail("canceled".to_owned()), next(None, "canceled"));
        }
        if let Some(Way::EndRun { .. }) = &ended.way_out
            && matches!(step.kind, StepKind::Terminal(_))
        {
            return (ended.way_out.clone().unwrap_or(Way::Nowhere), next(None, "terminal"));
        }
        if matches!(activity.parent, Parent::Branch(..)) {
            return (Way::Nowhere, next(None, "branch_end"));
        }
        match choose(step, ended, &self.scope(id)) {
            Ok((Way::Nowhere, _)) if matches!(activity.parent, Parent::Body(_)) => {
                (Way::Nowhere, next(None, "body_next"))
            }
            Ok(chosen) => chosen,
            Err(problem) => (Way::Fail(problem), next(None, "bad_condition")),
        }
    }
}

fn choose(step: &Step, ended: &Ended, scope: &StepScope<'_>) -> Result<(Way, Next), String> {
    let succeeded = !ended.status.is_failure();
    if succeeded && let Some(chosen) = out_of_loop(step, ended) {
        return Ok(chosen);
    }
    let asks_an_answer = matches!(
        step.kind,
        StepKind::Agent(_) | StepKind::Operation(_) | StepKind::CallWorkflow(_)
    );
    if (succeeded || !asks_an_answer)
        && let Some(chosen) = by_transition(step, scope)?
    {
        return Ok(chosen);
    }
    if succeeded || step.continue_on_error {
        let because = if succeeded { "on_success" } else { "continue_on_error" };
        return Ok(match step.flow.on_success.as_ref().or(on_complete(step)) {
            Some(target) => goto(target, because),
            None if succeeded => (Way::Nowhere, next(None, "end")),
            None => (Way::Nowhere, next(None, "continue_on_error")),
        });
    }
    Ok(after_failure(step, ended, scope))
}

/// A loop that is done goes where its body jumped to, or to `on_complete`.
fn out_of_loop(step: &Step, ended: &Ended) -> Option<(Way, Next)> {
    if !matches!(step.kind, StepKind::ForEach(_) | StepKind::While(_)) {
        return None;
    }
    match (&ended.way_out, on_complete(step)) {
        (Some(way @ Way::Goto(target)), _) => Some((way.clone(), next(Some(target), "loop_exit"))),
        (Some(way), _) => Some((way.clone(), next(None, "loop_exit"))),
        (None, Some(target)) => Some(goto(target, "on_complete")),
        (None, None) => None,
    }
}

/// Returns where a loop goes when it is done.
fn on_complete(step: &Step) -> Option<&String> {
    match &step.kind {
        StepKind::ForEach(looped) => looped.each.on_complete.as_ref(),
        StepKind::While(looped) => looped.each.on_complete.as_ref(),
        _ => None,
    }
}

fn by_transition(step: &Step, scope: &StepScope<'_>) -> Result<Option<(Way, Next)>, String> {
    for transition in &step.flow.transitions {
        let Some(when) = &transition.when else {
            return Ok(Some(goto(&transition.goto, "default_transition")));
        };
        let holds = when.holds(scope).map_err(|error| {
            format!(
                "the condition `{}` of step `{}` has no answer: {error}",
                when.source(),
                step.name
            )
        })?;
        if holds {
            let (way, mut next) = goto(&transition.goto, "transition");
            next.when = Some(when.source().to_owned());
            return Ok(Some((way, next)));
        }
    }
    Ok(None)
}

fn after_failure(step: &Step, ended: &Ended, scope: &StepScope<'_>) -> (Way, Next) {
    match &step.flow.on_failure {
        Some(FailureTarget::Step(target)) => goto(target, "on_failure"),
        Some(FailureTarget::End { message, status }) => {
            // A message that cannot be filled in must not hide the failure it speaks of.
            let message = message.render(scope).unwrap_or_else(|_| message.source().to_owned());
            let way = Way::EndRun {
                succeeded: false,
                message: Some(message),
                terminal: None,
                exit_status: Some(*status),
            };
            (way, next(None, "inline_failure"))
        }
        None => match &ended.way_out {
            // A step in the body of a loop knew where to go with its failure.
            Some(way @ Way::Goto(target)) => (way.clone(), next(Some(target), "loop_exit")),
            Some(way) => (way.clone(), next(None, "loop_exit")),
            None => (Way::Fail(problem_of(step, ended)), next(None, "no_way_on")),
        },
    }
}

fn problem_of(step: &Step, ended: &Ended) -> String {
    let error = error_text(&ended.outcome);
    let names_itself = error.starts_with(&format!("step `{}`", step.name));
    if names_itself { error } else { format!("step `{}` failed: {error}", step.name) }
}

fn goto(target: &str, because: &'static str) -> (Way, Next) {
    (Way::Goto(target.to_owned()), next(Some(target), because))
}

fn next(target: Option<&str>, because: &'static str) -> Next {
    Next { goto: target.map(str::to_owned), because, when: None }
}
