//! The receipt as JSON, in the order in which a person reads it.
//!
//! What nobody said is `null` or absent, never 0.

use std::collections::{BTreeMap, HashMap};

use quipu_event::payload::{RunKind, Status, TokenCounts};
use quipu_event::{RunId, Timestamp};
use serde::{Serialize, Serializer};

use super::{Bill, CalledRun, Cost, How, Part, Receipt, StepReceipt};
use crate::price::Amount;

impl Serialize for Receipt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (own, whole) = (self.own(), self.with_called());
        let inside = self.with_steps_inside();
        ReceiptWire {
            run: RunWire::of(self),
            steps: self.steps.iter().map(|step| StepWire::of(step, &inside)).collect(),
            outside_steps: BillWire::of(&self.outside),
            called_runs: self.called.iter().map(CalledWire::of).collect(),
            total: BillWire::of(&own),
            total_with_called_runs: BillWire::of(&whole),
            price_lists: self.price_lists().into_iter().collect(),
        }
        .serialize(serializer)
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        CostWire {
            usd: self.known(),
            how: self.how().into_iter().map(How::word).collect(),
            is_complete: self.unknown == 0,
            reported_usd: self.reported,
            priced_usd: self.priced,
            unknown: self.unknown,
        }
        .serialize(serializer)
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        PartWire::of(self).serialize(serializer)
    }
}

#[derive(Serialize)]
struct ReceiptWire<'a> {
    #[serde(flatten)]
    run: RunWire<'a>,
    steps: Vec<StepWire<'a>>,
    outside_steps: BillWire,
    called_runs: Vec<CalledWire<'a>>,
    total: BillWire,
    total_with_called_runs: BillWire,
    price_lists: Vec<&'a str>,
}

#[derive(Serialize)]
struct RunWire<'a> {
    run_id: &'a RunId,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_run_id: Option<&'a RunId>,
    name: Option<&'a str>,
    kind: Option<&'a RunKind>,
    engine: Option<&'a str>,
    model: Option<&'a str>,
    cwd: Option<&'a str>,
    status: Option<&'a Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    started: Timestamp,
    duration_ms: u64,
}

impl<'a> RunWire<'a> {
    fn of(receipt: &'a Receipt) -> Self {
        RunWire {
            run_id: &receipt.run_id,
            parent_run_id: receipt.parent_run_id.as_ref(),
            name: receipt.name.as_deref(),
            kind: receipt.kind.as_ref(),
            engine: receipt.agent.as_deref(),
            model: receipt.model.as_deref(),
            cwd: receipt.cwd.as_deref(),
            status: receipt.status.as_ref(),
            error: receipt.error.as_deref(),
            started: receipt.started,
            duration_ms: receipt.duration_ms,
        }
    }
}

#[derive(Serialize)]
struct StepWire<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    kind: Option<&'a str>,
    engine: Option<&'a str>,
    model: Option<&'a str>,
    times: u64,
    attempts: u64,
    status: Option<&'a Status>,
    ended: BTreeMap<&'a str, u64>,
    not_ended: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    duration_ms: Option<u64>,
    #[serde(flatten)]
    bill: BillWire,
    /// Present where steps stand inside this one: what it and they used together.
    #[serde(skip_serializing_if = "Option::is_none")]
    with_steps_inside: Option<PartWire>,
}

impl<'a> StepWire<'a> {
    fn of(step: &'a StepReceipt, inside: &HashMap<&str, Part>) -> Self {
        StepWire {
            path: &step.path,
            attempt: step.attempt,
            kind: step.kind.as_deref(),
            engine: step.agent.as_deref(),
            model: step.model.as_deref(),
            times: step.times,
            attempts: step.attempts,
            status: step.status(),
            ended: step.ended.iter().map(|(status, count)| (status.as_str(), *count)).collect(),
            not_ended: step.open(),
            error: step.error.as_deref(),
            duration_ms: step.duration_ms,
            bill: BillWire::of(&step.bill),
            with_steps_inside: inside.get(step.path.as_str()).map(PartWire::of),
        }
    }
}

#[derive(Serialize)]
struct CalledWire<'a> {
    run_id: &'a RunId,
    called_by: Option<&'a RunId>,
    path: &'a str,
    found: bool,
    name: Option<&'a str>,
    status: Option<&'a Status>,
    duration_ms: Option<u64>,
    #[serde(flatten)]
    bill: BillWire,
}

impl<'a> CalledWire<'a> {
    fn of(run: &'a CalledRun) -> Self {
        let receipt = run.receipt.as_ref();
        CalledWire {
            run_id: &run.run_id,
            called_by: run.by.as_ref(),
            path: &run.path,
            found: receipt.is_some(),
            name: receipt.and_then(|receipt| receipt.name.as_deref()),
            status: receipt.and_then(|receipt| receipt.status.as_ref()),
            duration_ms: receipt.map(|receipt| receipt.duration_ms),
            bill: BillWire::of(&run.bill()),
        }
    }
}

/// What was used in one place: all of it, and by speaker and model.
#[derive(Serialize)]
struct BillWire {
    tokens: TokenCounts,
    cost: Option<Cost>,
    models: Vec<ModelWire>,
}

impl BillWire {
    fn of(bill: &Bill) -> Self {
        let total = bill.total();
        let models = bill.by_speaker().into_iter().map(|((source, model), part)| ModelWire {
            source: source.map(str::to_owned),
            model: model.map(str::to_owned),
            used: PartWire::of(&part),
        });
        BillWire { tokens: total.tokens, cost: cost_of(&total), models: models.collect() }
    }
}

#[derive(Serialize)]
struct ModelWire {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    model: Option<String>,
    #[serde(flatten)]
    used: PartWire,
}

#[derive(Serialize)]
struct PartWire {
    usage_events: u64,
    tokens: TokenCounts,
    cost: Option<Cost>,
}

impl PartWire {
    fn of(part: &Part) -> Self {
        PartWire { usage_events: part.events, tokens: part.tokens, cost: cost_of(part) }
    }
}

/// A figure, and how it was obtained.
#[derive(Serialize)]
struct CostWire {
    usd: Option<Amount>,
    how: Vec<&'static str>,
    is_complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_usd: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priced_usd: Option<Amount>,
    unknown: u64,
}

/// Where nothing is known to have been used there is no cost, not even one of zero.
fn cost_of(part: &Part) -> Option<Cost> {
    (!part.cost.how().is_empty()).then_some(part.cost)
}
