//! What the engine says of a run's course, as events of its transcript.
//!
//! It decides nothing: which step begins and how it ends is the engine's to say.

mod wire;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use quipu_event::payload::{
    Agent, Definition, DeliverableCheck, RunCompleted, RunKind, RunStarted, Status, StepCompleted,
    StepStarted,
};
use quipu_event::{ContentBlock, Draft, EncodeError, Json, Kind, RunId, StepPath, Timestamp};
use quipu_journal::Clock;
use serde_json::{Map, json};

use super::secrets::mask_named;
use crate::agent::LoadedSkill;
use crate::definition::Workflow;
use crate::engine::{Occurrence, Outcome, RunEnd, StepBegin, StepEnd, Work};
use crate::language::Value;
use crate::scribe::{RunScribe, Scribe};
use wire::StartedWire;
pub(super) use wire::outcome_of;

/// How the labels begin that say what was changed for a run, beside its file.
pub(super) const SET: &str = "set.";

/// Records the course of one run.
pub(super) struct Recording {
    scribe: Arc<RunScribe>,
    clock: Arc<dyn Clock>,
    name: String,
    /// When the run began, or went on.
    began: Timestamp,
    /// When its first event happened.
    first: Timestamp,
    open: HashMap<(StepPath, u32), Open>,
    opened: u64,
}

/// A step that began and has not ended.
struct Open {
    number: u64,
    began: Timestamp,
    name: String,
    kind: String,
    iteration: u64,
    child: Option<RunId>,
}

/// What a run is, for its first line.
pub(super) struct RunFacts<'a> {
    pub(super) workflow: &'a Workflow,
    pub(super) inputs: &'a Map<String, Value>,
    pub(super) cwd: &'a str,
    pub(super) resumed: bool,
}

impl Recording {
    /// Begins to record. A run that goes on has its `first` event behind it.
    pub(super) fn new(
        scribe: Arc<RunScribe>,
        clock: Arc<dyn Clock>,
        name: &str,
        first: Option<Timestamp>,
    ) -> Recording {
        let began = clock.now();
        let first = first.unwrap_or(began);
        let name = name.to_owned();
        Recording { scribe, clock, name, began, first, open: HashMap::new(), opened: 0 }
    }

    /// Returns when the run began, or went on.
    pub(super) fn began(&self) -> Timestamp {
        self.began
    }

    pub(super) fn run_started(&self, facts: &RunFacts<'_>) {
        self.tell(|| {
            let workflow = facts.workflow;
            let mut started = RunStarted::new(&workflow.name, RunKind::Workflow);
            started.version = workflow.version.clone();
            started.definition = Some(Definition {
                path: workflow.file.display().to_string(),
                sha256: workflow.sha256.clone(),
            });
            started.inputs = Some(Json::encode(&mask_named(facts.inputs))?);
            started.cwd = Some(facts.cwd.to_owned());
            let mut labels: BTreeMap<String, String> = workflow
                .changes
                .iter()
                .map(|(key, value)| (format!("{SET}{key}"), value.clone()))
                .collect();
            if facts.resumed {
                labels.insert("resumed".to_owned(), "true".to_owned());
            }
            started.labels = (!labels.is_empty()).then_some(labels);
            Draft::new(Kind::RunStarted, &started)
        });
    }

    /// Records that a step begins. `child`: the run it calls, if it calls one.
    pub(super) fn step_begins(&mut self, begin: &StepBegin, child: Option<RunId>) {
        self.opened += 1;
        let open = Open {
            number: self.opened,
            began: self.clock.now(),
            name: begin.name.clone(),
            kind: begin.kind.clone(),
            iteration: begin.at.iteration,
            child: child.clone(),
        };
        self.open.insert((begin.at.path.clone(), begin.at.attempt), open);
        self.tell(|| {
            let kind = match child {
                Some(_) => Kind::CallWorkflowStarted,
                None => Kind::StepStarted,
            };
            let draft = Draft::new(kind, &started_wire(begin))?;
            Ok(place(draft, &begin.at, child))
        });
        if let Some(Work::Agent(job)) = begin.work.as_deref() {
            job.skills.iter().for_each(|skill| self.skill_loaded(&begin.at, skill));
        }
    }

