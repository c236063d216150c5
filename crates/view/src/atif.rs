//! A run in the Agent Trajectory Interchange Format, ATIF 1.8: one JSON document per trajectory.
//!
//! Steps are written as soon as nothing more can come to them, so the document's other fields stand
//! behind them. A subagent is a trajectory in a file of its own that the main one refers to. What
//! an agent was never told or never said has no place here and is counted.

mod actions;
mod agent_step;
mod content;
mod document;
mod identity;
mod queue;
mod trajectory;
mod wire;

use std::collections::BTreeMap;

use quipu_event::payload::{ErrorReport, StepCompleted, StepStarted, System};
use quipu_event::{Event, Kind, Payload, RunId};

use crate::files::{FileView, Losses, Shelf};
use crate::reading::{read, step_path};
use crate::safe_name::safe_name;
use crate::session_cost::SessionCost;
use content::command_of;
use identity::Identity;
use trajectory::Trajectory;
use wire::Reference;

/// The version of the format that is written.
pub const ATIF_VERSION: &str = "ATIF-v1.8";

/// Folds one run into `<run-id>.atif.json`, and a file for each of its subagents.
#[derive(Debug, Default)]
pub struct AtifView {
    run_id: Option<RunId>,
    identity: Identity,
    main: Trajectory,
    subagents: BTreeMap<Box<str>, Trajectory>,
    cost: SessionCost,
    losses: Losses,
}

/// Whether an event found its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Found,
    None,
}

impl AtifView {
    /// Begins a run.
    pub fn new() -> Self {
        AtifView::default()
    }

    fn place(&mut self, event: &Event, shelf: &mut dyn Shelf) -> Place {
        let of = self.of(event);
        match read(event).payload {
            Payload::RunStarted(run) => self.identity.start(&run),
            Payload::RunCompleted(run) => {
                self.main.flush_all(shelf);
                self.identity.end(&run, event.timestamp);
            }
            Payload::Message(message) if event.kind == Kind::MessageUser => {
                return of.hear(event, message, shelf);
            }
            Payload::Message(message) => of.say(event, message, shelf),
            Payload::ToolCall(call) => of.call(event, *call, shelf),
            Payload::ToolResult(result) => of.answer(event, *result, shelf),
            Payload::Usage(usage) => of.count(event, &usage, shelf),
            Payload::StepStarted(step) => return begin_step(of, event, &step, shelf),
            Payload::StepCompleted(step) => return end_step(of, event, &step, shelf),
            Payload::Error(error) => of.remark(event, error_text(&error), None, shelf),
            Payload::System(system) => {
                self.identity.note(&system);
                return self.system(event, &system, shelf);
            }
            _ => return Place::None,
        }
        Place::Found
    }

    /// Returns the document of who speaks.
    fn of(&mut self, event: &Event) -> &mut Trajectory {
        let subagent = event.source.as_ref().and_then(|source| self.subagents.get_mut(source));
        // A subagent has a document before its first step.
        subagent.unwrap_or(&mut self.main)
    }

    fn system(&mut self, event: &Event, system: &System, shelf: &mut dyn Shelf) -> Place {
        let fact = |key: &str| system.facts.get(key).and_then(|value| value.as_str());
        match system.subtype.as_str() {
            "compaction" | "note" => {
                let parts = [fact("title"), fact("content").or(fact("summary"))];
                let said: Vec<&str> = parts.into_iter().flatten().collect();
                let text = if said.is_empty() { system.subtype.clone() } else { said.join("\n\n") };
                self.of(event).remark(event, text, Some(&system.subtype), shelf);
                Place::Found
            }
            "session_started" => Place::Found,
            "subagent_started" => match (fact("agent_id"), fact("tool_id")) {
                (Some(agent), Some(call)) => self.announce(event, agent, call),
                _ => Place::None,
            },
            _ => Place::None,
        }
    }

