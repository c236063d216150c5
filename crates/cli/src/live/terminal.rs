//! A run on a terminal: a spinner per running step below lines that stay.
//!
//! Events only change the board; one thread paints it, some times a second. So a loop of very many
//! short steps costs no more to show than a slow one, and nothing flickers. The cursor is never
//! hidden and the terminal stays in its own mode, so there is nothing to restore when the program
//! is stopped or breaks down.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Instant;

use quipu_workflow::display::DisplayEvent;

use super::easel::Easel;
use crate::output::Screen;

/// How many lines may wait before whoever makes them has to paint them.
const MOST_WAITING: usize = 2_000;

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
            board.take(event, self.easel.now());
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

    /// Sets the clock, which then stands still.
    pub(crate) fn set_clock(&self, now: Instant) {
        lock(&self.easel.stage).now = Some(now);
    }

    /// Sets the rows below those of the steps.
    pub(crate) fn set_below(&self, rows: Vec<String>) {
        lock(&self.easel.stage).below = rows;
    }

    /// Begins anew with what `show` shows, of which the last lines are seen; on a cleared screen,
    /// unless nothing has been shown yet.
    pub(crate) fn renew<R>(&self, is_first: bool, show: impl FnOnce() -> R) -> R {
        self.easel.paused.store(true, Ordering::Release);
        self.easel.clear_board();
        let shown = show();
        self.easel.paused.store(false, Ordering::Release);
        self.easel.show_board(!is_first);
        shown
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

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left behind is still the best there is to show.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
