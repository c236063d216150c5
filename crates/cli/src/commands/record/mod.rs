//! `quipu record`: one draft per line of standard input becomes one line of a run.

mod draft_line;
mod input;
mod keeping;
mod lifecycle;
mod open;
mod recording;

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};

use quipu_event::RunId;
use quipu_event::payload::{RunKind, Status};
use quipu_journal::deliver_notes;
use serde_json::json;

use crate::Context;
use crate::exit::Exit;
use crate::format::count;
use crate::format::span::duration;
use crate::output::Screen;
use input::{End, Input};
pub(super) use keeping::Keeping;
use lifecycle::Ending;
pub(super) use open::id_for;
use recording::{Finished, Recording};

/// Record drafts from standard input, one JSON object per line
///
/// A draft is {"type", "path"?, "iteration"?, "source"?, "timestamp"?, "child_run_id"?,
/// "payload"?}; `quipu schema` has the types and the shapes of their payloads. A line that is no
/// draft is kept whole as an event of type `unknown` and told on stderr; a draft without a field
/// that its type must have, or with a status that is none, is recorded and told. Blank lines are
/// passed over: they leave no event and are not acknowledged.
///
/// The run's id goes to stdout at once. quipu writes run.started and run.completed itself; a
/// run.completed among the drafts takes the place of its own, and its status decides the exit
/// code.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    my-agent --events | quipu record --name review --kind session --mask secrets\n  \
    echo '{\"type\":\"system\",\"payload\":{\"subtype\":\"hello\"}}' | quipu record --name hello\n  \
    quipu record --id 3f2a --append --ack < more.jsonl")]
pub(crate) struct Args {
    /// Call the run N; with --append, what it is called already is the default
    #[arg(long, value_name = "N", required_unless_present = "append")]
    name: Option<String>,
    /// What sort of thing the run is [default: exec]
    #[arg(long, value_name = "KIND")]
    kind: Option<KindChoice>,
    /// The run that calls this one: a beginning of its id, or `last`
    #[arg(long, value_name = "RUN", conflicts_with = "append")]
    parent: Option<String>,
    /// Give the run this id instead of a fresh one; with --append, the run to go on with
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Go on with a run that exists, after putting its end in order
    #[arg(long, requires = "id")]
    append: bool,
    #[command(flatten)]
    keeping: Keeping,
    /// Label the run (repeatable)
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = parse_label)]
    labels: Vec<(String, String)>,
    /// Print {"seq":n} after each line is written, and nothing else, on stdout
    #[arg(long)]
    ack: bool,
    /// Stop at the first line that is no draft, or none that the format allows, recording nothing of it
    #[arg(long)]
    strict: bool,
    /// Leave run.started and run.completed to the drafts
    #[arg(long)]
    no_lifecycle: bool,
}

/// What sort of thing a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum KindChoice {
    /// A workflow of steps
    Workflow,
    /// An agent's own session
    Session,
    /// A program that records itself
    Exec,
}

impl From<KindChoice> for RunKind {
    fn from(choice: KindChoice) -> Self {
        match choice {
            KindChoice::Workflow => RunKind::Workflow,
            KindChoice::Session => RunKind::Session,
            KindChoice::Exec => RunKind::Exec,
        }
    }
}

/// Who writes the run's start and end.
enum Lifecycle {
    Ours { labels: BTreeMap<String, String> },
    Producers,
}

