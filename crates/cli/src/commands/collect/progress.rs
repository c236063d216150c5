//! How far collecting has come: a bar for a person, nothing for anybody else.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use quipu_collect::{Observer, SessionReport};
use quipu_event::RunId;

use super::logs::Logs;
use crate::Context;
use crate::format::bar::bar;

/// What the bar shows: files, bytes, rate and time left.
const SHAPE: &str =
    "{bar:28} {msg} files  {bytes}/{total_bytes}  {binary_bytes_per_sec}  {eta} left";

/// How far collecting has come, and what is worth telling of it afterwards.
pub(super) struct Progress<'a> {
    logs: Logs<'a>,
    bar: ProgressBar,
    files: u64,
    done: Mutex<Done>,
    began: Instant,
}

#[derive(Default)]
struct Done {
    files: u64,
    reports: Vec<SessionReport>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(context: &'a Context, files: u64, bytes: u64) -> Self {
        let bar = bar(context.screen, bytes, SHAPE);
        bar.set_message(format!("0/{files}"));
        Progress {
            logs: Logs::new(context),
            bar,
            files,
            done: Mutex::default(),
            began: Instant::now(),
        }
    }

    /// Takes the bar away, and returns what was kept and how long it took.
    pub(super) fn done(self) -> (Vec<SessionReport>, Duration) {
        self.bar.finish_and_clear();
        let done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        (done.reports, self.began.elapsed())
    }
}

impl Observer for Progress<'_> {
    fn begins(&self, run: &RunId) {
        self.logs.begin(run);
    }

    fn bytes(&self, read: u64) {
        self.bar.inc(read);
    }

    fn session(&self, report: SessionReport) {
        self.logs.end(&report.run_id);
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.files += report.files;
        self.bar.set_message(format!("{}/{}", done.files, self.files));
        if report.error.is_some() || report.problems > 0 {
            done.reports.push(report);
        }
    }
}
