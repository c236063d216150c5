//! Steps begin and end: what a receipt needs of that, and what a command leaves in a transcript.

use quipu_event::payload::{Status, StepCompleted, StepResult, StepStarted};
use quipu_event::{BlockContent, Event, Json, Kind, StepPath, Timestamp};
use serde_json::{Value, json};

use super::calls::{Answer, moment};
use super::execution::{End, Execution, Next};
use super::names::step_id;
use super::said::{mended, text_of};
use super::slots::Key;
use super::tell::Telling;
use super::wire::{Spoken, line};
use crate::files::Shelf;

/// Kinds of steps that only hold others, call others, or end the run.
const FRAMES: [&str; 8] =
    ["parallel", "for_each", "while", "loop", "call_workflow", "terminal", "flow", "workflow"];
/// The call that a command or an operation is. No tool of an agent has such an id.
const OWN_CALL: &str = "\0step";

impl Telling {
    /// Begins a step, with files of its own if something is done in it.
    pub(super) fn begin_step(&mut self, event: &Event, step: &StepStarted, shelf: &mut dyn Shelf) {
        let id = self.slots.step_id(&event.path, &step.name);
        self.log.steps_begun += 1;
        let has_files = !is_frame(&event.kind, &step.kind);
        if has_files {
            let worker = worker_of(&step.kind, step.agent.is_some());
            let mut execution = self.by_run(event, step.agent.clone(), worker);
            execution.attempt = step.attempt;
            let agent = worker.or(execution.agent.label()).unwrap_or("agent").to_owned();
            if worker.is_some() {
                let (tool, input) = work_of(event, step);
                execution.calls.call(OWN_CALL, &tool, &input, event.timestamp);
            }
            self.slots.begin(execution, &id, &agent, shelf);
        }
        let execution = self.slots.open.get(&(event.path.clone(), None)).filter(|_| has_files);
        let (engine, agent) = match execution {
            Some(execution) => {
                (Some(format!("{}-step", execution.engine)), Some(self.slots.ids(execution).1))
            }
            None => (None, None),
        };
        let payload = json!({
            "role": step.kind, "agents": agent.into_iter().collect::<Vec<_>>(),
            "step_index": self.log.steps_begun, "engine": engine, "kind": step.kind,
            "iteration": event.iteration, "attempt": step.attempt, "path": event.path.as_str(),
            "child_run_id": event.child_run_id,
        });
        let agent = agent.map(str::to_owned);
        self.log.begin_step(event, (&id, agent.as_deref()), payload, shelf);
    }

    /// Ends a step, and whatever other agents did in it.
    pub(super) fn end_step(&mut self, event: &Event, step: &StepCompleted, shelf: &mut dyn Shelf) {
        let id = self.slots.step_id(&event.path, &step.name);
        self.log.steps_ended += 1;
        let key = (event.path.clone(), None);
        if !self.slots.open.contains_key(&key) && !is_frame(&event.kind, &step.kind) {
            let worker = worker_of(&step.kind, false);
            let execution = self.by_run(event, None, worker);
            let agent = worker.or(execution.agent.label()).unwrap_or("agent").to_owned();
            self.slots.begin(execution, &id, &agent, shelf);
        }
        let next = step.next.as_ref().and_then(|next| next_of(next, &step.name));
        self.end_executions(event, step, next.as_ref(), shelf);
        let execution = self.slots.open.get(&key);
        let agent = execution.map(|execution| self.slots.ids(execution).1.to_owned());
        let engine = execution.map(|execution| format!("{}-step", execution.engine));
        let payload = json!({
            "status": status_of(step).as_str(), "duration_ms": step.duration_ms,
            "error": step.error, "engine": engine, "kind": step.kind,
            "iteration": event.iteration, "attempt": step.attempt, "path": event.path.as_str(),
            "child_run_id": event.child_run_id,
        });
        self.log.end_step(event, (&id, agent.as_deref()), payload, shelf);
        if let Some(next) = next {
            let payload = json!({
                "from_step": id, "to_step": next.goto, "next_step_id": next.goto,
                "reason": next.reason, "decision": next.decision, "loop_state": {},
            });
            self.log.write(event, "route_decision", (Some(&id), None), payload, shelf);
        }
        for key in self.executions_at(&event.path) {
            self.slots.close(&key, shelf);
        }
    }

    fn end_executions(
        &mut self,
        event: &Event,
        step: &StepCompleted,
        next: Option<&Next>,
        shelf: &mut dyn Shelf,
    ) {
        for key in self.executions_at(&event.path) {
            let Some(execution) = self.slots.open.get_mut(&key) else { continue };
            let is_main = key.1.is_none();
            execution.end = Some(End {
                at: if is_main { event.timestamp } else { execution.latest },
                status: status_of(step),
                error: step.error.clone().filter(|_| is_main),
                duration_ms: step.duration_ms.filter(|_| is_main),
                usage: step.usage.filter(|_| is_main),
                next: next.cloned().filter(|_| is_main),
            });
            if is_main {
                let lines = execution.leave(step, event.timestamp);
                self.append(event, &lines, shelf);
            }
        }
    }

