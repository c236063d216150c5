//! `quipu note`: a few words for a run, whoever writes it at the moment.

use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use quipu_event::RunId;
use quipu_journal::{Delivery, Layout, Note, deliver_notes, find_run, leave_note};
use serde_json::json;

use super::record::Keeping;
use crate::Context;
use crate::exit::{Exit, UserError};
use crate::format::visible::visible;
use crate::settings::Source;

/// The longest note.
const LONGEST: u64 = 1024 * 1024;
/// The longest title, in characters.
const LONGEST_TITLE: usize = 200;

/// Leave a note on a run
///
/// The note becomes an event of the run: `system`, subtype `note`, with title and content. The run may
/// be over, or be written by another process at this very moment: then the note waits beside it, and
/// the one who writes records it. `quipu run` does so when a step ends, `record` and `exec` at the end.
///
/// A step or agent of a workflow finds its run in QUIPU_RUN_ID and its transcript in QUIPU_TRANSCRIPT,
/// so that it can leave notes from whatever directory it is in.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu note last --title 'Why it was stopped' < reason.md\n  \
    quipu note \"$QUIPU_RUN_ID\" --title Decision --text 'We keep the old format.'")]
pub(crate) struct Args {
    /// The run: a beginning of its id, or `last`
    #[arg(value_name = "RUN")]
    run: String,
    /// What the note is about
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    title: String,
    /// What it says [default: standard input, to its end]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    #[command(flatten)]
    keeping: Keeping,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let title = title(&args.title)?;
    let surroundings = Surroundings::of_process();
    let around = surroundings.as_ref().filter(|around| around.run == args.run);
    let given = matches!(context.settings.storage.from, Source::Flag(_));
    let layout = match around.filter(|_| !given).and_then(Surroundings::layout) {
        Some(layout) => layout,
        None => context.settings.layout(),
    };
    let run_id = find_run(&layout, &args.run)?;
    let content = content(context, args.text)?;
    let step = around.and_then(|around| around.step.clone());
    let options = args.keeping.options(context)?;
    let log = context.log.follow(&layout, &run_id);
    // It is left first: whatever happens from here on, somebody will find it.
    let id = leave_note(&layout, &run_id, &Note { title, content, step })?;
    let delivery = deliver_notes(&layout, &run_id, options)?;
    drop(log);
    tell(context, &layout, &run_id, &id, &delivery)?;
    Ok(Exit::Ok)
}

fn tell(
    context: &Context,
    layout: &Layout,
    run: &RunId,
    id: &str,
    delivery: &Delivery,
) -> anyhow::Result<()> {
    // Another process may have recorded it between the two.
    let seq = match delivery {
        Delivery::Recorded(notes) => notes.iter().find(|(note, _)| note == id).map(|(_, seq)| *seq),
        Delivery::Waiting(_) => None,
    };
    if context.screen.json {
        let (state, holder) = match delivery {
            Delivery::Recorded(_) => ("recorded", None),
            Delivery::Waiting(holder) => ("waiting", Some(holder.to_string())),
        };
        return context.screen.print_json(&json!({
            "run_id": run, "note_id": id, "state": state, "seq": seq, "writer": holder,
            "transcript": layout.transcript(run),
        }));
    }
    let mut out = context.screen.stdout();
    match (delivery, seq) {
        (Delivery::Waiting(holder), _) => {
            let holder = holder.to_string();
            writeln!(
                out,
                "noted; run {run} is being written by {}, who records it",
                visible(&holder)
            )?;
        }
        (_, Some(seq)) => writeln!(out, "noted in run {run} as event {seq}")?,
        (_, None) => writeln!(out, "noted in run {run}")?,
    }
    out.flush()?;
    Ok(())
}

/// The run that this process is a part of, as its environment says.
struct Surroundings {
    run: String,
    transcript: Option<PathBuf>,
    step: Option<String>,
}

impl Surroundings {
    fn of_process() -> Option<Surroundings> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Some(Surroundings {
            run: variable("QUIPU_RUN_ID")?,
            transcript: std::env::var_os("QUIPU_TRANSCRIPT").map(PathBuf::from),
            step: variable("QUIPU_STEP"),
        })
    }

    /// Returns the storage in which the run's transcript is, if it is where transcripts are.
    fn layout(&self) -> Option<Layout> {
        let transcript = self.transcript.as_deref()?;
        let layout = Layout::new(transcript.parent()?.parent()?);
        let run = RunId::parse(&self.run).ok()?;
        (layout.transcript(&run) == transcript && Path::is_file(transcript)).then_some(layout)
    }
}

fn title(given: &str) -> Result<String, UserError> {
    let title = given.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        return Err(
            UserError::new("the note has no title").with_hint("--title says what it is about")
        );
    }
    if title.chars().nth(LONGEST_TITLE).is_some() {
        let error = UserError::new(format!("the title is longer than {LONGEST_TITLE} characters"));
        return Err(error.with_hint("the text of the note comes over standard input or --text"));
    }
    Ok(title)
}

fn content(context: &Context, given: Option<String>) -> anyhow::Result<String> {
    let content = match given {
        Some(text) => text,
        None => {
            let stdin = std::io::stdin();
            if stdin.is_terminal() {
                context.screen.note("reading the note from the terminal; Ctrl-D ends it");
            }
            let mut bytes = Vec::new();
            stdin.lock().take(LONGEST + 1).read_to_end(&mut bytes)?;
            String::from_utf8(bytes).map_err(|_| UserError::new("the note is not UTF-8 text"))?
        }
    };
    if content.trim().is_empty() {
        let error = UserError::new("the note says nothing");
        return Err(error.with_hint("give its text over standard input, or with --text").into());
    }
    if content.len() as u64 > LONGEST {
        let error = UserError::new("the note is longer than 1 MiB");
        return Err(error.with_hint("a note can say where more is to be read").into());
    }
    Ok(content)
}
