//! A run as plain lines, for a pipe or a file: no spinners, nothing that moves.

use std::io::Write;
use std::sync::Mutex;

use quipu_workflow::display::DisplayEvent;

use super::said::Said;
use super::told;
use crate::output::Screen;

/// Prints one line after the other.
pub(crate) struct Plain {
    screen: Screen,
    said: Mutex<Said>,
}

impl Plain {
    pub(crate) fn new(screen: Screen) -> Self {
        Plain { screen, said: Mutex::default() }
    }

    /// Prints what an event says.
    pub(crate) fn show(&self, event: &DisplayEvent) {
        let Ok(mut said) = self.said.lock() else { return };
        let mut lines = told::lines(event, &mut said);
        if let DisplayEvent::StepStarted { at, kind, detail, .. } = event {
            lines.push(told::begin(at, kind, detail.as_deref()));
        }
        if lines.is_empty() {
            return;
        }
        let mut out = self.screen.stdout();
        // The run goes on, also when nobody reads what it says.
        let _ = lines.iter().try_for_each(|line| writeln!(out, "{line}"));
        let _ = out.flush();
    }
}
