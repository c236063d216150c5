//! `quipu demo`: records a small but complete run, shows it, and says what to try next.

mod script;
mod stage;

use std::io::Write;

use quipu_event::{RunId, Timestamp};
use quipu_journal::{Clock, LAST, Layout, Options, SystemClock, find_run};
use serde_json::json;

use crate::Context;
use crate::exit::Exit;
use crate::settings::Source;
use stage::StageClock;

/// Record a small complete run, show it, and say what to try next
///
/// A workflow reviews a small repository: commands, an agent with tools, a loop, parallel
/// branches, a retry and a run called by a run. Nothing is executed and nobody is asked; the
/// events are made up, and recorded like any others.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu demo\n  \
    quipu demo --storage /tmp/quipu-demo")]
pub(crate) struct Args {}

/// What was said by the agents, as plain text.
const JQ_FILTER: &str = r#"select(.type == "message.assistant") | .payload.blocks[].text // empty"#;

pub(crate) fn run(context: &Context, _args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let options = Options { durability: context.settings.durability.value, ..Options::default() };
    let began = SystemClock.now().as_micros() - i64::try_from(script::LENGTH_MS * 1000)?;
    let clock = StageClock::new(Timestamp::from_micros(began));
    let recorder = script::play(&layout, &options, &clock)?;
    let run_id = recorder.run().run_id.clone();
    if context.screen.json {
        let events = recorder.last_seq();
        let told = json!({ "run_id": run_id, "path": recorder.path(), "events": events });
        context.screen.print_json(&told)?;
        return Ok(Exit::Ok);
    }
    super::tree::print_tree(context, &run_id)?;
    let mut out = context.screen.stdout();
    let path = recorder.path().display();
    writeln!(out, "\nrecorded {} events in {path}\n\ntry next:", recorder.last_seq())?;
    for (command, what) in next_steps(context, &layout, &run_id) {
        writeln!(out, "  {command:26}  {what}")?;
    }
    writeln!(out, "\nit is only lines of JSON:\n  jq -r '{JQ_FILTER}' {path}")?;
    out.flush()?;
    Ok(Exit::Ok)
}

/// Commands that a person can paste, and what they show.
fn next_steps(context: &Context, layout: &Layout, run_id: &RunId) -> Vec<(String, &'static str)> {
    // Another run may have begun while this one was on stage.
    let is_last = find_run(layout, LAST).is_ok_and(|last| last == *run_id);
    let run = if is_last { LAST } else { &run_id.as_str()[..8] };
    let storage = match &context.settings.storage.from {
        Source::Flag(_) => format!(" --storage {}", layout.storage().display()),
        _ => String::new(),
    };
    vec![
        (format!("quipu show {run}{storage}"), "read it as a transcript"),
        (format!("quipu tree {run}{storage}"), "see its steps again"),
        (format!("quipu stats {run}{storage}"), "count tokens, tools and time"),
        (format!("quipu tail {run}{storage}"), "see its end; -f follows one being recorded"),
        (format!("quipu verify --all{storage}"), "check that every run is whole"),
    ]
}