    /// Opens the file of a subagent, and refers to it in what came of the call that started it.
    fn announce(&mut self, event: &Event, agent: &str, call_id: &str) -> Place {
        let source = format!("subagent:{agent}");
        if event.source.is_some() || self.subagents.contains_key(source.as_str()) {
            return Place::None;
        }
        let (subagent, reference) = open_subagent(event, &source);
        if !self.main.refer_from(&event.path, call_id, reference) {
            return Place::None;
        }
        self.subagents.insert(source.into(), subagent);
        Place::Found
    }

    /// Opens the file of a subagent, and refers to it where the main trajectory stands.
    fn meet(&mut self, event: &Event, source: &str, shelf: &mut dyn Shelf) {
        if self.subagents.contains_key(source) {
            return;
        }
        let (subagent, reference) = open_subagent(event, source);
        let name = source.strip_prefix("subagent:").unwrap_or(source);
        let text = format!("Subagent {name} begins.");
        self.main.refer(event, text, reference, shelf);
        self.subagents.insert(source.into(), subagent);
    }
}

impl FileView for AtifView {
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        if self.run_id.is_none() {
            self.run_id = Some(event.run_id.clone());
            self.identity.parent_run_id = event.parent_run_id.clone();
            self.identity.first = Some(event.timestamp);
            let path = format!("{}.atif.json", event.run_id);
            self.main = Trajectory::new(path, event.run_id.to_string());
        }
        self.cost.add(event);
        if let Some(source) = event.source.as_deref() {
            self.meet(event, source, shelf);
        }
        if self.place(event, shelf) == Place::None {
            self.losses.leave_out(event);
        }
    }

    fn finish(&mut self, shelf: &mut dyn Shelf) {
        if self.run_id.is_none() {
            return;
        }
        let mut total = *self.main.totals();
        for (source, subagent) in &mut self.subagents {
            total.add(subagent.totals());
            let cost = subagent.totals().cost_usd;
            let name = source.strip_prefix("subagent:").unwrap_or(source);
            subagent.end(&self.identity, Some(name), cost, shelf);
        }
        let cost = self.cost.untold().or(total.cost_usd);
        self.main.end(&self.identity, None, cost, shelf);
        let all = self.subagents.values().chain([&self.main]);
        self.losses.leave_out_many(&Kind::Usage, all.map(Trajectory::uncounted).sum());
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }
}

/// Returns the document of a subagent, and a reference to it.
fn open_subagent(event: &Event, source: &str) -> (Trajectory, Reference) {
    let name = source.strip_prefix("subagent:").unwrap_or(source);
    let path = format!("{}.{}.atif.json", event.run_id, safe_name(name));
    let id = format!("{}/{source}", event.run_id);
    let reference = Reference {
        trajectory_id: Some(id.clone()),
        session_id: None,
        trajectory_path: Some(path.clone()),
    };
    (Trajectory::new(path, id), reference)
}

/// A step that runs a command or another run is an action; others only say where actions belong.
fn begin_step(
    of: &mut Trajectory,
    event: &Event,
    step: &StepStarted,
    shelf: &mut dyn Shelf,
) -> Place {
    let path = step_path(event, &step.name);
    let (function, argument) = match (command_of(step), &event.child_run_id) {
        (Some(command), _) => ("command", ("command", command)),
        (None, Some(child)) => ("call_workflow", ("run_id", child.to_string())),
        (None, None) => return Place::None,
    };
    of.act(event, path, function, argument, shelf);
    Place::Found
}

fn end_step(
    of: &mut Trajectory,
    event: &Event,
    step: &StepCompleted,
    shelf: &mut dyn Shelf,
) -> Place {
    let path = step_path(event, &step.name);
    if of.conclude(event, &path, step, shelf) {
        return Place::Found;
    }
    let failed = step.status.as_ref().is_some_and(|status| status.is_failure());
    if !failed {
        return Place::None;
    }
    let status = step.status.as_ref().map_or("failed", |status| status.as_str());
    let error = step.error.as_deref().unwrap_or_default();
    of.remark(event, format!("Step {path} {status}: {error}"), None, shelf);
    Place::Found
}

fn error_text(error: &ErrorReport) -> String {
    match (error.code.as_str(), error.message.as_str()) {
        ("", message) => message.to_owned(),
        (code, message) => format!("{code}: {message}"),
    }
}
