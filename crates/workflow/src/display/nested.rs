//! A called workflow's events, as part of the run that called it.

use std::sync::Arc;

use quipu_event::StepPath;

use super::{Display, DisplayEvent};
use crate::engine::Occurrence;

/// Shows the events of a called workflow below the step that called it.
pub struct Nested {
    outer: Arc<dyn Display>,
    below: StepPath,
}

impl Nested {
    /// Returns a display that shows on `outer`, below the step at `below`.
    pub fn new(outer: Arc<dyn Display>, below: StepPath) -> Nested {
        Nested { outer, below }
    }
}

impl Display for Nested {
    fn show(&self, event: &DisplayEvent) {
        self.outer.show(&below(&self.below, event.clone()));
    }
}

/// Returns an event of a called run as it is seen below the step at `step`.
pub fn below(step: &StepPath, mut event: DisplayEvent) -> DisplayEvent {
    if let Some(at) = place(&mut event) {
        at.path = match at.path.is_root() {
            true => step.clone(),
            false => step.child(at.path.as_str()),
        };
    }
    event
}

fn place(event: &mut DisplayEvent) -> Option<&mut Occurrence> {
    match event {
        DisplayEvent::RunStarted { .. } | DisplayEvent::RunCompleted { .. } => None,
        DisplayEvent::Log { at, .. } => at.as_mut(),
        DisplayEvent::StepStarted { at, .. }
        | DisplayEvent::Iteration { at, .. }
        | DisplayEvent::Output { at, .. }
        | DisplayEvent::Prompt { at, .. }
        | DisplayEvent::Text { at, .. }
        | DisplayEvent::Thinking { at, .. }
        | DisplayEvent::ToolUse { at, .. }
        | DisplayEvent::ToolResult { at, .. }
        | DisplayEvent::Retry { at, .. }
        | DisplayEvent::StepCompleted { at, .. } => Some(at),
    }
}
