//! What collecting came to: a table for people, JSON for scripts.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use quipu_collect::{Collector, Plan, SessionReport, Totals};
use serde_json::{Value, json};

use crate::Context;
use crate::exit::{Exit, chain};
use crate::format::table::{Cell, Column, Table};
use crate::format::{count, span};
use crate::output::Screen;

/// At most this many sessions with problems are told to a person.
const TOLD: usize = 10;

/// What collecting came to.
pub(super) struct Summary {
    pub(super) totals: BTreeMap<&'static str, Totals>,
    /// Sessions with which something is wrong.
    pub(super) reports: Vec<SessionReport>,
    pub(super) elapsed: Duration,
}

impl Summary {
    /// Tells it, and returns how the command ends.
    pub(super) fn tell(&self, context: &Context, collector: &Collector) -> anyhow::Result<Exit> {
        if context.screen.json {
            context.screen.print_json(&self.json())?;
        } else if self.totals.is_empty() {
            tell_nothing(context.screen, collector);
        } else {
            self.print(context)?;
        }
        // What another process records just now is being taken care of.
        let is_failure =
            |report: &SessionReport| report.error.as_ref().is_some_and(|error| !error.is_locked());
        Ok(if self.reports.iter().any(is_failure) { Exit::System } else { Exit::Ok })
    }

    fn json(&self) -> Value {
        let totals: BTreeMap<_, _> =
            self.totals.iter().map(|(provider, totals)| (*provider, totals_json(totals))).collect();
        let problems: Vec<_> = self.reports.iter().map(report_json).collect();
        json!({
            "totals": totals,
            "problems": problems,
            "seconds": self.elapsed.as_secs_f64(),
        })
    }

    fn print(&self, context: &Context) -> anyhow::Result<()> {
        let mut table = Table::new(&[
            Column::words("AGENT"),
            Column::numbers("NEW"),
            Column::numbers("GROWN"),
            Column::numbers("FILES"),
            Column::numbers("UNCHANGED"),
            Column::numbers("READ"),
            Column::numbers("EVENTS"),
            Column::numbers("PROBLEMS"),
        ]);
        for (provider, totals) in &self.totals {
            table.add(vec![
                Cell::new(*provider),
                Cell::new(count::full(totals.new)),
                Cell::new(count::full(totals.grown)),
                Cell::new(count::full(totals.files)),
                Cell::new(count::full(totals.unchanged_files)),
                Cell::new(count::bytes(totals.bytes)),
                Cell::new(count::full(totals.events)),
                Cell::new(count::full(totals.problems)),
            ]);
        }
        let screen = context.screen;
        let mut out = screen.stdout();
        table.write(&mut out, if screen.is_terminal() { screen.width() } else { usize::MAX })?;
        out.flush()?;
        self.tell_problems(screen);
        let bytes: u64 = self.totals.values().map(|totals| totals.bytes).sum();
        let took = span::duration(u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX));
        let rate = (bytes as f64 / self.elapsed.as_secs_f64().max(0.001)) as u64;
        let new: u64 = self.totals.values().map(|totals| totals.new + totals.grown).sum();
        screen.note(format!("{} in {took} ({}/s)", count::bytes(bytes), count::bytes(rate)));
        if new > 0 {
            screen.note("quipu ls shows the runs, quipu show last the newest");
        }
        Ok(())
    }

    fn tell_problems(&self, screen: Screen) {
        for report in self.reports.iter().take(TOLD) {
            let path = report.path.display();
            match &report.error {
                Some(error) => screen.note(format!("{path}: {}", chain(error))),
                None => screen.note(format!(
                    "{path}: {} in it; quipu normalize tells them",
                    count::of(report.problems, "problem")
                )),
            }
        }
        if self.reports.len() > TOLD {
            screen.note(format!("… and {} more; --json lists them", self.reports.len() - TOLD));
        }
        let unfinished: u64 = self.totals.values().map(|totals| totals.unfinished).sum();
        if unfinished > 0 {
            let files = count::of(unfinished, "file");
            screen.note(format!(
                "{files} end in a record that is not finished; it is taken when it is"
            ));
        }
    }
}

/// Tells what there is to collect.
pub(super) fn tell_plan(
    context: &Context,
    plan: &Plan,
    collector: &Collector,
) -> anyhow::Result<Exit> {
    let sessions = plan.sessions(&context.settings.layout());
    let unchanged: u64 = plan.unchanged.values().sum();
    if context.screen.json {
        let sessions: Vec<_> = sessions
            .iter()
            .map(|session| {
                json!({
                    "run_id": session.run_id, "provider": session.provider,
                    "session_id": session.session, "files": session.files,
                    "bytes": session.bytes, "new": session.is_new,
                })
            })
            .collect();
        context.screen.print_json(&json!({
            "dry_run": true, "sessions": sessions, "files": plan.files, "bytes": plan.bytes,
            "unchanged_files": plan.unchanged,
        }))?;
        return Ok(Exit::Ok);
    }
    if sessions.is_empty() && unchanged == 0 {
        tell_nothing(context.screen, collector);
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&[
        Column::words("AGENT"),
        Column::words("SESSION"),
        Column::words(""),
        Column::numbers("FILES"),
        Column::numbers("BYTES"),
        Column::shrinking("FILE"),
    ]);
    for session in &sessions {
        let file = session.files.first().map(|file| file.display().to_string());
        table.add(vec![
            Cell::new(session.provider),
            Cell::new(session.session.clone()),
            Cell::new(if session.is_new { "new" } else { "known" }),
            Cell::new(count::full(session.files.len() as u64)),
            Cell::new(count::bytes(session.bytes)),
            Cell::new(file.unwrap_or_default()),
        ]);
    }
    let screen = context.screen;
    let mut out = screen.stdout();
    table.write(&mut out, if screen.is_terminal() { screen.width() } else { usize::MAX })?;
    out.flush()?;
    screen.note(format!(
        "{} to read, {}; {} unchanged. Nothing was recorded.",
        count::of(plan.files, "file"),
        count::bytes(plan.bytes),
        count::of(unchanged, "file"),
    ));
    Ok(Exit::Ok)
}

fn tell_nothing(screen: Screen, collector: &Collector) {
    screen.note("there are no sessions to collect. Searched:");
    for folder in collector.folders() {
        screen.note(format!("  {}", folder.display()));
    }
}

pub(super) fn totals_json(totals: &Totals) -> Value {
    json!({
        "new": totals.new, "grown": totals.grown, "same": totals.same, "failed": totals.failed,
        "files": totals.files, "unchanged_files": totals.unchanged_files, "bytes": totals.bytes,
        "events": totals.events, "problems": totals.problems, "unfinished": totals.unfinished,
    })
}

fn report_json(report: &SessionReport) -> Value {
    json!({
        "run_id": report.run_id, "provider": report.provider, "session_id": report.session,
        "file": report.path, "problems": report.problems,
        "error": report.error.as_ref().map(|error| chain(error)),
    })
}
