//! Checks of deliverables: their three events, and what they find among the errors.

use quipu_event::Kind;
use quipu_event::payload::{DeliverableCheck, DeliverableResult};
use serde_json::{Value, json};

use super::Run;
use super::brief::sized;
use super::ledger::{At, Severity, Told};
use super::wire::Failure;
use crate::Shelf;

impl Run {
    pub(super) fn deliverable(
        &mut self,
        at: &At,
        kind: &Kind,
        check: &DeliverableCheck,
        shelf: &mut dyn Shelf,
    ) {
        let (required, missing) = (check.required.len(), check.missing.join(", "));
        let (word, summary): (&'static str, _) = match kind {
            Kind::DeliverableCheckStarted => {
                ("deliverable.check.started", format!("check of {required} deliverables started"))
            }
            Kind::DeliverableMissing => ("deliverable.missing", format!("missing: {missing}")),
            _ => {
                let result = check.result.as_ref().map_or("unknown", |result| result.as_str());
                ("deliverable.check.completed", format!("check of deliverables: {result}"))
            }
        };
        let status = check.result.as_ref().map(|result| result.as_str().to_owned());
        let mut told = Told::new(word, "governance", summary)
            .with("required", list(&check.required))
            .with("missing", list(&check.missing))
            .with("problems", (!check.problems.is_empty()).then(|| list(&check.problems)))
            .with("status", status)
            .within(self.check.as_deref());
        if *kind == Kind::DeliverableMissing {
            told.severity = Severity::Warning;
        }
        let is_done = *kind == Kind::DeliverableCheckCompleted;
        let failed = check.result.as_ref().filter(|result| **result != DeliverableResult::Passed);
        if let Some(result) = failed.filter(|_| is_done) {
            let is_error = *result == DeliverableResult::Failed;
            told.severity = if is_error { Severity::Error } else { Severity::Warning };
            let why = check.problems.join("; ");
            let why = if why.is_empty() { missing } else { why };
            let message = sized(&format!("{}: {why}", told.summary), 2_000);
            self.paper.failed(at, told.severity, "deliverables", &message);
            told.failure = Some(Failure {
                code: format!("deliverables_{result}"),
                message,
                category: "governance",
                retryable: false,
                details: Some(json!({ "missing": list(&check.missing) })),
            });
        }
        self.paper.checked(check, is_done);
        let id = self.ledger.tell(at, &told, shelf);
        match kind {
            Kind::DeliverableCheckStarted => self.check = Some(id),
            Kind::DeliverableCheckCompleted => self.check = None,
            _ => {}
        }
    }
}

fn list(paths: &[String]) -> Value {
    paths.iter().take(1_000).map(|path| sized(path, 4_096)).collect::<Vec<_>>().into()
}