    fn executions_at(&self, path: &StepPath) -> Vec<Key> {
        let from = (path.clone(), None);
        let at_path = self.slots.open.range(from..).map(|(key, _)| key.clone());
        at_path.take_while(|(at, _)| at == path).collect()
    }
}

impl Execution {
    /// Ends with the run what had no end of its own.
    pub(super) fn end_with_run(&mut self, status: &Status, at: Timestamp) {
        if self.end.is_some() || !self.path.is_root() {
            return;
        }
        self.end = Some(End {
            at: if self.source.is_none() { at } else { self.latest },
            status: status.clone(),
            error: None,
            duration_ms: None,
            usage: None,
            next: None,
        });
    }

    /// Returns the lines that a step's result makes: what a command printed, or a reply that came
    /// in no message.
    fn leave(&mut self, step: &StepCompleted, at: Timestamp) -> Vec<u8> {
        let result: Option<Value> = step.result.as_ref().and_then(mended);
        let field = |key: &str| result.as_ref().and_then(|r| r[key].as_str());
        self.note_model(field("model"));
        if self.session.is_none() {
            self.session = field("session").map(str::to_owned);
        }
        if !self.is_agent {
            return self.leave_work(step, result.is_some_and(|r| r["truncated"] == true), at);
        }
        let replied = step.result.as_ref().map(replied).unwrap_or_default();
        if self.has_reply || replied.is_empty() {
            return Vec::new();
        }
        self.has_reply = true;
        let mark = if self.is_stub && !replied.starts_with("[STUB]") { "[STUB] " } else { "" };
        let content = &format!("{mark}{replied}");
        line(&Spoken { timestamp: moment(at), role: "assistant", content })
    }

    /// Returns the line of a command or an operation; none if it was skipped.
    fn leave_work(&mut self, step: &StepCompleted, is_cut: bool, at: Timestamp) -> Vec<u8> {
        let printed = step.result.as_ref().map(printed).unwrap_or_default();
        let status = status_of(step);
        if status == Status::Skipped && printed.is_empty() {
            self.calls.take_back(OWN_CALL);
            return Vec::new();
        }
        let error = step.error.clone().filter(|_| printed.is_empty());
        let is_error = status != Status::Succeeded;
        let answer = Answer { text: error.unwrap_or(printed), is_error, is_cut };
        self.calls.answer_own(OWN_CALL, &answer, at).unwrap_or_default()
    }
}

fn is_frame(event: &Kind, kind: &str) -> bool {
    let calls = matches!(event, Kind::CallWorkflowStarted | Kind::CallWorkflowCompleted);
    calls || FRAMES.contains(&kind)
}

/// Returns who works on a step that has no agent.
fn worker_of(kind: &str, has_agent: bool) -> Option<&str> {
    (!has_agent && !matches!(kind, "agent" | "")).then_some(kind)
}

/// Returns the tool that a step without an agent is, and what it is given.
fn work_of(event: &Event, step: &StepStarted) -> (String, Json) {
    let commands = step.blocks.iter().flatten().filter_map(|block| match &block.content {
        BlockContent::Command { command, .. } => Some(command.as_str()),
        _ => None,
    });
    let command = commands.collect::<Vec<_>>().join("\n");
    if step.kind == "command" || !command.is_empty() {
        let input = if command.is_empty() { json!({}) } else { json!({ "command": command }) };
        return ("Bash".to_owned(), Json::encode(&input).unwrap_or_default());
    }
    let payload: Value = mended(&event.payload).unwrap_or_default();
    let tool = payload["operation"].as_str().unwrap_or(&step.kind).to_owned();
    (tool, Json::encode(&payload["inputs"]).unwrap_or_default())
}

/// Returns what a command printed, or an operation answered, as one text.
fn printed(result: &Json) -> String {
    let Some(said) = mended::<StepResult>(result) else { return text_of(result) };
    let value = said.value.as_ref().map(text_of);
    let texts = match (said.output, said.stdout, said.stderr) {
        (Some(output), None, None) => [Some(output), None, value],
        (_, stdout, stderr) => [stdout, stderr, value],
    };
    in_one(texts)
}

/// Returns what an agent answered, as one text. What its program said of itself is no reply.
fn replied(result: &Json) -> String {
    let Some(said) = mended::<StepResult>(result) else { return text_of(result) };
    let value = said.value.as_ref().map(text_of);
    in_one([said.output.or(said.stdout), value, None])
}

fn in_one(texts: [Option<String>; 3]) -> String {
    let texts = texts.into_iter().flatten().filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n")
}

fn status_of(step: &StepCompleted) -> Status {
    step.status.clone().unwrap_or(Status::Succeeded)
}

/// Returns where the run goes, as our engine says it; other shapes have no place.
fn next_of(next: &Json, step: &str) -> Option<Next> {
    let next: Value = mended(next)?;
    let goto = next.get("goto")?.as_str().map(str::to_owned);
    let reason = next["because"].as_str().unwrap_or_default().to_owned();
    let decision = match &goto {
        _ if reason == "retry" => "loop",
        None if reason == "terminal" => "terminate",
        Some(goto) if goto == step => "loop",
        _ => "advance",
    };
    Some(Next { decision, reason, goto: goto.as_deref().map(step_id) })
}
