//! A run as plain lines, for a pipe or a file: no spinners, nothing that moves.

use std::io::{self, Write};
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
    pub(crate) fn show(&self, event: &DisplayEvent) -> io::Result<()> {
        let Ok(mut said) = self.said.lock() else { return Ok(()) };
        let mut lines = told::lines(event, &mut said);
        if let DisplayEvent::StepStarted { at, kind, detail, .. } = event {
            lines.push(told::begin(at, kind, detail.as_deref()));
        }
        if lines.is_empty() {
            return Ok(());
        }
        let mut out = self.screen.stdout();
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        out.flush()
    }
}
