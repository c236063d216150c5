//! What a transcript tells of a run that stopped: enough to go on with it.
//!
//! The transcript is the only record there is; nothing else is read. Secrets are not in it, but their
//! names are: whoever has the secrets again gets results as they were.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use quipu_event::payload::{Definition, Payload, RunStarted, Status, StepCompleted, StepStarted};
use quipu_event::{Event, StepPath, Timestamp};
use quipu_journal::{ReadError, ReadProblem, Reader};
use serde_json::Map;

use super::recording::{SET, outcome_of};
use super::secrets::Secrets;
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
    /// What it was given. Secrets are masked, as [`super::MASKED`] where they are all of an input.
    pub inputs: Map<String, Value>,
    /// What was changed for it, beside the file. Secrets are masked.
    pub changes: Map<String, Value>,
    /// Where it ran.
    pub cwd: Option<String>,
    /// How it ended, if it did.
    pub status: Option<Status>,
    /// What each of its steps came to.
    pub history: History,
    /// The steps whose results hold secrets that nobody knows any more.
    pub masked: BTreeSet<String>,
    /// When its first event happened.
    pub(super) first: Option<Timestamp>,
    pub(super) tally: Tally,
    /// The ids of the calls in it.
    pub(super) call_ids: Vec<String>,
}

impl PastRun {
    /// Reads a transcript, with what is masked in it. Lines that hold no event are passed by.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read.
    pub fn read(transcript: &Path) -> Result<PastRun, ReadError> {
        PastRun::read_with(transcript, &Secrets::default())
    }

    /// Reads a transcript and puts `secrets` back into the results of steps.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read.
    pub fn read_with(transcript: &Path, secrets: &Secrets) -> Result<PastRun, ReadError> {
        let mut fold = Fold { run: PastRun::default(), known: HashMap::new(), secrets };
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

struct Fold<'s> {
    secrets: &'s Secrets,
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
    /// Whether secrets are missing in what came of it.
    is_masked: bool,
}

impl Fold<'_> {
    fn add(&mut self, event: &Event) {
        self.run.first.get_or_insert(event.timestamp);
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
        let labels = started.labels.unwrap_or_default().into_iter();
        run.changes = labels
            .filter_map(|(key, value)| Some((key.strip_prefix(SET)?.to_owned(), value.into())))
            .collect();
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
        self.known.insert(
            key,
            Known { past, ended_the_run: false, is_dead_end: false, is_masked: false },
        );
    }

    fn step_completed(&mut self, event: &Event, mut completed: StepCompleted) {
        let attempt = completed.attempt.unwrap_or(1);
        let Some(known) = self.known.get_mut(&(event.path.clone(), attempt)) else { return };
        known.past.seq = event.seq;
        let is_finished = match &completed.status {
            Some(Status::Aborted | Status::Canceled) | None => false,
            Some(_) => true,
        };
        known.is_masked = is_finished && put_back(self.secrets, &mut completed);
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
            if known.is_masked && known.past.outcome.is_some() {
                self.run.masked.insert(known.past.name.clone());
            }
            self.run.history.insert(path.as_str(), attempt, known.past);
        }
        self.run
    }
}

/// Puts secrets back into what came of a step, and tells whether some are missing.
fn put_back(secrets: &Secrets, completed: &mut StepCompleted) -> bool {
    let mut is_masked = false;
    if let Some(result) = &completed.result {
        let (restored, lost) = secrets.restore(result);
        is_masked |= lost;
        completed.result = restored.or_else(|| completed.result.take());
    }
    if let Some(error) = completed.error.take() {
        let (error, lost) = secrets.restore_text(error);
        is_masked |= lost;
        completed.error = Some(error);
    }
    is_masked
}