    /// Records that a skill stands before a prompt, which has its text.
    fn skill_loaded(&self, at: &Occurrence, skill: &LoadedSkill) {
        self.tell(|| {
            let facts = json!({
                "name": skill.name,
                "file": skill.file.display().to_string(),
                "bytes": skill.text.len(),
            });
            Ok(place(Draft::new(Kind::SkillLoaded, &facts)?, at, None))
        });
    }

    /// Records that a step is over.
    pub(super) fn step_ends(&mut self, end: &StepEnd) {
        let key = (end.at.path.clone(), end.at.attempt);
        let Some(open) = self.open.remove(&key) else {
            // An end without a beginning would make the transcript lie.
            tracing::error!(path = %end.at.path, "a step ended that had not begun");
            return;
        };
        self.tell(|| {
            let mut payload = self.completed(&open, end.at.attempt);
            payload.status = Some(end.status.clone());
            payload.error = end.error.clone();
            let has_run = end.kind == "command" && end.outcome.exit_code.is_some();
            put_outcome(&mut payload, &end.outcome, has_run)?;
            payload.next = end.next.as_ref().map(wire::next_json).transpose()?;
            Ok(place(Draft::new(completion(&open), &payload)?, &end.at, open.child.clone()))
        });
    }

    /// Records a fact.
    pub(super) fn note(&self, at: Option<&Occurrence>, subtype: &str, facts: Value) {
        self.tell(|| {
            let draft = Draft::system(subtype, facts)?;
            Ok(match at {
                Some(at) => place(draft, at, None),
                None => draft,
            })
        });
    }

    /// Records that deliverables are looked for.
    pub(super) fn check_begins(&self, required: &[String]) {
        let required = required.to_vec();
        let check = DeliverableCheck { required, ..DeliverableCheck::default() };
        self.tell(|| Draft::new(Kind::DeliverableCheckStarted, &check));
    }

    /// Records which deliverables are there.
    pub(super) fn check_ends(&self, check: &DeliverableCheck) {
        if !check.missing.is_empty() {
            let missing = DeliverableCheck { result: None, ..check.clone() };
            self.tell(|| Draft::new(Kind::DeliverableMissing, &missing));
        }
        self.tell(|| Draft::new(Kind::DeliverableCheckCompleted, check));
    }

    /// Records that the run is over, and returns how long it took since it began or went on.
    ///
    /// What is recorded counts from its first event on, as its usage does. The audit trail pairs each
    /// start with its end: the time before a run was resumed belongs to another pair.
    ///
    /// Whatever is still open is closed before it: each start gets its end.
    pub(super) fn run_ends(&mut self, end: &RunEnd) -> u64 {
        self.close_what_is_open();
        let now = self.clock.now();
        let (counts, usage) = self.scribe.so_far();
        self.tell(|| {
            let mut result = Map::new();
            let mut put = |key: &str, value: Option<Value>| {
                value.map(|value| result.insert(key.to_owned(), value))
            };
            put("message", end.message.clone().map(Value::from));
            put("terminal", end.terminal.clone().map(Value::from));
            put("exit_status", end.exit_status.map(Value::from));
            put("outputs", (!end.outputs.is_empty()).then(|| json!(mask_named(&end.outputs))));
            let completed = RunCompleted {
                name: self.name.clone(),
                kind: RunKind::Workflow,
                status: Some(end.status.clone()),
                error: end.error.clone(),
                result: (!result.is_empty()).then(|| Json::encode(&result)).transpose()?,
                duration_ms: Some(now.millis_since(self.first)),
                usage: (!usage.is_empty()).then_some(usage),
                counts: Some(counts),
            };
            Draft::new(Kind::RunCompleted, &completed)
        });
        now.millis_since(self.began)
    }

