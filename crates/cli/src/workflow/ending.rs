//! What is said before a run and after it: where it is recorded, how it ended, what to try next.

use std::io::Write;
use std::time::Duration;

use quipu_event::payload::{DeliverableCheck, Status, TokenCounts};
use quipu_workflow::definition::Workflow;
use quipu_workflow::driver::RunReport;
use serde_json::json;

use super::perform::Flight;
use super::watch::{FailedStep, Watch};
use crate::Context;
use crate::format::count;
use crate::format::entry::short_id;
use crate::format::span::duration;
use crate::format::status::Standing;
use crate::format::style;
use crate::format::visible::{one_line, visible};

/// How much of an error is shown.
const WIDEST: usize = 500;

/// Says which run begins and where it is recorded.
pub(super) fn announce(context: &Context, workflow: &Workflow, flight: &Flight) {
    if flight.quiet || context.screen.json {
        return;
    }
    let (bold, dim) = (style::BOLD, style::DIM);
    let id = &flight.run.run_id;
    let what = if flight.resume { "resuming" } else { "run" };
    let mut out = context.screen.stdout();
    // A reader that went away early does not need to know; the run goes on.
    let _ = writeln!(out, "{what} {bold}{id}{bold:#} {}", visible(&workflow.name));
    let _ = if flight.record {
        let path = context.settings.layout().transcript(id);
        writeln!(out, "{dim}transcript {}{dim:#}", path.display())
    } else {
        writeln!(out, "{dim}not recorded{dim:#}")
    };
    let _ = out.flush();
}

/// Says how a run ended.
pub(super) fn tell(
    context: &Context,
    name: &str,
    report: &RunReport,
    watch: &Watch,
    took: Duration,
    quiet: bool,
) -> anyhow::Result<()> {
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let failed = report.status.is_failure().then(|| watch.failed_step()).flatten();
    if context.screen.json {
        return context.screen.print_json(&json!({
            "event": "run.report",
            "run_id": report.run_id,
            "transcript": report.transcript,
            "status": report.status,
            "exit_code": report.exit_code,
            "error": report.error,
            "message": report.message,
            "failed_step": failed.map(|step| {
                json!({"path": step.path, "error": step.error, "stderr": step.last_words})
            }),
            "outputs": report.outputs,
            "deliverables": report.deliverables,
            "usage": (!report.usage.is_empty()).then_some(&report.usage),
            "duration_ms": millis,
        }));
    }
    let mut out = context.screen.stdout();
    let ended = Ended {
        name,
        status: &report.status,
        error: report.error.as_deref(),
        message: report.message.as_deref(),
        usage: report.usage,
        millis,
    };
    let mut told = lines(&ended, failed.as_ref());
    told.extend(report.deliverables.as_ref().map(deliverables));
    if !quiet && report.transcript.is_some() {
        told.extend(next_steps(report, &context.settings.storage_flag()));
    }
    told.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    out.flush()?;
    Ok(())
}

/// What is said of the end of a run, whether it ended just now or was read back.
pub(crate) struct Ended<'a> {
    pub(crate) name: &'a str,
    pub(crate) status: &'a Status,
    pub(crate) error: Option<&'a str>,
    /// What its last step said.
    pub(crate) message: Option<&'a str>,
    pub(crate) usage: TokenCounts,
    pub(crate) millis: u64,
}

/// Returns the lines that say how a run ended, which `watch` has seen.
pub(crate) fn told(ended: &Ended<'_>, watch: &Watch) -> Vec<String> {
    let failed = ended.status.is_failure().then(|| watch.failed_step()).flatten();
    lines(ended, failed.as_ref())
}

fn lines(ended: &Ended<'_>, failed: Option<&FailedStep>) -> Vec<String> {
    let standing = Standing::Ended(ended.status.clone());
    let (colour, bold, dim, bad) = (standing.style(), style::BOLD, style::DIM, style::BAD);
    let mut first = format!(
        "{colour}{}{colour:#} {bold}{}{bold:#} {} in {}",
        standing.sign(),
        one_line(ended.name, usize::MAX),
        standing.word(),
        duration(ended.millis),
    );
    if ended.usage.total().is_some_and(|total| total > 0) {
        first += &format!(" {dim}· {}{dim:#}", count::tokens(&ended.usage));
    }
    let mut lines = vec![first];
    let said = ended.message.or(ended.error).map(str::trim);
    if let Some(said) = said.filter(|said| !said.is_empty()) {
        lines.push(format!("  {}", one_line(said, WIDEST)));
    }
    if let Some(step) = failed {
        let why = step.error.as_deref().unwrap_or("failed");
        let is_said = said.is_some_and(|said| {
            said == why.trim() || said.contains(&step.path) && said.contains(why)
        });
        if !is_said {
            let why = one_line(why, WIDEST);
            lines.push(format!("  {bold}{}{bold:#}: {bad}{why}{bad:#}", visible(&step.path)));
        }
        let words = step.last_words.iter();
        lines.extend(words.map(|line| format!("  {dim}│ {}{dim:#}", one_line(line, WIDEST))));
    }
    lines
}

/// Returns what to try next.
fn next_steps(report: &RunReport, storage: &str) -> Vec<String> {
    let dim = style::DIM;
    let id = short_id(&report.run_id);
    let mut lines = vec![format!("  {dim}quipu tree {id}{storage}{dim:#}")];
    if report.status.is_failure() {
        lines.push(format!("  {dim}quipu resume {id}{storage}{dim:#}"));
    }
    lines
}

/// Says whether the files are there that the run was to make.
fn deliverables(check: &DeliverableCheck) -> String {
    let (dim, bad) = (style::DIM, style::BAD);
    if check.problems.is_empty() {
        let all = count::of(check.required.len() as u64, "deliverable");
        return format!("  {dim}{all} there{dim:#}");
    }
    let result = check.result.as_ref().map_or("not known", |result| result.as_str());
    let why = one_line(&check.problems.join("; "), WIDEST);
    format!("  deliverables {bad}{result}{bad:#}: {why}")
}
