//! The text of a document: its head, its steps one by one, and its tail.

use quipu_event::payload::TokenCounts;
use serde::Serialize;

use super::ATIF_VERSION;
use super::queue::Queue;
use super::wire::{Source, Step, StepExtra, Tail};
use crate::files::Shelf;

/// A document of which the steps so far are written.
#[derive(Debug, Default)]
pub(super) struct Document {
    path: String,
    id: String,
    steps: u64,
    queue: Queue,
}

impl Document {
    /// Begins the document `id` at `path`.
    pub(super) fn new(path: String, id: String) -> Self {
        Document { path, id, ..Document::default() }
    }

    /// Returns how many steps it has.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the run that it is about.
    pub(super) fn run_id(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// Takes the next step.
    pub(super) fn put(&mut self, step: Step, shelf: &mut dyn Shelf) {
        self.queue.push(step);
        self.write_ready(shelf);
    }

    /// Gives tokens to the step of a message; answers whether that was still to be had.
    pub(super) fn count(
        &mut self,
        message_id: &str,
        tokens: &TokenCounts,
        shelf: &mut dyn Shelf,
    ) -> bool {
        let is_counted = self.queue.count(message_id, tokens);
        self.write_ready(shelf);
        is_counted
    }

    fn write_ready(&mut self, shelf: &mut dyn Shelf) {
        while let Some(step) = self.queue.next_ready() {
            self.write(step, shelf);
        }
    }

    fn write(&mut self, mut step: Step, shelf: &mut dyn Shelf) {
        let before = if self.steps == 0 {
            let id = json(&self.id);
            format!("{{\"schema_version\":\"{ATIF_VERSION}\",\"trajectory_id\":{id},\"steps\":[\n")
        } else {
            ",\n".to_owned()
        };
        self.steps += 1;
        step.step_id = self.steps;
        shelf.append(&self.path, (before + &json(&step)).as_bytes());
    }

    /// Writes all steps that were taken.
    pub(super) fn write_all(&mut self, shelf: &mut dyn Shelf) {
        while let Some(step) = self.queue.next_anyhow() {
            self.write(step, shelf);
        }
        self.have_a_step(shelf);
    }

    /// Says that nothing was said, if so: a document has at least one step.
    fn have_a_step(&mut self, shelf: &mut dyn Shelf) {
        if self.steps > 0 {
            return;
        }
        let step = Step {
            step_id: 0,
            timestamp: None,
            source: Source::System,
            model_name: None,
            message: "Nothing was said or done.".to_owned(),
            reasoning_content: None,
            tool_calls: Vec::new(),
            observation: None,
            metrics: None,
            llm_call_count: None,
            extra: StepExtra::default(),
        };
        self.write(step, shelf);
    }

    /// Writes what stands behind the steps.
    pub(super) fn end(&mut self, tail: &Tail<'_>, shelf: &mut dyn Shelf) {
        let tail = json(tail);
        let text = format!("\n],{}\n", tail.strip_prefix('{').unwrap_or(&tail));
        shelf.append(&self.path, text.as_bytes());
    }
}

/// Numbers are finite and keys are text, so there is nothing to fail.
fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
