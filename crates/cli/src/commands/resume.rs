//! `quipu resume`: goes on with a run that stopped, from what its transcript says and nothing else.

use std::path::{Path, PathBuf};

use quipu_event::RunIdentity;
use quipu_event::payload::Status;
use quipu_journal::{Durability, RunListing, RunState, find_run, look_at};
use quipu_workflow::definition::Workflow;
use quipu_workflow::driver::{MASKED, PastRun};
use quipu_workflow::language::Value;

use crate::Context;
use crate::exit::{Exit, UserError};
use crate::format::note::note;
use crate::settings::{MaskChoice, parse_durability};
use crate::workflow::{Flight, Given, InputArgs, Overrides, fly, load};

/// Go on with a run that stopped: died, was stopped, or failed
///
/// What is finished does not run again, also inside loops and parallel steps: its results are
/// taken from the transcript, which then goes on in the same file. A step that was cut short, or
/// failed and left the run no way on, is tried again.
///
/// The workflow and the inputs are those of the run. Secret inputs were never recorded: give them
/// again with -i. A workflow whose file has changed since is refused, unless you insist.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu resume last\n  \
    quipu resume 3f2a -i api_key=@key.txt\n  \
    quipu resume 3f2a --force --set review.timeout=10m")]
pub(crate) struct Args {
    /// The run: any unique beginning of its id, or `last`
    run: String,
    #[command(flatten)]
    inputs: InputArgs,
    /// Replace every agent by a stub from here on
    #[arg(long)]
    stub: bool,
    /// Change something from here on, as for `quipu run` (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Go on although the workflow's file has changed
    #[arg(long)]
    force: bool,
    /// When lines are forced onto the disk: never, always, or every so often, such as 200ms
    #[arg(long, value_name = "WHEN", value_parser = parse_durability)]
    durability: Option<Durability>,
    /// What to hide in the transcript, beside inputs whose names say that they are secret
    #[arg(long, value_name = "WHAT")]
    mask: Option<MaskChoice>,
    /// Show only how the run ended
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let run_id = find_run(&layout, &args.run)?;
    let listing = look_at(&layout, &run_id)?;
    refuse_running(&listing)?;
    let past = PastRun::read(&layout.transcript(&run_id))?;
    refuse_complete(&listing, &past)?;
    let mut workflow = workflow_of(context, &past, args.force)?;
    let overrides = Overrides::parse(&args.set)?;
    overrides.apply(&mut workflow)?;
    let given = Given::read(&args.inputs)?;
    refuse_masked(&past, &given)?;
    let may_ask = !context.screen.json;
    let working_dir = match &past.cwd {
        Some(cwd) if !Path::new(cwd).is_dir() => {
            return Err(UserError::new(format!("the run worked in {cwd}, which is gone")).into());
        }
        Some(cwd) => PathBuf::from(cwd),
        None => std::env::current_dir()?,
    };
    let inputs = given.over(past.inputs).checked(&workflow, &working_dir, may_ask)?;
    let parent_run_id = listing.first.as_ref().and_then(|first| first.parent_run_id.clone());
    let flight = Flight {
        run: RunIdentity { run_id, parent_run_id },
        inputs,
        working_dir,
        resume: true,
        stub: args.stub,
        record: true,
        quiet: args.quiet,
        may_ask: true,
        durability: args.durability,
        mask: args.mask,
        overrides,
    };
    fly(context, workflow, flight)
}

fn refuse_running(listing: &RunListing) -> Result<(), UserError> {
    let RunState::Live(holder) = &listing.state else { return Ok(()) };
    let id = short(listing);
    Err(UserError::new(format!("run {id} is still running: {holder}"))
        .with_hint(format!("`quipu tail -f {id}` follows it")))
}

fn refuse_complete(listing: &RunListing, past: &PastRun) -> Result<(), UserError> {
    if past.status != Some(Status::Succeeded) {
        return Ok(());
    }
    let id = short(listing);
    Err(UserError::new(format!("run {id} is complete: there is nothing left to do"))
        .with_hint(format!("`quipu tree {id}` shows it; `quipu run` starts another")))
}

/// Reads the workflow that the run was started with.
fn workflow_of(context: &Context, past: &PastRun, force: bool) -> anyhow::Result<Workflow> {
    let Some(definition) = &past.definition else {
        let error = UserError::new("its transcript does not say which workflow this run is of");
        return Err(error.with_hint("only runs of `quipu run` can be resumed").into());
    };
    let recorded = Path::new(&definition.path);
    // A path that was given relative to where the run worked is still meant from there.
    let path = match &past.cwd {
        Some(cwd) if recorded.is_relative() => Path::new(cwd).join(recorded),
        _ => recorded.to_owned(),
    };
    let workflow = load(context, &path)?;
    if workflow.sha256 == definition.sha256 {
        return Ok(workflow);
    }
    let text = format!("{} has changed since the run began", path.display());
    if force {
        note(&text);
        return Ok(workflow);
    }
    Err(UserError::new(text)
        .with_hint("--force goes on with the file as it is now; `quipu run` starts afresh")
        .into())
}

/// Secrets are not in the transcript, so that they have to be given again.
fn refuse_masked(past: &PastRun, given: &Given) -> Result<(), UserError> {
    let masked: Vec<&str> = past
        .inputs
        .iter()
        .filter(|(name, value)| holds_mask(value) && !given.has(name))
        .map(|(name, _)| name.as_str())
        .collect();
    let Some(first) = masked.first() else { return Ok(()) };
    Err(UserError::new(format!("secret inputs are not recorded: {}", masked.join(", ")))
        .with_hint(format!("give them again: -i {first}=VALUE or -i {first}=@FILE")))
}

fn holds_mask(value: &Value) -> bool {
    match value {
        Value::String(text) => text == MASKED,
        Value::Array(list) => list.iter().any(holds_mask),
        Value::Object(object) => object.values().any(holds_mask),
        _ => false,
    }
}

fn short(listing: &RunListing) -> String {
    listing.run_id.as_str().chars().take(8).collect()
}