    fn close_what_is_open(&mut self) {
        let mut left: Vec<_> = self.open.drain().collect();
        left.sort_by_key(|(_, open)| std::cmp::Reverse(open.number));
        for ((path, attempt), open) in left {
            tracing::error!(%path, "a step was left open at the end of its run");
            let at = Occurrence { path, iteration: open.iteration, attempt };
            self.tell(|| {
                let mut payload = self.completed(&open, attempt);
                payload.status = Some(Status::Canceled);
                payload.error = Some("the run ended before this step did".to_owned());
                wire::put_outcome(&mut payload, &Outcome::default(), false)?;
                Ok(place(Draft::new(completion(&open), &payload)?, &at, open.child.clone()))
            });
        }
    }

    fn completed(&self, open: &Open, attempt: u32) -> StepCompleted {
        StepCompleted {
            name: open.name.clone(),
            kind: open.kind.clone(),
            attempt: Some(attempt),
            duration_ms: Some(self.clock.now().millis_since(open.began)),
            ..StepCompleted::default()
        }
    }

    /// Records a draft; one that cannot be made leaves a note of why in its place.
    fn tell(&self, draft: impl FnOnce() -> Result<Draft, EncodeError>) {
        let draft = draft().or_else(|cause| {
            tracing::error!(%cause, "an event could not be recorded");
            Draft::system("not_recorded", json!({ "warning": cause.to_string() }))
        });
        if let Ok(draft) = draft {
            self.scribe.record(draft);
        }
    }
}

/// Puts an outcome into a payload; without its values when they nest too deep for a line, because a
/// start without an end would be worse.
fn put_outcome(
    payload: &mut StepCompleted,
    outcome: &Outcome,
    of_command: bool,
) -> Result<(), EncodeError> {
    if wire::put_outcome(payload, outcome, of_command).is_ok() {
        return Ok(());
    }
    tracing::warn!(step = payload.name, "a result nests too deep to be recorded");
    let flat = Outcome { value: None, json: None, named: BTreeMap::new(), ..outcome.clone() };
    wire::put_outcome(payload, &flat, of_command)
}

fn completion(open: &Open) -> Kind {
    match open.child {
        Some(_) => Kind::CallWorkflowCompleted,
        None => Kind::StepCompleted,
    }
}

fn place(draft: Draft, at: &Occurrence, child: Option<RunId>) -> Draft {
    let draft = draft.at(at.path.clone(), at.iteration);
    match child {
        Some(child) => draft.calling(child),
        None => draft,
    }
}

fn started_wire(begin: &StepBegin) -> StartedWire<'_> {
    let mut wire = StartedWire {
        started: StepStarted {
            name: begin.name.clone(),
            kind: begin.kind.clone(),
            attempt: Some(begin.at.attempt),
            agent: None,
            blocks: None,
        },
        operation: None,
        workflow: None,
        inputs: None,
        dir: None,
        timeout_ms: begin
            .timeout
            .map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
        env: &begin.env,
    };
    match begin.work.as_deref() {
        Some(Work::Command(job)) => {
            wire.started.blocks = Some(vec![ContentBlock::command(job.script.shown())]);
            wire.dir = job.dir.as_ref().map(|dir| dir.display().to_string());
        }
        Some(Work::Agent(job)) => {
            let model = job.options.get("model").and_then(Value::as_str);
            wire.started.agent = Some(Agent {
                provider: Some(job.provider.clone()),
                model: model.map(str::to_owned),
                ..Agent::default()
            });
        }
        Some(Work::Operation(job)) => {
            wire.operation = Some(&job.operation);
            wire.inputs = Some(mask_named(&job.inputs));
        }
        Some(Work::Call(job)) => {
            wire.workflow = Some(&job.workflow);
            wire.inputs = Some(mask_named(&job.inputs));
        }
        Some(Work::Custom(job)) => wire.inputs = Some(mask_named(&job.config)),
        Some(Work::Wait(_)) | None => {}
    }
    wire
}

#[cfg(test)]
mod tests;
