//! The board on a terminal: on the other screen, so that leaving brings back what was there.
//!
//! Painting is that of every live picture of this program. What is changed of the terminal (its
//! screen, its cursor, how keys are read) is put back however the watching ends.

use std::collections::HashSet;
use std::io::{self, Write};

use quipu_event::RunId;
use quipu_view::activity::State;
use signal_hook::consts::SIGTSTP;

use super::face::{Board, Face};
use super::picture::{Paper, picture};
use crate::live::{Frame, Keyboard};
use crate::output::Screen;

/// To the other screen, without a cursor, cleared.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[J";
const CLEAR: &str = "\x1b[H\x1b[J";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
const BELL: &str = "\x07";

/// A terminal that shows boards.
pub(super) struct Terminal {
    screen: Screen,
    frame: Frame,
    keyboard: Option<Keyboard>,
    has_bell: bool,
    /// Who waits; nothing before the first board.
    waiting: Option<HashSet<RunId>>,
}

impl Terminal {
    /// Takes over the terminal.
    pub(super) fn enter(screen: Screen, has_bell: bool) -> Self {
        let mut terminal =
            Terminal { screen, frame: Frame::default(), keyboard: None, has_bell, waiting: None };
        terminal.take();
        terminal
    }

    fn take(&mut self) {
        self.keyboard = Keyboard::take();
        self.frame = Frame::default();
        // The first picture says whether it can be written to.
        let _ = write(ENTER);
    }

    fn give_back(&mut self) {
        // As below.
        let _ = write(LEAVE);
        self.keyboard = None;
    }

    /// Tells whether somebody began to wait since the last board.
    fn begins_to_wait(&mut self, board: &Board<'_>) -> bool {
        let is_waiting =
            board.rows.iter().filter(|row| row.state == State::Waiting && !row.is_behind);
        let waiting: HashSet<RunId> = is_waiting.map(|row| row.run.clone()).collect();
        let before = self.waiting.replace(waiting);
        match (before, &self.waiting) {
            (Some(before), Some(waiting)) => !waiting.is_subset(&before),
            _ => false,
        }
    }
}

impl Face for Terminal {
    fn show(&mut self, board: &Board<'_>) -> anyhow::Result<()> {
        if self.begins_to_wait(board) && self.has_bell {
            write(BELL)?;
        }
        let (width, height) = (self.screen.width(), self.screen.height());
        let mut lines = picture(board, &Paper { width, height, is_live: true });
        if !self.screen.colours() {
            let plain = |line: &String| anstream::adapter::strip_str(line).to_string();
            lines = lines.iter().map(plain).collect();
        }
        if let Some(text) = self.frame.next(&[], lines, width) {
            write(&text)?;
        }
        Ok(())
    }

    fn renew(&mut self) {
        self.frame = Frame::default();
        // As above.
        let _ = write(CLEAR);
    }

    fn suspend(&mut self) {
        self.give_back();
        // Comes back when the program is gone on with.
        let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
        self.take();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Writes at once.
fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
