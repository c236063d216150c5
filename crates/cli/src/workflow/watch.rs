//! Who watches a run: a person at a terminal, a pipe, a program, or nobody until the end.
//!
//! Whoever it is, what is needed to explain a failure in the end is remembered here.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use quipu_event::StepPath;
use quipu_event::payload::Status;
use quipu_workflow::display::{Display, DisplayEvent, json_line};

use crate::live::{Plain, Terminal};
use crate::output::Screen;

/// How many of the last lines on standard error are remembered of a step.
const REMEMBERED: usize = 10;
/// Steps that only hold others, or tell of them: what went wrong went wrong elsewhere.
const HOLDERS: [&str; 5] = ["parallel", "for_each", "while", "call_workflow", "terminal"];

/// How many steps that go well after a failure show that it was dealt with.
const ENOUGH: u32 = 2;

/// Shows a run, and remembers what went wrong.
pub(crate) struct Watch {
    view: View,
    screen: Screen,
    trouble: Mutex<Trouble>,
    /// Whether nobody reads any more what is printed.
    is_alone: AtomicBool,
}

enum View {
    Quiet,
    Json,
    Plain(Plain),
    Terminal(Terminal),
}

/// What is known of failures.
#[derive(Default)]
struct Trouble {
    /// The last lines on standard error of the steps that run.
    last_words: HashMap<StepPath, VecDeque<String>>,
    last: Option<FailedStep>,
    /// How many steps of the run itself went well since.
    since: u32,
}

/// A step that failed.
#[derive(Clone, Debug)]
pub(super) struct FailedStep {
    pub(super) path: String,
    pub(super) error: Option<String>,
    /// The last lines it wrote to standard error.
    pub(super) last_words: Vec<String>,
}

impl Watch {
    pub(crate) fn new(screen: Screen, quiet: bool) -> Self {
        let view = match (quiet, screen.json) {
            (true, _) => View::Quiet,
            (false, true) => View::Json,
            (false, false) if screen.is_terminal() && can_move() => {
                View::Terminal(Terminal::start(screen))
            }
            (false, false) => View::Plain(Plain::new(screen)),
        };
        Watch { view, screen, trouble: Mutex::default(), is_alone: AtomicBool::new(false) }
    }

    /// Tells a person something beside the run.
    pub(crate) fn line(&self, text: &str) {
        match &self.view {
            View::Terminal(terminal) => terminal.line(text),
            _ => self.screen.note(text),
        }
    }

    /// Returns the terminal, if it is one that the run is shown on.
    pub(crate) fn terminal(&self) -> Option<&Terminal> {
        match &self.view {
            View::Terminal(terminal) => Some(terminal),
            _ => None,
        }
    }

    /// Tells whether nobody reads any more what is printed.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone.load(Ordering::Relaxed)
    }

    /// Takes note of an event without showing it.
    pub(crate) fn pass(&self, event: &DisplayEvent) {
        lock(&self.trouble).take(event);
    }

    /// Forgets what went wrong so far.
    pub(crate) fn forget(&self) {
        *lock(&self.trouble) = Trouble::default();
    }

    /// Leaves the screen alone while `talk` uses it.
    pub(crate) fn pause<R>(&self, talk: impl FnOnce() -> R) -> R {
        match &self.view {
            // Events go on to be taken meanwhile: only the painting waits.
            View::Terminal(terminal) => terminal.pause(talk),
            _ => talk(),
        }
    }

    /// Prints what is left and removes what moves.
    pub(crate) fn finish(&self) {
        if let View::Terminal(terminal) = &self.view {
            terminal.finish();
        }
    }

    /// Returns the step whose failure decided how the run ended.
    pub(super) fn failed_step(&self) -> Option<FailedStep> {
        lock(&self.trouble).last.clone()
    }
}

impl Display for Watch {
    fn show(&self, event: &DisplayEvent) {
        lock(&self.trouble).take(event);
        let printed = match &self.view {
            View::Quiet => Ok(()),
            View::Json => {
                let mut out = self.screen.data();
                writeln!(out, "{}", json_line(event)).and_then(|()| out.flush())
            }
            View::Plain(plain) => plain.show(event),
            View::Terminal(terminal) => {
                terminal.show(event);
                Ok(())
            }
        };
        // The run goes on, also when nobody reads what it says.
        if printed.is_err() {
            self.is_alone.store(true, Ordering::Relaxed);
        }
    }
}

impl Trouble {
    fn take(&mut self, event: &DisplayEvent) {
        match event {
            DisplayEvent::Output { at, stream: "stderr", text } => {
                let words = self.last_words.entry(at.path.clone()).or_default();
                for line in text.lines() {
                    if words.len() == REMEMBERED {
                        words.pop_front();
                    }
                    words.push_back(line.to_owned());
                }
            }
            DisplayEvent::StepCompleted { at, kind, status, error, .. } => {
                let words = self.last_words.remove(&at.path).unwrap_or_default();
                if *status == Status::Failed && !HOLDERS.contains(&kind.as_str()) {
                    let (path, error) = (at.path.to_string(), error.clone());
                    let last_words = words.into();
                    self.last = Some(FailedStep { path, error, last_words });
                    self.since = 0;
                } else if *status == Status::Succeeded {
                    self.went_well(at.path.as_str(), kind);
                }
            }
            _ => {}
        }
    }
}

impl Trouble {
    /// Forgets a failure that was dealt with: a later attempt went well, or the step around it did, or
    /// the run went back to work. One step that goes well is what cleans up before the end.
    fn went_well(&mut self, path: &str, kind: &str) {
        let Some(last) = &self.last else { return };
        let inside = last.path.strip_prefix(path);
        let is_around = inside.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        if !path.contains(['.', '[']) && kind != "terminal" {
            self.since += 1;
        }
        if is_around || self.since >= ENOUGH {
            self.last = None;
        }
    }
}

/// Tells whether the terminal can paint over what it shows.
fn can_move() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What a panic left behind is still the best there is to show.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
