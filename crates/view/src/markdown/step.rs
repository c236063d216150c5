//! Steps: how they begin and how they end.

use quipu_event::Event;
use quipu_event::payload::{Agent, Status, StepCompleted, StepResult, StepStarted};

use super::opening::{add, add_duration, add_foreign, close, open};
use super::place::Place;
use super::speech::quoted;
use super::{Length, fence, link, message, value};
use crate::reading::step_path;

/// Appends the heading of a step and what it is about to do.
pub(crate) fn started(
    out: &mut String,
    event: &Event,
    step: &StepStarted,
    place: &mut Place,
    length: Length,
) {
    let path = step_path(event, &step.name);
    let name = if step.name.is_empty() { path.as_str() } else { &step.name };
    let attempt = step.attempt.filter(|attempt| *attempt > 1);
    place.begin(out, &path, |out| {
        super::escape::plain(
            out,
            if name.trim().is_empty() { "a step without a name" } else { name },
        );
        if let Some(attempt) = attempt {
            out.push_str(&format!(", attempt {attempt}"));
        }
    });
    open(out, "Step", "");
    add_foreign(out, &step.kind);
    add_foreign(out, step.agent.as_ref().and_then(Agent::label).unwrap_or_default());
    close(out, event);
    link::child(out, event);
    for block in step.blocks.iter().flatten() {
        message::block(out, block, length);
    }
}

/// Appends how a step ended. `was_said` tells whether a text has just been said by an agent.
pub(crate) fn completed(
    out: &mut String,
    event: &Event,
    step: &StepCompleted,
    was_said: impl Fn(&str) -> bool,
    length: Length,
) {
    let status = step.status.as_ref();
    open(out, mark_of(status), step.name.trim());
    add_foreign(out, status.map_or("", Status::as_str));
    if let Some(attempt) = step.attempt.filter(|attempt| *attempt > 1) {
        add(out, &format!("attempt {attempt}"));
    }
    add_duration(out, step.duration_ms);
    close(out, event);
    if let Some(error) = step.error.as_deref().filter(|error| !error.is_empty()) {
        quoted(out, error);
    }
    let Some(result) = &step.result else { return };
    match result.decode::<StepResult>() {
        Ok(known) if known != StepResult::default() => streams(out, &known, was_said, length),
        _ => value::answer(out, result, length),
    }
}

/// Returns the sign of a status.
pub(crate) fn mark_of(status: Option<&Status>) -> &'static str {
    match status {
        Some(Status::Succeeded) => "✓",
        Some(Status::Skipped) => "–",
        Some(status) if status.is_failure() => "✗",
        _ => "•",
    }
}

fn streams(out: &mut String, result: &StepResult, was_said: impl Fn(&str) -> bool, length: Length) {
    let texts =
        [("output", &result.output), ("stdout", &result.stdout), ("stderr", &result.stderr)];
    for (name, text) in texts {
        let Some(text) = text.as_deref().filter(|text| !text.is_empty()) else { continue };
        if name == "output" && was_said(text) {
            continue;
        }
        out.push_str(name);
        out.push_str(":\n\n");
        fence::fenced(out, "", text, length);
    }
    if let Some(code) = result.exit_code.filter(|code| *code != 0) {
        out.push_str(&format!("exit code {code}\n\n"));
    }
    if let Some(result) = &result.value {
        value::answer(out, result, length);
    }
}
