//! Steps on their way into a document, in their order.
//!
//! Some agents tell the tokens of a message when others have been said since. A step waits for them,
//! and what stands behind it waits as well, but never for long: memory stays flat.

use std::collections::VecDeque;

use quipu_event::payload::TokenCounts;

use super::content;
use super::wire::{Source, Step};

/// So many steps wait at most …
const MOST_STEPS: usize = 64;
/// … and no more than about so many bytes.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Steps that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Queue {
    steps: VecDeque<Step>,
    bytes: usize,
}

impl Queue {
    /// Takes the next step.
    pub(super) fn push(&mut self, step: Step) {
        self.bytes += step.weight();
        self.steps.push_back(step);
    }

    /// Gives tokens to the step of a message; answers whether it is here and had none.
    pub(super) fn count(&mut self, message_id: &str, tokens: &TokenCounts) -> bool {
        let of_message = |step: &&mut Step| {
            is_awaited(step) && step.extra.message_id.as_deref() == Some(message_id)
        };
        let step = self.steps.iter_mut().find(of_message);
        step.map(|step| step.metrics = Some(content::metrics(tokens))).is_some()
    }

    /// Returns the next step that is to wait no longer.
    pub(super) fn next_ready(&mut self) -> Option<Step> {
        let is_full = self.steps.len() > MOST_STEPS || self.bytes > MOST_BYTES;
        let step = self.steps.pop_front_if(|step| is_full || !is_awaited(step))?;
        self.bytes = self.bytes.saturating_sub(step.weight());
        Some(step)
    }

    /// Returns the next step, though it waits.
    pub(super) fn next_anyhow(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }
}

/// Tells whether tokens may still come to a step: those of a message that has a name.
fn is_awaited(step: &Step) -> bool {
    step.source == Source::Agent && step.metrics.is_none() && step.extra.message_id.is_some()
}
