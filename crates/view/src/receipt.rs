//! What a run cost: per step and in total, with how each figure was obtained.
//!
//! A sum is never more certain than its parts: what a provider reported, what was priced by a table
//! and what nobody knows are kept apart to the end. Steps of a loop are added up, so that a receipt
//! does not grow with the iterations, unless each is asked for.

mod account;
mod bill;
mod build;
mod cost;
mod join;
mod open;
mod row;
mod unpaid;
mod wire;

use std::collections::{BTreeSet, HashMap};

use quipu_event::payload::{RunKind, Status};
use quipu_event::{RunId, Timestamp};

pub use bill::{Bill, Day, Part, PartKey};
pub use build::{ReceiptBuilder, ReceiptOptions, is_needed};
pub use cost::{Cost, How};
pub use join::{CalledRun, join};
pub use row::StepReceipt;

use crate::path::MAX_LEVELS;

/// What one run cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// Which run.
    pub run_id: RunId,
    /// The run that called it.
    pub parent_run_id: Option<RunId>,
    /// Its name, when its events say.
    pub name: Option<String>,
    /// What sort of thing it is, when its events say.
    pub kind: Option<RunKind>,
    /// Whose agent did the work, when there is one for the whole run.
    pub agent: Option<String>,
    /// The model that the run says it uses.
    pub model: Option<String>,
    /// Where it ran.
    pub cwd: Option<String>,
    /// How it ended; nothing while it has not.
    pub status: Option<Status>,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// When its first event happened.
    pub started: Timestamp,
    /// How long the whole of it took, resumed or not ([`RunCompleted::whole_ms`]); without an end,
    /// from its first event to its last.
    ///
    /// [`RunCompleted::whole_ms`]: quipu_event::payload::RunCompleted::whole_ms
    pub duration_ms: u64,
    /// Its steps, in the order in which they first appeared.
    pub steps: Vec<StepReceipt>,
    /// What was used outside every step.
    pub outside: Bill,
    /// The runs that its steps called, each with the path of the step.
    pub calls: Vec<(String, RunId)>,
    /// Those runs and the runs they called, once joined. See [`join()`].
    pub called: Vec<CalledRun>,
    /// What the price lists that were used call themselves.
    pub prices: BTreeSet<String>,
    /// Payloads that do not have the shape of their type.
    pub undecoded: u64,
}

impl Receipt {
    /// Returns what the run itself used, without the runs it called.
    pub fn own(&self) -> Bill {
        let mut total = self.outside.clone();
        self.steps.iter().for_each(|step| total.merge(&step.bill));
        total
    }

    /// Returns what the run and the runs it called used.
    pub fn with_called(&self) -> Bill {
        let mut total = self.own();
        self.called.iter().for_each(|run| total.merge(&run.bill()));
        total
    }

    /// Returns what steps and those inside them used together, by the path of the outer one.
    ///
    /// A step stands here only if something stands inside it.
    pub fn with_steps_inside(&self) -> HashMap<&str, Part> {
        let mut sums: HashMap<&str, Part> = HashMap::new();
        for step in &self.steps {
            let used = step.bill.total();
            for (end, _) in step.path.match_indices(['.', '[']).take(MAX_LEVELS) {
                sums.entry(&step.path[..end]).or_default().add(&used);
            }
        }
        for step in &self.steps {
            if let Some(sum) = sums.get_mut(step.path.as_str()) {
                sum.add(&step.bill.total());
            }
        }
        sums
    }

    /// Returns the name or, lacking one, the id.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(self.run_id.as_str())
    }

    /// Returns what the price lists call themselves that were used here or in the runs called.
    pub fn price_lists(&self) -> BTreeSet<&str> {
        let called = self.called.iter().filter_map(|run| run.receipt.as_ref());
        let all = std::iter::once(self).chain(called);
        all.flat_map(|receipt| receipt.prices.iter().map(String::as_str)).collect()
    }
}
