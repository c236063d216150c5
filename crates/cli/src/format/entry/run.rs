//! Runs and steps: how they begin and how they end.

use quipu_event::Json;
use quipu_event::payload::{
    Agent, RunCompleted, RunCreated, RunStarted, Status, StepCompleted, StepResult, StepStarted,
    TokenCounts,
};

use super::{Entry, Part, Tone, json, message};
use crate::format::{count, span};

pub(super) fn created(run: &RunCreated) -> Entry {
    Entry::headed(format!("{} ({})", run.name, run.kind))
}

pub(super) fn started(run: &RunStarted) -> Entry {
    let mut head = format!("{} ({})", run.name, run.kind);
    let facts = [
        agent(run.agent.as_ref()),
        run.version.as_ref().map(|version| format!("version {version}")),
        run.cwd.as_ref().map(|cwd| format!("in {cwd}")),
    ];
    for fact in facts.into_iter().flatten() {
        head.push_str(", ");
        head.push_str(&fact);
    }
    let inputs = run.inputs.as_ref().map(json::text_of).unwrap_or_default();
    Entry::headed(head).with(Part::output(inputs).labelled("inputs").toned(Tone::Faint))
}

pub(super) fn completed(run: RunCompleted) -> Entry {
    let end =
        End { status: run.status, error: run.error, millis: run.duration_ms, usage: run.usage };
    let result = run.result.as_ref().map(json::text_of).unwrap_or_default();
    end.entry().with(Part::output(result).labelled("result"))
}

pub(super) fn step_started(step: StepStarted) -> Entry {
    let mut facts = vec![step.kind];
    facts.extend(agent(step.agent.as_ref()));
    facts.extend(step.attempt.filter(|attempt| *attempt > 1).map(|n| format!("attempt {n}")));
    facts.retain(|fact| !fact.is_empty());
    let blocks = step.blocks.unwrap_or_default().into_iter().flat_map(message::parts_of_block);
    Entry::headed(facts.join(", ")).with_all(blocks)
}

pub(super) fn step_completed(step: StepCompleted) -> Entry {
    let end =
        End { status: step.status, error: step.error, millis: step.duration_ms, usage: step.usage };
    let mut entry = end.entry();
    let known = step.result.as_ref().and_then(known_result);
    if let Some(code) = known.as_ref().and_then(|result| result.exit_code) {
        entry.append(&format!("(exit code {code})"));
    }
    if let Some(attempt) = step.attempt.filter(|attempt| *attempt > 1) {
        entry.append(&format!("(attempt {attempt})"));
    }
    let result = match (known, &step.result) {
        (Some(known), _) => streams(known),
        (None, Some(other)) => vec![Part::output(json::text_of(other)).labelled("result")],
        (None, None) => Vec::new(),
    };
    let next = step.next.as_ref().map(json::text_of).unwrap_or_default();
    entry.with_all(result).with(Part::output(next).labelled("next").toned(Tone::Faint))
}

/// How a run or a step ended.
struct End {
    status: Option<Status>,
    error: Option<String>,
    millis: Option<u64>,
    usage: Option<TokenCounts>,
}

impl End {
    fn entry(self) -> Entry {
        let error = self.error.filter(|error| !error.is_empty());
        // Other writers have no status, and an error only where there was one.
        let status = self.status.unwrap_or(match error {
            Some(_) => Status::Failed,
            None => Status::Succeeded,
        });
        let mut head = status.to_string();
        if let Some(millis) = self.millis {
            head.push_str(&format!(" in {}", span::duration(millis)));
        }
        if let Some(total) = self.usage.and_then(|usage| usage.total()) {
            head.push_str(&format!(", {} tokens", count::short(total)));
        }
        let tone = match status {
            Status::Succeeded => Tone::Good,
            status if status.is_failure() => Tone::Bad,
            _ => Tone::Neutral,
        };
        let entry = Entry::headed(head).toned(tone);
        entry.with(Part::speech(error.unwrap_or_default()).labelled("error").toned(Tone::Bad))
    }
}

/// Returns the result of a step if it is told as our own engine tells it.
///
/// So is a bare truth value, which is all that some writers leave: it says nothing that the status
/// does not say.
fn known_result(result: &Json) -> Option<StepResult> {
    if matches!(result.as_str(), "true" | "false") {
        return Some(StepResult::default());
    }
    let known: StepResult = result.decode().ok().filter(|_| result.is_object())?;
    (known != StepResult::default()).then_some(known)
}

/// Returns what a step said, each stream apart.
fn streams(result: StepResult) -> Vec<Part> {
    let value = result.value.as_ref().map(json::text_of).unwrap_or_default();
    vec![
        Part::speech(result.output.unwrap_or_default()).labelled("output"),
        Part::output(result.stdout.unwrap_or_default()).labelled("stdout"),
        Part::output(result.stderr.unwrap_or_default()).labelled("stderr"),
        Part::output(value).labelled("value"),
    ]
}

/// Returns the agent's name and, where they differ, its model.
fn agent(agent: Option<&Agent>) -> Option<String> {
    let agent = agent?;
    let label = agent.label()?;
    match agent.model.as_deref().filter(|model| *model != label) {
        Some(model) => Some(format!("{label} ({model})")),
        None => Some(label.to_owned()),
    }
}
