//! `quipu verify`: is each run what it promises to be? Finds out; changes nothing.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use quipu_event::RunId;
use quipu_journal::{
    DamageKind, Finding, FindingKind, Layout, Report, find_run, run_ids_unordered, verify_run,
};
use serde_json::{Value, json};

use crate::Context;
use crate::exit::Exit;
use crate::format::count;
use crate::format::visible::visible;

/// Check that runs are whole: well-formed, gapless, paired, linked both ways, closed to others
///
/// Without a RUN, all runs are checked. Prints `ok ID EVENTS` for a sound run, and
/// `PATH:LINE: what is wrong` for each finding. Exits with 3 if there was any. What is worth knowing
/// and not wrong, such as a parent that does not name its child, is a note on stderr.
///
/// With --json each finding has one of these words as its `kind`. Lines: damaged, key_missing, number,
/// foreign_run, other_parent, payload, breach (what the format asks of a writer). Pairs: unstarted,
/// unfinished, started_twice (while the first is open), started_again (the same path and attempt after its
/// end), after_end, call_twice, result_without_call. Links: child_unnamed, other_child, child_missing,
/// child_disowns, parent_missing, parent_silent. Files: mode, and no_event as a note.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu verify last\n  \
    quipu verify --all --json | jq '.runs[] | select(.findings != [])'")]
pub(crate) struct Args {
    /// The runs to check: a beginning of an id each, or `last`
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Check all runs, which is also what happens when none is named
    #[arg(long, conflicts_with = "runs")]
    all: bool,
}

/// A check that takes longer than this shows how far it is.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it does so.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let ids = chosen(&layout, &args)?;
    if ids.is_empty() {
        let storage = layout.storage().display();
        context.screen.note(format_args!("there are no runs in {storage}"));
    }
    let mut tally = Tally::default();
    let mut progress = Progress::new(ids.len());
    let mut out = context.screen.stdout();
    let mut reports = Vec::new();
    for id in &ids {
        match verify_run(&layout, id) {
            Ok(report) => {
                tally.add(&report);
                if context.screen.json {
                    reports.push(report_json(&report));
                } else {
                    progress.clear();
                    print_report(&mut out, &report)?;
                    for note in &report.notes {
                        context.screen.note(format_args!("note: {}: {note}", report.run_id));
                    }
                    if progress.watched {
                        out.flush()?;
                    }
                }
            }
            Err(error) => {
                tally.unreadable += 1;
                let cause = &error.source;
                context.screen.note(format_args!("error: {error}: {cause}"));
            }
        }
        progress.step();
    }
    progress.clear();
    out.flush()?;
    if context.screen.json {
        context.screen.print_json(&json!({
            "runs": reports, "checked": tally.checked, "sound": tally.sound,
            "findings": tally.findings, "unreadable": tally.unreadable,
        }))?;
    } else {
        tally.tell(context);
    }
    Ok(tally.exit())
}

fn chosen(layout: &Layout, args: &Args) -> anyhow::Result<Vec<RunId>> {
    if !args.runs.is_empty() {
        return Ok(args.runs.iter().map(|run| find_run(layout, run)).collect::<Result<_, _>>()?);
    }
    let mut ids = run_ids_unordered(layout)?;
    ids.sort();
    Ok(ids)
}

fn print_report(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    let Report { run_id, path, events, findings, more, .. } = report;
    if report.is_sound() {
        let plural = if *events == 1 { "" } else { "s" };
        return writeln!(out, "ok {run_id} {events} event{plural}");
    }
    for finding in findings {
        writeln!(out, "{}", placed(&path.display().to_string(), finding))?;
    }
    if *more > 0 {
        writeln!(out, "{}: and {more} more", path.display())?;
    }
    Ok(())
}

/// Prints a finding as editors and people find their way to it: `path:line: what`.
pub(super) fn placed(path: &str, finding: &Finding) -> String {
    // A finding may quote what the transcript says.
    let what = finding.what.to_string();
    let what = visible(&what);
    match (finding.line, finding.offset) {
        (Some(line), Some(offset)) => format!("{path}:{line}: {what} (byte {offset})"),
        (Some(line), None) => format!("{path}:{line}: {what}"),
        _ => format!("{path}: {what}"),
    }
}

fn report_json(report: &Report) -> Value {
    json!({
        "run_id": report.run_id,
        "path": report.path,
        "events": report.events,
        "findings": report.findings.iter().map(finding_json).collect::<Vec<_>>(),
        "more": report.more,
        "notes": report.notes.iter().map(note_json).collect::<Vec<_>>(),
    })
}

