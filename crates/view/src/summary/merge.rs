//! Several summaries → one.

use std::collections::BTreeMap;

use super::{ModelTotals, StepTotals, Summary, ToolTotals};

impl Summary {
    /// Adds the numbers of other runs.
    ///
    /// What identifies a run stays only where both agree; durations add up. What is open in
    /// `other` counts as it stands: its later events cannot be added here.
    pub fn merge(&mut self, other: &Summary) {
        if other.runs == 0 {
            return;
        }
        if self.runs == 0 {
            self.clone_from(other);
            return;
        }
        self.merge_identity(other);
        self.runs += other.runs;
        self.events += other.events;
        self.child_runs += other.child_runs;
        self.errors += other.errors;
        self.unknown += other.unknown;
        self.undecoded += other.undecoded;
        self.masked += other.masked;
        merge_all(&mut self.types, &other.types, |total, part| *total += part);
        merge_all(&mut self.messages, &other.messages, |total, part| *total += part);
        merge_all(&mut self.blocks, &other.blocks, |total, part| *total += part);
        merge_all(&mut self.agents, &other.agents, |total, part| *total += part);
        merge_all(&mut self.loops, &other.loops, |longest, part| *longest = (*longest).max(*part));
        merge_all(&mut self.tools, &other.tools, ToolTotals::merge);
        merge_all(&mut self.steps, &other.steps, StepTotals::merge);
        merge_all(&mut self.models, &other.models, ModelTotals::merge);
    }

    fn merge_identity(&mut self, other: &Summary) {
        self.whole_ms = match (self.duration_ms(), other.duration_ms()) {
            (Some(own), Some(others)) => Some(own.saturating_add(others)),
            (own, others) => own.or(others),
        };
        keep_if_equal(&mut self.run_id, &other.run_id);
        keep_if_equal(&mut self.parent_run_id, &other.parent_run_id);
        keep_if_equal(&mut self.name, &other.name);
        keep_if_equal(&mut self.kind, &other.kind);
        keep_if_equal(&mut self.status, &other.status);
        keep_if_equal(&mut self.error, &other.error);
        keep_if_equal(&mut self.first_seq, &other.first_seq);
        keep_if_equal(&mut self.last_seq, &other.last_seq);
        keep_if_equal(&mut self.last_kind, &other.last_kind);
        self.started = self.started.min(other.started);
        self.latest = self.latest.max(other.latest);
        // As long as one of them goes on, all of them together have not ended.
        self.ended = self.ended.zip(other.ended).map(|(own, others)| own.max(others));
    }
}

impl ToolTotals {
    fn merge(&mut self, other: &ToolTotals) {
        self.calls += other.calls;
        self.results += other.results;
        self.failed += other.failed;
        self.blocked += other.blocked;
        self.dangling += other.dangling;
        self.duration_ms = self.duration_ms.saturating_add(other.duration_ms);
    }
}

impl StepTotals {
    fn merge(&mut self, other: &StepTotals) {
        if self.kind.is_none() {
            self.kind.clone_from(&other.kind);
        }
        self.occurrences += other.occurrences;
        self.retries += other.retries;
        self.ended += other.ended;
        self.failed += other.failed;
        self.duration_ms = self.duration_ms.saturating_add(other.duration_ms);
        self.max_duration_ms = self.max_duration_ms.max(other.max_duration_ms);
    }
}

impl ModelTotals {
    fn merge(&mut self, other: &ModelTotals) {
        self.events += other.events;
        self.tokens.add(&other.tokens);
    }
}

fn merge_all<T: Clone + Default>(
    totals: &mut BTreeMap<String, T>,
    parts: &BTreeMap<String, T>,
    merge: impl Fn(&mut T, &T),
) {
    for (key, part) in parts {
        merge(super::entry(totals, key), part);
    }
}

fn keep_if_equal<T: PartialEq>(own: &mut Option<T>, others: &Option<T>) {
    if own != others {
        *own = None;
    }
}