/// What becomes of a line that is no draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strictness {
    /// It is kept as `unknown`.
    Lenient,
    /// It ends the run.
    Strict,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let screen = context.screen;
    let opened = open::open(context, &args)?;
    // Signals are caught before the first line is written, so that no run is left without an end.
    let input = Input::open()?;
    announce(screen, &args, &opened.recorder);
    let lifecycle = if args.no_lifecycle {
        Lifecycle::Producers
    } else {
        Lifecycle::Ours { labels: args.labels.into_iter().collect() }
    };
    let strictness = if args.strict { Strictness::Strict } else { Strictness::Lenient };
    let acks = args.ack.then(|| screen.stdout());
    let run_id = opened.recorder.run().run_id.clone();
    let mut recording = Recording::new(opened, lifecycle, strictness, acks, context);
    recording.begin()?;
    let end = input.for_each_line(|number, line| recording.take_line(number, line));
    let verdict = verdict(&end, &recording);
    if let (End::Failed(_), Some(error)) = (&end, &verdict.error) {
        screen.note(format_args!("error: {error}"));
    }
    // What is left now is taken up after the end, and told then if it cannot be.
    let _ = recording.take_up_notes(&context.settings.layout());
    let finished = recording.finish(verdict)?;
    take_up_notes(context, &run_id, &args.keeping);
    tell(screen, &finished);
    if screen.json && !args.ack {
        print_summary(screen, &finished)?;
    }
    Ok(exit_code(&end, &finished))
}

/// Records what others left for the run while only this process could write it.
pub(super) fn take_up_notes(context: &Context, run: &RunId, keeping: &Keeping) {
    let layout = context.settings.layout();
    if !layout.notes(run).is_dir() {
        return;
    }
    let deliver = || Ok(deliver_notes(&layout, run, keeping.options(context)?)?);
    let delivery: anyhow::Result<_> = deliver();
    if let Err(error) = delivery {
        context.screen.note(format_args!("notes for the run go on waiting: {error}"));
    }
}

/// Says where the run goes, and its id to whoever wants to pass it on.
fn announce(screen: Screen, args: &Args, recorder: &quipu_journal::Recorder) {
    if !args.ack && !screen.json {
        let mut out = screen.stdout();
        // A reader that went away early does not need the id; the recording goes on without it.
        let _ = writeln!(out, "{}", recorder.run().run_id).and_then(|()| out.flush());
    }
    screen.note(format_args!("recording to {}", recorder.path().display()));
    if std::io::stdin().is_terminal() {
        screen.note("reading drafts from the terminal; Ctrl-D ends the run");
    }
}

/// Returns how the run ended as far as the input's end tells.
fn verdict(end: &End, recording: &Recording) -> Ending {
    let (status, error) = match end {
        End::Closed => (Status::Succeeded, None),
        End::Signaled(signal) => (Status::Canceled, Some(format!("stopped by {signal}"))),
        End::Enough => (Status::Failed, recording.refused().map(str::to_owned)),
        End::Failed(error) => {
            (Status::Failed, Some(format!("cannot read standard input: {error}")))
        }
    };
    Ending { status, error }
}

fn tell(screen: Screen, finished: &Finished) {
    let stats = finished.recorder.stats();
    let status = finished.status.as_ref().map_or("without an end", Status::as_str);
    let events = count::of(stats.last_seq, "event");
    let mut text = format!("recorded {events} in {}: {status}", duration(finished.duration_ms));
    if finished.unknown > 0 {
        text += &format!(", {} kept as unknown", finished.unknown);
    }
    if stats.masked > 0 {
        text += &format!(", {} masked", count::of(stats.masked, "secret"));
    }
    screen.note(text);
}

fn print_summary(screen: Screen, finished: &Finished) -> anyhow::Result<()> {
    let stats = finished.recorder.stats();
    screen.print_json(&json!({
        "run_id": finished.recorder.run().run_id,
        "path": finished.recorder.path(),
        "status": finished.status,
        "events": stats.last_seq,
        "unknown": finished.unknown,
        "masked": stats.masked,
        "duration_ms": finished.duration_ms,
        "error": finished.failure.as_ref().map(ToString::to_string).or(finished.refused.clone()),
    }))
}

fn exit_code(end: &End, finished: &Finished) -> Exit {
    if finished.failure.is_some() || matches!(end, End::Failed(_)) {
        return Exit::System;
    }
    if finished.refused.is_some() {
        return Exit::User;
    }
    let failed = finished.status.as_ref().is_some_and(Status::is_failure);
    if failed || matches!(end, End::Signaled(_)) { Exit::RecordedFailed } else { Exit::Ok }
}

pub(super) fn parse_label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}
