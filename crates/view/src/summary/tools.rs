//! Tool calls and their results.

use std::collections::HashMap;

use quipu_event::StepPath;
use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};

use super::{Summary, entry};

/// The calls of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolTotals {
    /// Calls.
    pub calls: u64,
    /// Results.
    pub results: u64,
    /// Results that say that the tool failed.
    pub failed: u64,
    /// Results that say that the call was refused.
    pub blocked: u64,
    /// Calls without a result.
    pub dangling: u64,
    /// How long the calls took, added up.
    pub duration_ms: u64,
}

/// Calls whose result has not come yet: the tool's name by the call's place and id. Agents that work
/// side by side may number their calls alike.
pub(super) type OpenCalls = HashMap<(StepPath, String), String>;

impl Summary {
    pub(super) fn note_call(&mut self, path: &StepPath, call: ToolCall) {
        let totals = entry(&mut self.tools, &call.name);
        totals.calls += 1;
        totals.dangling += 1;
        self.open_calls.insert((path.clone(), call.call_id), call.name);
    }

    pub(super) fn note_result(&mut self, path: &StepPath, result: ToolResult) {
        let called = self.open_calls.remove(&(path.clone(), result.call_id));
        let answered = u64::from(called.is_some());
        // The call says best which tool it was; some results leave it out.
        let totals = entry(&mut self.tools, &called.unwrap_or(result.name));
        totals.dangling -= answered;
        totals.results += 1;
        totals.failed += u64::from(result.status == Some(ToolStatus::Failed));
        totals.blocked += u64::from(result.status == Some(ToolStatus::Blocked));
        let duration = result.duration_ms.unwrap_or(0);
        totals.duration_ms = totals.duration_ms.saturating_add(duration);
    }
}
