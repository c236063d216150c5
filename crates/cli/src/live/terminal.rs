//! A run on a terminal: a spinner per running step below lines that stay.
//!
//! Events only change the board; one thread paints it, some times a second. So a loop of very many
//! short steps costs no more to show than a slow one, and nothing flickers. The cursor is never
//! hidden and the terminal stays in its own mode, so there is nothing to restore when the program
//! is stopped or breaks down.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use quipu_workflow::display::DisplayEvent;

use super::board::Board;
use super::frame::Frame;
use crate::output::Screen;

/// How often the board is painted.
const PACE: Duration = Duration::from_millis(80);
/// How many lines may wait before whoever makes them has to paint them.
const MOST_WAITING: usize = 2_000;
/// How many lines of the terminal are left for what stays.
const HEADROOM: usize = 4;
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The easel that has the terminal now, for those who would write across it.
static IN_USE: Mutex<Weak<Easel>> = Mutex::new(Weak::new());

/// Prints a text above what moves, if anything does; else hands it back.
pub(crate) fn print_above(text: &str) -> Result<(), &str> {
    let Some(easel) = lock(&IN_USE).upgrade() else { return Err(text) };
    let mut board = lock(&easel.board);
    text.lines().for_each(|line| board.take_line(line.to_owned()));
    Ok(())
}

/// Shows a run on a terminal.
pub(crate) struct Terminal {
    easel: Arc<Easel>,
    painter: Mutex<Option<JoinHandle<()>>>,
}

impl Terminal {
    /// Begins to paint on standard output.
    pub(crate) fn start(screen: Screen) -> Self {
        let easel = Arc::new(Easel::new(screen));
        *lock(&IN_USE) = Arc::downgrade(&easel);
        let painter = {
            let easel = Arc::clone(&easel);
            std::thread::spawn(move || easel.paint_until_done())
        };
        Terminal { easel, painter: Mutex::new(Some(painter)) }
    }

    /// Shows what an event says.
    pub(crate) fn show(&self, event: &DisplayEvent) {
        let waiting = {
            let mut board = lock(&self.easel.board);
            board.take(event, Instant::now());
            board.waiting()
        };
        if waiting > MOST_WAITING {
            self.easel.paint();
        }
    }

    /// Prints a line above what moves.
    pub(crate) fn line(&self, line: impl Into<String>) {
        lock(&self.easel.board).take_line(line.into());
    }

    /// Leaves the terminal alone while `talk` uses it.
    pub(crate) fn pause<R>(&self, talk: impl FnOnce() -> R) -> R {
        // A flag and no lock: somebody who never answers must not keep the run from ending.
        self.easel.hidden.store(true, Ordering::Release);
        self.easel.paint();
        self.easel.paused.store(true, Ordering::Release);
        let said = talk();
        self.easel.paused.store(false, Ordering::Release);
        self.easel.hidden.store(false, Ordering::Release);
        said
    }

    /// Prints what is left and removes what moves.
    pub(crate) fn finish(&self) {
        *lock(&IN_USE) = Weak::new();
        self.easel.done.store(true, Ordering::Release);
        self.easel.hidden.store(true, Ordering::Release);
        self.easel.paused.store(false, Ordering::Release);
        if let Some(painter) = lock(&self.painter).take() {
            painter.thread().unpark();
            // A painter that broke down has printed its reason.
            let _ = painter.join();
        }
        self.easel.paint();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The board and the means to paint it.
struct Easel {
    board: Mutex<Board>,
    frame: Mutex<Frame>,
    screen: Screen,
    began: Instant,
    /// Whether nothing that moves is to be seen.
    hidden: AtomicBool,
    /// Whether somebody else uses the terminal.
    paused: AtomicBool,
    done: AtomicBool,
}

impl Easel {
    fn new(screen: Screen) -> Self {
        Easel {
            board: Mutex::default(),
            frame: Mutex::default(),
            screen,
            began: Instant::now(),
            hidden: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            done: AtomicBool::new(false),
        }
    }

    fn paint_until_done(&self) {
        while !self.done.load(Ordering::Acquire) {
            self.paint();
            std::thread::park_timeout(PACE);
        }
    }

    fn paint(&self) {
        // Whoever holds the frame paints; lines are taken after, so that they stay in order.
        let mut frame = lock(&self.frame);
        if self.paused.load(Ordering::Acquire) {
            return;
        }
        let now = Instant::now();
        let turns = now.duration_since(self.began).as_millis() / PACE.as_millis();
        let spinner = SPINNER[usize::try_from(turns).unwrap_or_default() % SPINNER.len()];
        let most = match self.hidden.load(Ordering::Acquire) {
            true => 0,
            false => self.screen.height().saturating_sub(HEADROOM).max(3),
        };
        let (lines, rows) = {
            let mut board = lock(&self.board);
            let rows = if most > 0 { board.rows(spinner, now, most) } else { Vec::new() };
            (self.coloured(board.take_lines()), self.coloured(rows))
        };
        if let Some(text) = frame.next(&lines, rows, self.screen.width()) {
            let mut out = std::io::stdout().lock();
            // A terminal that went away is no reason to stop the run.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }

    fn coloured(&self, lines: Vec<String>) -> Vec<String> {
        if self.screen.colours() {
            return lines;
        }
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left behind is still the best there is to show.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
