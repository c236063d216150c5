//! `quipu collect --follow`: what is told while sessions grow.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use quipu_collect::{
    CollectError, Collector, FollowObserver, Observer, SessionNews, SessionReport, Totals,
};
use quipu_event::RunId;
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::logs::Logs;
use super::summary::totals_json;
use crate::Context;
use crate::exit::{Exit, chain};
use crate::format::count;
use crate::output::Screen;

/// Collects, then follows until somebody asks for the end.
pub(super) fn follow(context: &Context, collector: &Collector) -> anyhow::Result<Exit> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let teller =
        Teller { logs: Logs::new(context), screen: context.screen, told: Mutex::default() };
    collector.follow(&stop, &teller)?;
    teller.tell_end()?;
    Ok(Exit::Ok)
}

/// Tells what happens: a line a session for people, a line an occasion for scripts.
struct Teller<'a> {
    logs: Logs<'a>,
    screen: Screen,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    totals: Totals,
    runs: HashSet<RunId>,
    events: u64,
}

impl Teller<'_> {
    fn with_told<T>(&self, change: impl FnOnce(&mut Told) -> T) -> T {
        change(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn json(&self, value: &serde_json::Value) {
        // Whoever has stopped reading is not told; what is recorded is recorded.
        let _ = self.screen.print_json(value);
    }

    fn tell_end(&self) -> anyhow::Result<()> {
        let (runs, events) = self.with_told(|told| (told.runs.len() as u64, told.events));
        match self.screen.json {
            true => {
                self.screen.print_json(&json!({ "stopped": { "runs": runs, "events": events } }))
            }
            false => {
                let (events, runs) = (count::of(events, "event"), count::of(runs, "run"));
                self.screen.note(format!("stopped: {events} of {runs} recorded while following"));
                Ok(())
            }
        }
    }
}

impl Observer for Teller<'_> {
    fn begins(&self, run: &RunId) {
        self.logs.begin(run);
    }

    fn bytes(&self, _: u64) {}

    fn session(&self, report: SessionReport) {
        self.logs.end(&report.run_id);
        if let Some(error) = &report.error {
            self.failed(&report.path, error);
        }
        self.with_told(|told| told.totals.add(&report));
    }
}

impl FollowObserver for Teller<'_> {
    fn caught_up(&self) {
        let totals = self.with_told(|told| told.totals.clone());
        if self.screen.json {
            return self.json(&json!({ "caught_up": totals_json(&totals) }));
        }
        let sessions = count::of(totals.new + totals.grown, "session");
        self.screen.note(format!(
            "{sessions} collected, {}; following (Ctrl-C ends it)",
            count::of(totals.events, "event")
        ));
    }

    fn blind(&self, folder: &Path, reason: &str) {
        let folder = folder.display();
        match self.screen.json {
            true => self.json(&json!({ "blind": folder.to_string(), "reason": reason })),
            false => self.screen.note(format!(
                "changes below {folder} are not told by the system ({reason}): \
                 it is looked at every second"
            )),
        }
    }

    fn news(&self, news: &SessionNews) {
        let is_first = self.with_told(|told| {
            told.events += news.events;
            told.runs.insert(news.run_id.clone())
        });
        if self.screen.json {
            self.json(&json!({
                "run_id": news.run_id, "provider": news.provider, "session_id": news.session,
                "file": news.path, "events": news.events,
            }));
        } else if is_first {
            let (run, session) = (&news.run_id, &news.session);
            self.screen.note(format!("{} {session} grows: run {run}", news.provider));
        }
    }

    fn ends(&self, run: &RunId) {
        self.logs.end(run);
    }

    fn failed(&self, path: &Path, error: &CollectError) {
        let (path, error) = (path.display(), chain(error));
        match self.screen.json {
            true => self.json(&json!({ "file": path.to_string(), "error": error })),
            false => self.screen.note(format!("{path}: {error}")),
        }
    }
}
