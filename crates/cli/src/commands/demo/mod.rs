//! `quipu demo`: runs a small workflow with one of everything, shows what it left, and says what to
//! try next.

use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use quipu_event::{RunId, RunIdentity};
use quipu_journal::{LAST, Layout, find_run, look_at};

use crate::Context;
use crate::exit::Exit;
use crate::format::entry::short_id;
use crate::workflow::{Flight, Given, InputArgs, Overrides, fly, load};

/// Run a small workflow with one of everything, show it, and say what to try next
///
/// A workflow reviews a small repository: commands, agents with tools, a loop, parallel branches,
/// a retry and a workflow called by a workflow. The commands are real; the agents are stubs that
/// follow a script, so that nobody is asked and nothing costs anything. The two workflow files
/// are written to the storage's folder `demo`, to be read and changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu demo\n  \
    quipu demo --storage /tmp/quipu-demo")]
pub(crate) struct Args {}

/// The workflows of the demo; the first is the one that is run.
const WORKFLOWS: [(&str, &str); 2] = [
    ("review-repository.yaml", include_str!("review-repository.yaml")),
    ("write-summary.yaml", include_str!("write-summary.yaml")),
];

/// What was said by the agents, as plain text.
const JQ_FILTER: &str = r#"select(.type == "message.assistant") | .payload.blocks[].text // empty"#;

pub(crate) fn run(context: &Context, _args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let dir = std::path::absolute(layout.storage())?.join("demo");
    let first =
        write_workflows(&dir).with_context(|| format!("cannot write to {}", dir.display()))?;
    let workflow = load(context, &first)?;
    let inputs = Given::read(&InputArgs::default())?.checked(&workflow, &dir, false)?;
    let run_id = RunId::random();
    let flight = Flight {
        run: RunIdentity { run_id: run_id.clone(), parent_run_id: None },
        inputs,
        working_dir: dir,
        resume: false,
        stub: true,
        record: true,
        quiet: false,
        may_ask: false,
        durability: None,
        mask: None,
        overrides: Overrides::default(),
        views: Vec::new(),
    };
    let exit = fly(context, workflow, flight)?;
    if !context.screen.json {
        show(context, &layout, &run_id)?;
    }
    Ok(exit)
}

/// Writes the demo's workflows where a person finds them, and returns the first.
fn write_workflows(dir: &Path) -> std::io::Result<PathBuf> {
    // The storage may be made with it, and is closed to others from the beginning.
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    for (name, text) in WORKFLOWS {
        std::fs::write(dir.join(name), text)?;
    }
    Ok(dir.join(WORKFLOWS[0].0))
}

fn show(context: &Context, layout: &Layout, run_id: &RunId) -> anyhow::Result<()> {
    let mut out = context.screen.stdout();
    writeln!(out)?;
    out.flush()?;
    super::tree::print_tree(context, run_id)?;
    let path = layout.transcript(run_id);
    let path = path.display();
    let events = look_at(layout, run_id)?.last.map_or(0, |last| last.seq);
    writeln!(out, "\nrecorded {events} events in {path}\n\ntry next:")?;
    for (command, what) in next_steps(context, layout, run_id) {
        writeln!(out, "  {command:43}  {what}")?;
    }
    writeln!(out, "\nit is only lines of JSON:\n  jq -r '{JQ_FILTER}' {path}")?;
    out.flush()?;
    Ok(())
}

/// Commands that a person can paste, and what they show.
fn next_steps(context: &Context, layout: &Layout, run_id: &RunId) -> Vec<(String, &'static str)> {
    // Another run may have begun in the meantime; the run that this one called is the later one.
    let is_last = find_run(layout, LAST).is_ok_and(|last| last == *run_id);
    let run = if is_last { LAST } else { short_id(run_id) };
    let storage = context.settings.storage_flag();
    let file = layout.storage().join("demo").join(WORKFLOWS[0].0);
    vec![
        (format!("quipu show {run}{storage}"), "read it as a transcript"),
        (format!("quipu tree {run}{storage}"), "see its steps again"),
        (format!("quipu stats {run}{storage}"), "count tokens, tools and time"),
        (format!("quipu replay {run}{storage}"), "watch it again, with its own timing"),
        (format!("quipu export {run} --to html --out report{storage}"), "a page for a browser"),
        (format!("quipu tail {run}{storage}"), "see its end; -f follows one being recorded"),
        (format!("quipu verify --all{storage}"), "check that every run is whole"),
        (format!("quipu run --dry-run {}", file.display()), "see the workflow that was run"),
    ]
}
