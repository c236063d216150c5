//! The board and the means to paint it: some times a second, or when somebody asks for it.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::board::Board;
use super::frame::Frame;
use super::terminal::lock;
use crate::output::Screen;

/// How often the board is painted.
const PACE: Duration = Duration::from_millis(80);
/// How many lines of the terminal are left for what stays.
const HEADROOM: usize = 4;
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// To the upper left corner, with nothing below it.
const CLEAR: &str = "\x1b[H\x1b[J";

/// The board and the means to paint it.
pub(super) struct Easel {
    pub(super) board: Mutex<Board>,
    frame: Mutex<Frame>,
    pub(super) stage: Mutex<Stage>,
    screen: Screen,
    began: Instant,
    /// Whether what was on the screen before has been scrolled out of it.
    is_cleared: AtomicBool,
    /// Whether nothing that moves is to be seen.
    pub(super) hidden: AtomicBool,
    /// Whether somebody else uses the terminal.
    pub(super) paused: AtomicBool,
    pub(super) done: AtomicBool,
}

/// What is around the board.
#[derive(Default)]
pub(super) struct Stage {
    /// What time it is, if somebody else says so.
    pub(super) now: Option<Instant>,
    /// The rows below those of the steps.
    pub(super) below: Vec<String>,
}

impl Easel {
    pub(super) fn new(screen: Screen) -> Self {
        Easel {
            board: Mutex::default(),
            frame: Mutex::default(),
            stage: Mutex::default(),
            screen,
            began: Instant::now(),
            is_cleared: AtomicBool::new(false),
            hidden: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            done: AtomicBool::new(false),
        }
    }

    /// Returns what time it is.
    pub(super) fn now(&self) -> Instant {
        lock(&self.stage).now.unwrap_or_else(Instant::now)
    }

    pub(super) fn paint_until_done(&self) {
        while !self.done.load(Ordering::Acquire) {
            self.paint();
            std::thread::park_timeout(PACE);
        }
    }

    /// Forgets what the board shows. Of what comes, as much is kept as the terminal can show.
    pub(super) fn clear_board(&self) {
        let mut board = lock(&self.board);
        *board = Board::default();
        board.keep_lines(Some(self.screen.height()));
    }

    /// Paints what was put on a cleared board, onto a cleared screen if that is asked for.
    pub(super) fn show_board(&self, clears_screen: bool) {
        {
            let mut frame = lock(&self.frame);
            lock(&self.board).keep_lines(None);
            if clears_screen {
                *frame = Frame::default();
                // What was there before the first time is scrolled away and not lost.
                let is_first = !self.is_cleared.swap(true, Ordering::AcqRel);
                let height = if is_first { self.screen.height() } else { 0 };
                write(&("\n".repeat(height) + CLEAR));
            }
        }
        self.paint();
    }

    pub(super) fn paint(&self) {
        // Whoever holds the frame paints; lines are taken after, so that they stay in order.
        let mut frame = lock(&self.frame);
        if self.paused.load(Ordering::Acquire) {
            return;
        }
        let (lines, rows) = match self.hidden.load(Ordering::Acquire) {
            true => (lock(&self.board).take_lines(), Vec::new()),
            false => self.picture(),
        };
        let (lines, rows) = (self.coloured(lines), self.coloured(rows));
        if let Some(text) = frame.next(&lines, rows, self.screen.width()) {
            write(&text);
        }
    }

    /// Returns the lines that are to be printed and the rows that are to be seen below them.
    fn picture(&self) -> (Vec<String>, Vec<String>) {
        let now = self.now();
        let turns = now.saturating_duration_since(self.began).as_millis() / PACE.as_millis();
        let spinner = SPINNER[usize::try_from(turns).unwrap_or_default() % SPINNER.len()];
        let below = lock(&self.stage).below.clone();
        let room = self.screen.height().saturating_sub(HEADROOM + below.len()).max(3);
        let mut board = lock(&self.board);
        let mut rows = board.rows(spinner, now, room);
        rows.extend(below);
        (board.take_lines(), rows)
    }

    fn coloured(&self, lines: Vec<String>) -> Vec<String> {
        if self.screen.colours() {
            return lines;
        }
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }
}

fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    // A terminal that went away is no reason to stop the run.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
