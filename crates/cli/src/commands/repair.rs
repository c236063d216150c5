//! `quipu repair`: puts in order what a crash left behind, and says what it cannot mend.
//!
//! The mending itself is the journal's; no line that was written is ever changed.

use std::io::Write;
use std::path::PathBuf;

use quipu_event::RunId;
use quipu_journal::{
    DamageKind, Finding, FindingKind, Layout, OpenError, Options, ReadProblem, ReaderBackward,
    Recorder, Recovery, Report, find_run, verify_run, writer_of,
};
use serde_json::{Value, json};

use super::verify::{finding_json, placed};
use crate::Context;
use crate::exit::Exit;

/// Put in order what a crash left behind
///
/// Moves torn bytes at the end of the file to ID.torn, closes what had started as aborted, and
/// takes away permissions that others should not have. No line that was written is changed. What
/// cannot be mended is listed, and the exit code is 3.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu repair last --dry-run\n  \
    quipu repair 3f2a")]
pub(crate) struct Args {
    /// The run: a beginning of its id, or `last`
    #[arg(value_name = "RUN")]
    run: String,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let run_id = find_run(&layout, &args.run)?;
    let outcome =
        if args.dry_run { plan(&layout, &run_id)? } else { mend(context, &layout, &run_id)? };
    if context.screen.json {
        context.screen.print_json(&outcome.json(args.dry_run))?;
    } else {
        outcome.print(context, args.dry_run)?;
    }
    Ok(if outcome.remaining.is_empty() { Exit::Ok } else { Exit::Damaged })
}

/// What was done, or would be, and what is left.
struct Outcome {
    run_id: RunId,
    path: PathBuf,
    torn: Option<TornBytes>,
    /// What had been left open: the type of the start, its path, its number.
    closed: Vec<(String, String, u64)>,
    narrowed: Vec<PathBuf>,
    remaining: Vec<Finding>,
    more: u64,
}

struct TornBytes {
    offset: u64,
    bytes: u64,
    file: PathBuf,
}

fn mend(context: &Context, layout: &Layout, run_id: &RunId) -> anyhow::Result<Outcome> {
    let before = verify_run(layout, run_id)?;
    let durability = context.settings.durability.value;
    let options = Options { durability, ..Options::default() };
    let (recorder, recovery) = Recorder::reopen(layout, run_id, options)?;
    recorder.close()?;
    let after = verify_run(layout, run_id)?;
    let Recovery { torn, aborted, .. } = recovery;
    let file = layout.torn(run_id);
    Ok(Outcome {
        run_id: run_id.clone(),
        path: after.path,
        torn: torn.map(|torn| TornBytes { offset: torn.offset, bytes: torn.bytes, file }),
        closed: aborted
            .iter()
            .map(|span| (span.kind.to_string(), span.path.to_string(), span.seq))
            .collect(),
        narrowed: before.findings.iter().filter_map(wide_path).collect(),
        remaining: after.findings,
        more: after.more,
    })
}

/// Finds out what [`mend`] would do, without touching anything.
fn plan(layout: &Layout, run_id: &RunId) -> anyhow::Result<Outcome> {
    let path = layout.transcript(run_id);
    if let Some(holder) = writer_of(&path)? {
        return Err(OpenError::Locked { run: run_id.clone(), holder }.into());
    }
    let Report { path, findings, more, .. } = verify_run(layout, run_id)?;
    let torn = torn_bytes(layout, run_id)?;
    let is_torn = |finding: &Finding| {
        let behind = torn.as_ref().zip(finding.offset);
        behind.is_some_and(|(torn, offset)| offset >= torn.offset)
    };
    let mut outcome = Outcome {
        run_id: run_id.clone(),
        path,
        torn: None,
        closed: Vec::new(),
        narrowed: Vec::new(),
        remaining: Vec::new(),
        more,
    };
    for finding in findings {
        if is_torn(&finding) {
            continue;
        }
        match (wide_path(&finding), &finding.what) {
            (Some(path), _) => outcome.narrowed.push(path),
            (None, FindingKind::Unfinished { start, path }) => {
                let seq = finding.line.unwrap_or(0);
                outcome.closed.push((start.to_string(), path.clone(), seq));
            }
            _ => outcome.remaining.push(finding),
        }
    }
    outcome.torn = torn;
    Ok(outcome)
}

/// Returns what stands behind the last event, which is what reopening would cut off.
fn torn_bytes(layout: &Layout, run_id: &RunId) -> anyhow::Result<Option<TornBytes>> {
    let path = layout.transcript(run_id);
    let size = path.metadata()?.len();
    let (mut torn, mut whole_lines) = (None, 0);
    for read in ReaderBackward::open(&path)? {
        match read {
            Ok(_) => return Ok(torn),
            Err(ReadProblem::Damaged { damage, .. }) => {
                whole_lines += u64::from(!matches!(damage.what, DamageKind::TornTail(_)));
                let (offset, file) = (damage.offset, layout.torn(run_id));
                torn = Some(TornBytes { offset, bytes: size - offset, file });
            }
            Err(ReadProblem::Io(error)) => return Err(error.into()),
        }
    }
    if whole_lines > 0 { Err(OpenError::NotATranscript { path }.into()) } else { Ok(torn) }
}

fn wide_path(finding: &Finding) -> Option<PathBuf> {
    match &finding.what {
        FindingKind::Mode { path, .. } => Some(path.clone()),
        _ => None,
    }
}

impl Outcome {
    fn changes_nothing(&self) -> bool {
        self.torn.is_none() && self.closed.is_empty() && self.narrowed.is_empty()
    }

    fn print(&self, context: &Context, dry_run: bool) -> anyhow::Result<()> {
        let mut out = context.screen.stdout();
        let would = if dry_run { "would have " } else { "" };
        if let Some(TornBytes { offset, bytes, file }) = &self.torn {
            let file = file.display();
            writeln!(out, "{would}moved {bytes} torn bytes from byte {offset} on to {file}")?;
        }
        for (start, path, seq) in &self.closed {
            writeln!(out, "{would}closed {start} at {path:?} (event {seq}) as aborted")?;
        }
        for path in &self.narrowed {
            writeln!(out, "{would}closed {} to others", path.display())?;
        }
        if self.changes_nothing() && self.remaining.is_empty() {
            writeln!(out, "nothing to repair: {} is sound", self.run_id)?;
        }
        let path = self.path.display().to_string();
        for finding in &self.remaining {
            writeln!(out, "cannot mend {}", placed(&path, finding))?;
        }
        if self.more > 0 {
            let verify = context.settings.command(format_args!("verify {}", self.run_id));
            writeln!(out, "and {} findings more: `{verify}`", self.more)?;
        }
        out.flush()?;
        Ok(())
    }

    fn json(&self, dry_run: bool) -> Value {
        let closed = self
            .closed
            .iter()
            .map(|(start, path, seq)| json!({ "type": start, "path": path, "seq": seq }));
        json!({
            "run_id": self.run_id,
            "path": self.path,
            "dry_run": dry_run,
            "changed": !dry_run && !self.changes_nothing(),
            "torn": self.torn.as_ref().map(|torn| json!({
                "offset": torn.offset, "bytes": torn.bytes, "file": torn.file,
            })),
            "closed": closed.collect::<Vec<_>>(),
            "narrowed": self.narrowed,
            "remaining": self.remaining.iter().map(finding_json).collect::<Vec<_>>(),
            "more": self.more,
        })
    }
}
