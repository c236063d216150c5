//! The cost that an agent names for its whole session, at its end and in no `usage` event.
//!
//! A workflow's own end names none: what stands in its result was put there by its author.

use quipu_event::payload::{RunCompleted, RunKind};
use quipu_event::{Event, Payload, RunId};
use serde::Deserialize;

use crate::reading::read;

/// Folds one run into that cost.
#[derive(Clone, Debug, Default)]
pub struct SessionCost {
    run_id: Option<RunId>,
    kind: Option<RunKind>,
    at_end: Option<f64>,
    is_told: bool,
}

impl SessionCost {
    /// Takes the next event.
    pub fn add(&mut self, event: &Event) {
        if self.run_id.get_or_insert_with(|| event.run_id.clone()) != &event.run_id {
            return;
        }
        let kind = event.kind.as_str();
        if kind != "usage" && !kind.starts_with("run.") {
            return;
        }
        match read(event).payload {
            Payload::RunCreated(run) => drop(self.kind.get_or_insert(run.kind)),
            Payload::RunStarted(run) => drop(self.kind.get_or_insert(run.kind)),
            Payload::RunCompleted(run) => self.at_end = named_at_end(&run, self.kind.as_ref()),
            Payload::Usage(usage) => self.is_told |= usage.cost_usd.is_some(),
            _ => {}
        }
    }

    /// Returns the cost in dollars, unless `usage` events have told it.
    pub fn untold(&self) -> Option<f64> {
        self.at_end.filter(|_| !self.is_told)
    }
}

/// Returns what the end of a run of this kind says that its session cost.
pub(crate) fn named_at_end(run: &RunCompleted, kind: Option<&RunKind>) -> Option<f64> {
    #[derive(Deserialize)]
    struct Named {
        cost_usd: f64,
    }
    kind.filter(|kind| **kind != RunKind::Workflow)?;
    let named = run.result.as_ref()?.decode::<Named>().ok()?;
    Some(named.cost_usd).filter(|cost| cost.is_finite() && *cost >= 0.0)
}
