//! `transcript.md`: the run for people, in eight sections that are always there.
//!
//! It keeps what the sections need and no more: counts, the first and the last of what is many,
//! and the notes. Nothing that anybody wrote can open or close a section; see `markdown`.

mod bounded;
mod course;
mod deliver;
mod markdown;
mod sections;

use std::collections::BTreeMap;

use quipu_event::Timestamp;
use quipu_event::payload::{
    Agent, DeliverableCheck, RunCompleted, RunStarted, Status, TokenCounts, Usage,
};
use serde_json::Value;

use super::brief::clip;
use super::ledger::{At, Severity};
use bounded::Bounded;
use course::OpenStep;
use deliver::Deliverables;

/// So many tools have a row of their own.
const MOST_TOOLS: usize = 200;
/// So many skills and models are named.
const MOST_NAMES: usize = 100;

/// What the transcript says, as far as the run has come.
pub(super) struct Paper {
    root: Option<String>,
    start: Option<RunStarted>,
    prompts: Bounded,
    roles: Vec<String>,
    skills: Vec<String>,
    models: Vec<String>,
    tools: BTreeMap<String, Tool>,
    files: [u64; 3],
    tokens: TokenCounts,
    /// The course of the run, a line for each step and message.
    course: Bounded,
    open_steps: Vec<OpenStep>,
    notes: Vec<(String, String)>,
    deliverables: Deliverables,
    failures: Bounded,
}

/// How often a tool was called, and what came of it.
#[derive(Default)]
struct Tool {
    calls: u64,
    completed: u64,
    failed: u64,
    blocked: u64,
    /// How long its calls took, as far as anybody knows.
    duration_ms: Option<u64>,
}

impl Paper {
    pub(super) fn new(root: Option<String>) -> Paper {
        Paper {
            root,
            start: None,
            prompts: Bounded::new(10),
            roles: Vec::new(),
            skills: Vec::new(),
            models: Vec::new(),
            tools: BTreeMap::new(),
            files: [0; 3],
            tokens: TokenCounts::default(),
            course: Bounded::new(200),
            open_steps: Vec::new(),
            notes: Vec::new(),
            deliverables: Deliverables::default(),
            failures: Bounded::new(100),
        }
    }

    pub(super) fn started(&mut self, run: &RunStarted) {
        if let Some(agent) = &run.agent {
            self.agent(agent);
        }
        self.deliverables.over(None);
        let inputs = None;
        self.start.get_or_insert_with(|| RunStarted { inputs, ..run.clone() });
    }

    pub(super) fn prompted(&mut self, at: &At, prompt: &str, size: Option<usize>, system: &str) {
        if !prompt.is_empty() {
            let step = at.step.as_deref().map(|step| format!("{}: ", markdown::code(step)));
            let size = size.map(|size| format!(" ({size} characters)")).unwrap_or_default();
            let excerpt = markdown::inline(&clip(prompt, 500));
            let line = format!("- {}{excerpt}{size}", step.unwrap_or_default());
            self.prompts.add(line, &[]);
        }
        let role = format!("> {}", markdown::inline(&clip(system, 500)));
        if !system.is_empty() && self.roles.len() < 5 && !self.roles.contains(&role) {
            self.roles.push(role);
        }
    }

    pub(super) fn skilled(&mut self, name: &str) {
        name_once(&mut self.skills, name);
    }

    pub(super) fn called(&mut self, tool: &str, input: &Value) {
        if matches!(tool, "Skill" | "load_skill") {
            let name = ["skill", "skill_id", "name", "command"].iter();
            if let Some(name) = name.filter_map(|key| input[*key].as_str()).next() {
                self.skilled(name);
            }
        }
        self.tool(tool).calls += 1;
    }

    pub(super) fn answered(&mut self, tool: &str, status: &str, duration_ms: Option<u64>) {
        let tool = self.tool(tool);
        match status {
            "failed" => tool.failed += 1,
            "blocked" => tool.blocked += 1,
            _ => tool.completed += 1,
        }
        if let Some(ms) = duration_ms {
            tool.duration_ms = Some(tool.duration_ms.unwrap_or(0).saturating_add(ms));
        }
    }

    pub(super) fn touched(&mut self, kind: &str, path: &str) {
        match kind {
            "file.read" => self.files[0] += 1,
            "file.written" => {
                self.files[1] += 1;
                if !path.trim().is_empty() {
                    self.deliverables.written(path);
                }
            }
            _ => self.files[2] += 1,
        }
    }

    pub(super) fn used(&mut self, usage: &Usage) {
        self.tokens.add(&usage.tokens());
        if let Some(model) = &usage.model {
            name_once(&mut self.models, model);
        }
    }

    pub(super) fn noted(&mut self, title: &str, content: &str) {
        self.notes.push((markdown::title(title), markdown::contained(content)));
    }

    pub(super) fn checked(&mut self, check: &DeliverableCheck, is_done: bool) {
        self.deliverables.checked(check, is_done);
    }

    pub(super) fn ended(&mut self, run: &RunCompleted) {
        self.deliverables.over(Some(run.status.as_ref().unwrap_or(&Status::Succeeded)));
    }

    pub(super) fn failed(&mut self, at: &At, severity: Severity, what: &str, message: &str) {
        let word = severity.as_str();
        let step = at.step.as_deref().map(|step| format!(" in {}", markdown::code(step)));
        let (what, step) = (markdown::code(what), step.unwrap_or_default());
        let message = markdown::inline(&clip(message, 300));
        self.failures
            .add(format!("- {} {word}{step}: {what} {message}", time_of_day(at.timestamp)), &[]);
    }

    fn agent(&mut self, agent: &Agent) {
        if let Some(model) = agent.model.as_deref().or(agent.label()) {
            name_once(&mut self.models, model);
        }
    }

    fn tool(&mut self, name: &str) -> &mut Tool {
        let is_room = self.tools.len() < MOST_TOOLS || self.tools.contains_key(name);
        let name = if is_room { name } else { "(all others)" };
        self.tools.entry(name.to_owned()).or_default()
    }
}

fn name_once(names: &mut Vec<String>, name: &str) {
    let name = clip(name, 120);
    if names.len() < MOST_NAMES && !names.contains(&name) {
        names.push(name);
    }
}

fn time_of_day(timestamp: Timestamp) -> String {
    let text = timestamp.to_string();
    text.get(11..19).unwrap_or(&text).to_owned()
}
