//! The beginning and the end of a run, and where it stands in between.

use quipu_event::payload::{RunCompleted, RunCreated, RunStarted, Status};

use super::Run;
use super::brief::{self, sized};
use super::ledger::{At, Severity, Told};
use super::wire::Failure;
use crate::Shelf;

impl Run {
    pub(super) fn created(&mut self, at: &At, run: &RunCreated, shelf: &mut dyn Shelf) {
        self.state.name(&run.name, run.kind.as_str());
        let told = Told::new("run.created", "runtime", format!("run {} created", run.name))
            .with("name", run.name.as_str())
            .with("kind", run.kind.as_str())
            .with("status", "pending");
        self.ledger.tell(at, &told, shelf);
        self.state.write(&self.ledger, shelf);
    }

    pub(super) fn started(&mut self, at: &At, run: &RunStarted, shelf: &mut dyn Shelf) {
        self.state.start(at.timestamp, run);
        let agent = run.agent.as_ref().and_then(|agent| agent.label()).map(str::to_owned);
        let inputs = run.inputs.as_ref().map(brief::whole);
        let told = Told::new("run.started", "runtime", format!("run {} started", run.name))
            .with("name", run.name.as_str())
            .with("kind", run.kind.as_str())
            .with("status", "running")
            .with("cwd", run.cwd.clone())
            .with("definition", run.definition.as_ref().map(|file| file.path.clone()))
            .with("definition_sha256", run.definition.as_ref().map(|file| file.sha256.clone()))
            .with("agent", agent)
            .with("inputs", inputs.map(|inputs| brief::fields(&inputs)))
            .with("parent_run_id", self.ledger.identity.parent_run_id.clone());
        let id = self.ledger.tell(at, &told, shelf);
        self.ledger.root.get_or_insert(id);
        self.paper.started(run);
        self.state.write(&self.ledger, shelf);
    }

    pub(super) fn completed(&mut self, at: &At, run: &RunCompleted, shelf: &mut dyn Shelf) {
        self.state.complete(at.timestamp, run);
        self.paper.ended(run);
        let status = run.status.as_ref().map_or("succeeded", Status::as_str);
        let is_failure = run.status.as_ref().is_some_and(Status::is_failure);
        let name = self.state.name.clone().unwrap_or_default();
        let why = run.error.as_deref().filter(|error| !error.is_empty());
        let reason = why.map(|why| format!(": {why}")).unwrap_or_default();
        let kind = if is_failure { "run.failed" } else { "run.completed" };
        let told = Told::new(kind, "runtime", format!("run {name} {status}{reason}"))
            .with("status", self.state.status)
            .with("outcome", status)
            .with("duration_ms", self.state.duration_ms)
            .with("error", why.map(|why| sized(why, brief::SUMMARY)));
        let severity = match run.status {
            Some(Status::Canceled) => Severity::Warning,
            Some(Status::Other(_)) => Severity::Warning,
            _ if is_failure => Severity::Error,
            _ => Severity::Info,
        };
        let failure = is_failure.then(|| Failure {
            code: format!("run_{status}"),
            message: sized(why.unwrap_or(status), 2_000),
            category: "engine",
            retryable: false,
            details: None,
        });
        if let Some(failure) = &failure {
            self.paper.failed(at, severity, &failure.code, &failure.message);
        }
        self.ledger.tell(at, &Told { failure, ..told.graded(severity) }, shelf);
        self.state.write(&self.ledger, shelf);
    }
}
