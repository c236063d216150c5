//! A session as JSON. What is not known is `null`, never 0.

use quipu_event::payload::{RunKind, TokenCounts};
use quipu_event::{RunId, Timestamp};
use serde::Serialize;

use super::face::Row;

#[derive(PartialEq, Serialize)]
pub(super) struct RowWire {
    run_id: RunId,
    parent_run_id: Option<RunId>,
    kind: Option<RunKind>,
    name: Option<String>,
    session_id: Option<String>,
    agent: Option<String>,
    model: Option<String>,
    project: Option<String>,
    cwd: Option<String>,
    /// `working`, `waiting`, `idle`, `ended`, `interrupted`, or how it ended if not well.
    state: String,
    action: String,
    started: Option<Timestamp>,
    since: Option<Timestamp>,
    latest: Option<Timestamp>,
    tokens: Option<u64>,
    usage: TokenCounts,
    cost_usd: Option<f64>,
}

/// A session that is not shown any more.
#[derive(Serialize)]
pub(super) struct GoneWire<'a> {
    run_id: &'a RunId,
    /// `gone`.
    state: &'static str,
}

impl RowWire {
    pub(super) fn of(row: &Row<'_>) -> Self {
        let activity = row.activity;
        RowWire {
            run_id: row.run.clone(),
            parent_run_id: activity.parent_run_id.clone(),
            kind: activity.kind.clone(),
            name: activity.name.clone(),
            session_id: activity.session_id.clone(),
            agent: activity.agent.clone(),
            model: activity.model.clone(),
            project: activity.project().map(str::to_owned),
            cwd: activity.cwd.clone(),
            state: row.state.word().to_owned(),
            action: activity.action().to_string(),
            started: activity.started,
            since: activity.since(),
            latest: activity.latest,
            tokens: activity.usage.total(),
            usage: activity.usage,
            cost_usd: activity.usage.cost_usd,
        }
    }
}

impl<'a> GoneWire<'a> {
    pub(super) fn of(run: &'a RunId) -> Self {
        GoneWire { run_id: run, state: "gone" }
    }
}
