//! Receipts added up by one thing.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use quipu_event::RunId;
use quipu_view::receipt::{Bill, Part, PartKey, Receipt};

use super::By;
use crate::format::entry::short_id;

/// What a group is about. What nobody said has no label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    pub(super) label: Option<String>,
    /// The run, where groups are runs.
    pub(super) run: Option<RunId>,
}

impl GroupKey {
    /// Returns what a person knows it by.
    pub(super) fn shown(&self) -> String {
        let label = self.label.as_deref();
        match &self.run {
            Some(run) => {
                [Some(short_id(run)), label].into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
            None => label.unwrap_or("unknown").to_owned(),
        }
    }
}

/// What was used in one group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    /// How many runs have a part in it.
    pub(super) runs: u64,
    pub(super) used: Part,
}

/// All groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups(BTreeMap<GroupKey, Group>);

impl Groups {
    /// Adds one run, without the runs it called.
    pub(super) fn add(&mut self, receipt: &Receipt, by: By) {
        let mut touched: BTreeMap<GroupKey, Part> = BTreeMap::new();
        let mut add = |bill: &Bill, agent: Option<&String>| {
            for (key, part) in &bill.parts {
                touched.entry(key_of(receipt, key, agent, by)).or_default().add(part);
            }
        };
        add(&receipt.outside, receipt.agent.as_ref());
        for step in &receipt.steps {
            add(&step.bill, step.agent.as_ref().or(receipt.agent.as_ref()));
        }
        for (key, used) in touched {
            self.put(key, Group { runs: 1, used });
        }
    }

    pub(super) fn merge(&mut self, other: Groups) {
        for (key, group) in other.0 {
            self.put(key, group);
        }
    }

    /// Returns the groups: days in their order, all else with what cost most first.
    pub(super) fn sorted(&self, by: By) -> Vec<(&GroupKey, &Group)> {
        let mut groups: Vec<_> = self.0.iter().collect();
        if by != By::Day {
            let weight = |group: &Group| (group.used.cost.known(), group.used.tokens.total());
            groups.sort_by_key(|(_, group)| Reverse(weight(group)));
        }
        groups
    }

    fn put(&mut self, key: GroupKey, group: Group) {
        let sum = self.0.entry(key).or_default();
        sum.runs += group.runs;
        sum.used.add(&group.used);
    }
}

fn key_of(receipt: &Receipt, key: &PartKey, agent: Option<&String>, by: By) -> GroupKey {
    let label = match by {
        By::Day => Some(key.day.to_string()),
        By::Model => key.model.clone(),
        By::Project => receipt.cwd.clone(),
        By::Agent => agent.cloned(),
        By::Run => receipt.name.clone(),
    };
    GroupKey { label, run: (by == By::Run).then(|| receipt.run_id.clone()) }
}
