//! What a transcript tells of a run that stopped: enough to go on with it.
//!
//! The transcript is the only record there is; nothing else is read. What was masked in it is gone: a
//! run that goes on sees `***` where a step had told a secret.

use std::collections::HashMap;
use std::path::Path;

use quipu_event::payload::{Definition, Payload, RunStarted, Status, StepCompleted, StepStarted};
use quipu_event::{Event, StepPath};
use quipu_journal::{ReadError, ReadProblem, Reader};
use serde_json::Map;

use super::recording::outcome_of;
use crate::engine::{History, Past};
use crate::language::Value;
use crate::scribe::Tally;

/// What a transcript tells of its run.
#[derive(Clone, Debug, Default)]
pub struct PastRun {
    /// The workflow's name.
    pub name: String,
    /// The file that defines it.
    pub definition: Option<Definition>,
    /// What it was given. Secrets are masked, as [`super::MASKED`].
    pub inputs: Map<String, Value>,
    /// Where it ran.
    pub cwd: Option<String>,
    /// How it ended, if it did.
    pub status: Option<Status>,
    /// What each of its steps came to.
    pub history: History,
    pub(super) tally: Tally,
    /// The ids of the calls in it.
    pub(super) call_ids: Vec<String>,
}

impl PastRun {
    /// Reads a transcript. Lines that hold no event are passed by.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read.
    pub fn read(transcript: &Path) -> Result<PastRun, ReadError> {
        let mut fold = Fold::default();
        for event in Reader::open(transcript)? {
            match event {
                Ok(event) => fold.add(&event),
                Err(ReadProblem::Damaged { .. }) => {}
                Err(ReadProblem::Io(error)) => return Err(error),
            }
        }
        Ok(fold.finish())
    }
}

#[derive(Default)]
struct Fold {
    run: PastRun,
    /// What is known of each execution: the last line about it decides.
    known: HashMap<(StepPath, u32), Known>,
}

struct Known {
    past: Past,
    /// Whether the run could not go on because of it.
    ended_the_run: bool,
    /// Whether it failed, and nothing followed from that at its own place.
    is_dead_end: bool,
}

impl Fold {
    fn add(&mut self, event: &Event) {
        self.run.tally.add(&event.kind, &event.payload);
        match event.decode_payload() {
            Ok(Payload::RunStarted(started)) => self.run_started(*started),
            Ok(Payload::RunCompleted(completed)) => self.run.status = completed.status,
            Ok(Payload::StepStarted(started)) => self.step_started(event, *started),
            Ok(Payload::StepCompleted(completed)) => self.step_completed(event, *completed),
            Ok(Payload::ToolCall(call)) => self.run.call_ids.push(call.call_id),
            _ => {}
        }
    }

    fn run_started(&mut self, started: RunStarted) {
        let run = &mut self.run;
        run.status = None;
        run.name = started.name;
        run.definition = started.definition;
        run.inputs = started.inputs.and_then(|inputs| inputs.decode().ok()).unwrap_or_default();
        run.cwd = started.cwd;
    }

    fn step_started(&mut self, event: &Event, started: StepStarted) {
        let past = Past {
            seq: event.seq,
            name: started.name,
            outcome: None,
            child: event.child_run_id.clone(),
        };
        let key = (event.path.clone(), started.attempt.unwrap_or(1));
        self.known.insert(key, Known { past, ended_the_run: false, is_dead_end: false });
    }

    fn step_completed(&mut self, event: &Event, completed: StepCompleted) {
        let attempt = completed.attempt.unwrap_or(1);
        let Some(known) = self.known.get_mut(&(event.path.clone(), attempt)) else { return };
        known.past.seq = event.seq;
        let is_finished = match &completed.status {
            Some(Status::Aborted | Status::Canceled) | None => false,
            Some(_) => true,
        };
        known.past.outcome = is_finished.then(|| outcome_of(&completed));
        if completed.status == Some(Status::Failed) {
            let next: Value =
                completed.next.and_then(|next| next.decode().ok()).unwrap_or_default();
            let because = next["because"].as_str().unwrap_or_default();
            known.is_dead_end = matches!(because, "no_way_on" | "branch_end");
            // Inside another step it is for that step to say what a failure means.
            let is_outermost = event.path.segments().count() == 1;
            known.ended_the_run = is_outermost && because == "no_way_on";
        }
    }

    /// A step that failed and left the run no way on is what somebody who resumes wants to try
    /// again, together with what failed inside it. Failures that the workflow dealt with stay.
    fn finish(mut self) -> PastRun {
        let again: Vec<StepPath> = self
            .known
            .iter()
            .filter(|(_, known)| known.ended_the_run)
            .map(|((path, _), _)| path.clone())
            .collect();
        for ((path, _), known) in &mut self.known {
            let is_inside = |outer: &StepPath| {
                let rest = path.as_str().strip_prefix(outer.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            if known.is_dead_end && again.iter().any(is_inside) {
                known.past.outcome = None;
            }
        }
        for ((path, attempt), known) in self.known {
            self.run.history.insert(path.as_str(), attempt, known.past);
        }
        self.run
    }
}