/// Returns a finding for scripts: where, a stable word for what, and the sentence.
pub(super) fn finding_json(finding: &Finding) -> Value {
    json!({
        "line": finding.line,
        "offset": finding.offset,
        "kind": word(&finding.what),
        "message": finding.what.to_string(),
    })
}

fn note_json(note: &FindingKind) -> Value {
    json!({ "kind": word(note), "message": note.to_string() })
}

fn word(finding: &FindingKind) -> &'static str {
    match finding {
        FindingKind::Damaged(_) => "damaged",
        FindingKind::Number { .. } => "number",
        FindingKind::ForeignRun { .. } => "foreign_run",
        FindingKind::OtherParent => "other_parent",
        FindingKind::Payload(_) => "payload",
        FindingKind::NoEvent => "no_event",
        FindingKind::ChildUnnamed { .. } => "child_unnamed",
        FindingKind::OtherChild { .. } => "other_child",
        FindingKind::StartedTwice { .. } => "started_twice",
        FindingKind::StartedAgain { .. } => "started_again",
        FindingKind::Unstarted { .. } => "unstarted",
        FindingKind::Unfinished { .. } => "unfinished",
        FindingKind::AfterEnd { .. } => "after_end",
        FindingKind::CallTwice { .. } => "call_twice",
        FindingKind::ResultWithoutCall { .. } => "result_without_call",
        FindingKind::ChildMissing { .. } => "child_missing",
        FindingKind::ChildDisowns { .. } => "child_disowns",
        FindingKind::ParentMissing { .. } => "parent_missing",
        FindingKind::ParentSilent { .. } => "parent_silent",
        FindingKind::KeyMissing { .. } => "key_missing",
        FindingKind::Breach { .. } => "breach",
        FindingKind::Mode { .. } => "mode",
        _ => "other",
    }
}

/// Tells whether a repair does away with this.
fn is_mendable(what: &FindingKind) -> bool {
    matches!(
        what,
        FindingKind::Damaged(DamageKind::TornTail(_))
            | FindingKind::Unfinished { .. }
            | FindingKind::Mode { .. }
    )
}

/// What all checks came to.
#[derive(Default)]
struct Tally {
    checked: u64,
    sound: u64,
    findings: u64,
    unreadable: u64,
    /// Whether a repair would mend any of it.
    has_mendable: bool,
}

impl Tally {
    fn add(&mut self, report: &Report) {
        self.checked += 1;
        self.sound += u64::from(report.is_sound());
        self.findings += report.findings.len() as u64 + report.more;
        self.has_mendable |= report.findings.iter().any(|finding| is_mendable(&finding.what));
    }

    fn tell(&self, context: &Context) {
        let Tally { checked, sound, findings, unreadable, has_mendable } = self;
        let missing = match unreadable {
            0 => String::new(),
            _ => format!(", {unreadable} could not be read"),
        };
        if *findings > 0 {
            let findings = count::of(*findings, "finding");
            let hint = match has_mendable {
                true => {
                    let repair = context.settings.command("repair RUN");
                    format!("; `{repair}` mends what a crash left behind")
                }
                false => String::new(),
            };
            let told = format!("{checked} checked, {sound} sound, {findings}{missing}{hint}");
            context.screen.note(told);
        } else if *unreadable > 0 {
            context.screen.note(format_args!("{checked} checked, {sound} sound{missing}"));
        } else if *checked > 1 {
            context.screen.note(format_args!("{checked} runs checked, all sound"));
        }
    }

    fn exit(&self) -> Exit {
        if self.findings > 0 {
            Exit::Damaged
        } else if self.unreadable > 0 {
            Exit::System
        } else {
            Exit::Ok
        }
    }
}

/// How far a long check is, for a person who watches.
struct Progress {
    total: usize,
    done: usize,
    began: Instant,
    drawn: Option<Instant>,
    shown: bool,
    watched: bool,
}

impl Progress {
    fn new(total: usize) -> Self {
        let watched = std::io::stderr().is_terminal();
        Progress { total, done: 0, began: Instant::now(), drawn: None, shown: false, watched }
    }

    fn step(&mut self) {
        self.done += 1;
        let due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= PROGRESS_EVERY);
        if self.watched && due && self.began.elapsed() >= PATIENCE {
            (self.drawn, self.shown) = (Some(Instant::now()), true);
            // Progress that cannot be shown is not worth stopping for.
            let _ = write!(std::io::stderr(), "\r{} of {} runs checked", self.done, self.total);
        }
    }

    /// Makes room for a line of output.
    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
