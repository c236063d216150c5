//! Listing 100,000 runs.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

use quipu_event::payload::{RunCompleted, RunKind, RunStarted, Status, TokenCounts};
use quipu_event::{Draft, Kind, RunId, RunIdentity, Timestamp, encode_line};
use quipu_journal::{Layout, list_runs};

use crate::measure::in_turns;
use crate::row::Outcome;
use crate::sample::{draft, small_reply, step_path};

const RUNS: usize = 100_000;
const EVENTS_EACH: u64 = 20;

pub(crate) fn hundred_thousand(dir: &Path) -> anyhow::Result<Outcome> {
    let layout = Layout::new(dir.join("storage"));
    std::fs::create_dir_all(layout.transcripts())?;
    for number in 0..RUNS {
        write_run(&layout, number)?;
    }
    let times = in_turns(
        3,
        || stat_all(&layout),
        || {
            black_box(list_runs(&layout)?);
            Ok(())
        },
    )?;
    Ok(Outcome {
        value: times.subject,
        unit: "s",
        baseline: times.baseline,
        ratio: times.subject / times.baseline,
    })
}

/// The least that any list must do: ask for each file's size.
fn stat_all(layout: &Layout) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(layout.transcripts())? {
        black_box(entry?.metadata()?.len());
    }
    Ok(())
}

fn write_run(layout: &Layout, number: usize) -> anyhow::Result<()> {
    let run = RunIdentity { run_id: RunId::random(), parent_run_id: None };
    let at = |seq: u64| {
        Timestamp::from_micros(1_767_323_045_000_000 + (number as i64) * 1_000_000 + seq as i64)
    };
    let mut name = String::new();
    write!(name, "run {number}")?;
    let started = Draft::new(Kind::RunStarted, &RunStarted::new(&name, RunKind::Workflow))?;
    let mut text = String::new();
    encode_line(&started.seal(1, &run, at(1)), &mut text);
    let message = small_reply();
    for seq in 2..EVENTS_EACH {
        encode_line(&draft(&message, &step_path())?.seal(seq, &run, at(seq)), &mut text);
    }
    let completed = RunCompleted {
        name,
        status: Some(Status::Succeeded),
        duration_ms: Some(5),
        usage: Some(TokenCounts { output_tokens: Some(7), ..TokenCounts::default() }),
        ..RunCompleted::default()
    };
    let completed = Draft::new(Kind::RunCompleted, &completed)?;
    encode_line(&completed.seal(EVENTS_EACH, &run, at(EVENTS_EACH)), &mut text);
    std::fs::write(layout.transcript(&run.run_id), text)?;
    Ok(())
}
