//! The course of the run in the transcript: a line for each step and for each message with words.

use quipu_event::payload::{Message, Status, StepCompleted, StepStarted};
use quipu_event::{BlockContent, Timestamp};

use super::bounded::Kinds;
use super::{Paper, markdown, time_of_day};
use crate::Losses;
use crate::kgent::brief::{clip, duration};
use crate::kgent::ledger::At;

/// More open steps are not remembered.
const MOST_OPEN: usize = 256;

const STEP: [&str; 2] = ["step.started", "step.completed"];
const CALL: [&str; 2] = ["step.call_workflow.started", "step.call_workflow.completed"];

/// A step that has not ended.
pub(super) struct OpenStep {
    path: String,
    began: Timestamp,
    line: String,
}

impl Paper {
    /// Takes note of a step. Tells whether there was room for it.
    pub(in crate::kgent) fn step_started(&mut self, at: &At, step: &StepStarted) -> bool {
        if let Some(agent) = &step.agent {
            self.agent(agent);
        }
        let path = at.step.clone().unwrap_or_else(|| clip(&step.name, 200));
        let kind = if step.kind.is_empty() { "step" } else { &step.kind };
        let (code, kind) = (markdown::code(&path), markdown::inline(&clip(kind, 80)));
        let line = format!("- {} {code} ({kind}) has not ended", time_of_day(at.timestamp));
        let is_room = self.open_steps.len() < MOST_OPEN;
        if is_room {
            self.open_steps.push(OpenStep { path, began: at.timestamp, line });
        }
        is_room
    }

    pub(in crate::kgent) fn step_ended(
        &mut self,
        at: &At,
        step: &StepCompleted,
        child: Option<&str>,
        losses: &mut Losses,
    ) {
        let path = at.step.clone().unwrap_or_else(|| clip(&step.name, 200));
        let place = self.open_steps.iter().rposition(|open| open.path == path);
        let began = place.map(|place| self.open_steps.remove(place).began);
        let when = began.map_or_else(String::new, |began| time_of_day(began) + " to ")
            + &time_of_day(at.timestamp);
        let status = step.status.as_ref().map_or("succeeded", Status::as_str);
        let kind = if step.kind.is_empty() { "step" } else { &step.kind };
        let kind = markdown::inline(&clip(kind, 80));
        let mut line = format!("- {when} {} ({kind}) {status}", markdown::code(&path));
        if let Some(attempt) = step.attempt.filter(|attempt| *attempt > 1) {
            line += &format!(", attempt {attempt}");
        }
        let measured = || began.map(|began| at.timestamp.millis_since(began));
        if let Some(ms) = step.duration_ms.or_else(measured) {
            line += &format!(", {}", duration(ms));
        }
        if let Some(error) = step.error.as_deref().filter(|error| !error.is_empty()) {
            line += &format!(": {}", markdown::inline(&clip(error, 200)));
        }
        if let Some(child) = child {
            line += &format!(", see [its run](../{}/transcript.md)", markdown::target(child));
        }
        let kinds: Kinds = if child.is_some() { &CALL } else { &STEP };
        // A failure is in the event log too.
        let is_told = step.status.as_ref().is_some_and(Status::is_failure);
        let (from, to) = (usize::from(began.is_none()), 2 - usize::from(is_told));
        self.go_on(line, kinds.get(from..to).unwrap_or_default(), losses);
    }

    /// Tells of what an agent said. Tells whether there was anything in words.
    pub(in crate::kgent) fn said(
        &mut self,
        at: &At,
        message: &Message,
        losses: &mut Losses,
    ) -> bool {
        if let Some(model) = &message.model {
            super::name_once(&mut self.models, model);
        }
        let texts = message.blocks.iter().filter_map(|block| match &block.content {
            BlockContent::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        });
        let Some(text) = texts.map(|text| clip(text, 300)).next() else { return false };
        let who = at.source.as_deref().unwrap_or("the agent");
        let (who, text) = (markdown::inline(who), markdown::inline(&text));
        self.go_on(
            format!("- {} {who}: {text}", time_of_day(at.timestamp)),
            &["message.assistant"],
            losses,
        );
        true
    }

    pub(super) fn write_open_steps(&self, out: &mut String) {
        for open in &self.open_steps {
            out.push_str(&open.line);
            out.push('\n');
        }
    }

    /// Adds a line; what there is no more room for is a loss.
    fn go_on(&mut self, line: String, kinds: Kinds, losses: &mut Losses) {
        for lost in self.course.add(line, kinds) {
            *losses.events.entry((*lost).to_owned()).or_default() += 1;
        }
    }
}
