//! Errors, and steps that did not succeed: the layout has no steps, but it has errors.

use quipu_event::payload::{ErrorReport, Status, StepCompleted};
use serde_json::{Map, Value};

use super::Run;
use super::brief::{self, SUMMARY, sized};
use super::ledger::{At, Severity, Told};
use super::wire::Failure;
use crate::Shelf;

/// The families of errors that the layout knows.
const CATEGORIES: [&str; 8] =
    ["config", "sandbox", "skill", "tool", "memory", "engine", "governance", "unknown"];

impl Run {
    pub(super) fn error(&mut self, at: &At, report: &ErrorReport, shelf: &mut dyn Shelf) {
        let known = CATEGORIES.iter().find(|known| **known == report.category);
        let mut details = match report.details.as_ref().map(brief::whole) {
            Some(details @ Value::Object(_)) => brief::fields(&details),
            Some(other) if !other.is_null() => {
                Map::from_iter([("details".to_owned(), brief::value(&other))])
            }
            _ => Map::new(),
        };
        if known.is_none() && !report.category.is_empty() {
            details.insert("category".to_owned(), report.category.clone().into());
        }
        let or_unknown = |text: &str| if text.is_empty() { "unknown" } else { text }.to_owned();
        let failure = Failure {
            code: or_unknown(&report.code),
            message: sized(&report.message, 2_000),
            category: known.copied().unwrap_or("unknown"),
            retryable: report.retryable,
            details: (!details.is_empty()).then_some(Value::Object(details)),
        };
        self.tell_failure(at, failure, shelf);
    }

    /// Tells of a step that did not succeed.
    pub(super) fn failed_step(&mut self, at: &At, step: &StepCompleted, shelf: &mut dyn Shelf) {
        let status = step.status.as_ref().map_or("failed", Status::as_str);
        let said = step.error.clone().filter(|error| !error.is_empty());
        let name = at.step.clone().unwrap_or_else(|| step.name.clone());
        let result = step.result.as_ref().map(brief::whole).unwrap_or_default();
        let mut details = Map::new();
        details.insert("step".to_owned(), name.clone().into());
        details.insert("kind".to_owned(), step.kind.clone().into());
        details.insert("attempt".to_owned(), step.attempt.unwrap_or(1).into());
        for key in ["exit_code", "stderr"] {
            if !result[key].is_null() {
                details.insert(key.to_owned(), brief::value(&result[key]));
            }
        }
        let failure = Failure {
            code: format!("step_{status}"),
            message: format!("{name}: {}", sized(&said.unwrap_or(status.to_owned()), 2_000)),
            category: "engine",
            retryable: false,
            details: Some(Value::Object(details)),
        };
        self.tell_failure(at, failure, shelf);
    }

    fn tell_failure(&mut self, at: &At, failure: Failure, shelf: &mut dyn Shelf) {
        let actor = if failure.category == "tool" { "tool" } else { "runtime" };
        let mut told = Told::new("error", actor, format!("{}: {}", failure.code, failure.message))
            .with("code", failure.code.as_str())
            .with("message", sized(&failure.message, SUMMARY))
            .with("category", failure.category)
            .with("retryable", failure.retryable)
            .with("details", failure.details.clone())
            .graded(Severity::Error);
        self.paper.failed(at, Severity::Error, &failure.code, &failure.message);
        told.failure = Some(failure);
        self.ledger.tell(at, &told, shelf);
    }
}
