//! `quipu resume`: goes on with a run that stopped, from what its transcript says and nothing else.

use std::path::{Path, PathBuf};

use quipu_event::payload::Status;
use quipu_event::{RunId, RunIdentity};
use quipu_journal::{Durability, RunListing, RunState, find_run, look_at};
use quipu_workflow::definition::Workflow;
use quipu_workflow::driver::{PastRun, Secrets, is_masked};
use serde_json::{Map, Value};

use crate::Context;
use crate::exit::{Exit, UserError};
use crate::format::entry::short_id;
use crate::format::note::note;
use crate::settings::{MaskChoice, parse_durability};
use crate::workflow::{Flight, Given, InputArgs, Overrides, ViewWish, fly, load};

/// Go on with a run that stopped: died, was stopped, or failed
///
/// What is finished does not run again, also inside loops and parallel steps: its results are
/// taken from the transcript, which then goes on in the same file. A step that was cut short, or
/// failed and left the run no way on, is tried again.
///
/// The workflow, the inputs and what was changed with --set or --stub are those of the run. Secret
/// inputs were never recorded: give them again with -i, or when you are asked; results that they
/// stood in are then what they were. A workflow whose file has changed since is refused, unless you
/// insist.
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
    #[arg(long, conflicts_with = "no_stub")]
    stub: bool,
    /// Ask real agents from here on, although the run began with --stub
    #[arg(long)]
    no_stub: bool,
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
    /// Write the run in a layout into a directory, from its beginning and while it goes on; files of
    /// earlier are replaced (repeatable)
    #[arg(long = "view", value_name = "LAYOUT=DIR")]
    views: Vec<ViewWish>,
    /// Show only how the run ended
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let run_id = find_run(&layout, &args.run)?;
    let listing = look_at(&layout, &run_id)?;
    refuse_running(context, &listing)?;
    refuse_empty(&listing)?;
    let past = PastRun::read(&layout.transcript(&run_id))?;
    refuse_complete(context, &listing, &past)?;
    let mut workflow = workflow_of(context, &past, args.force)?;
    let parent_run_id = listing.first.as_ref().and_then(|first| first.parent_run_id.clone());
    let may_ask = !context.screen.json;
    let mut given = Given::read(&args.inputs)?;
    given.ask_again(&past.inputs, &workflow, may_ask)?;
    let secrets = secrets_of(&workflow, &given, parent_run_id.is_some().then_some(&run_id));
    let recorded = secrets.restore_named(past.inputs);
    refuse_masked(&recorded, &given)?;
    let changes = secrets.restore_named(past.changes);
    let mut overrides = Overrides::again(&changes, &args.set)?;
    overrides.stub(if args.no_stub { Some(false) } else { args.stub.then_some(true) });
    overrides.apply(&mut workflow)?;
    let working_dir = match &past.cwd {
        Some(cwd) if !Path::new(cwd).is_dir() => {
            return Err(UserError::new(format!("the run worked in {cwd}, which is gone")).into());
        }
        Some(cwd) => PathBuf::from(cwd),
        None => std::env::current_dir()?,
    };
    let inputs = given.over(recorded).checked(&workflow, &working_dir, may_ask)?;
    let flight = Flight {
        run: RunIdentity { run_id, parent_run_id },
        inputs,
        working_dir,
        resume: true,
        stub: overrides.is_stubbed(),
        record: true,
        quiet: args.quiet,
        may_ask: true,
        durability: args.durability,
        mask: args.mask,
        overrides,
        views: args.views,
    };
    fly(context, workflow, flight)
}

fn refuse_running(context: &Context, listing: &RunListing) -> Result<(), UserError> {
    let RunState::Live(holder) = &listing.state else { return Ok(()) };
    let id = short(listing);
    Err(UserError::new(format!("run {id} is still running: {holder}"))
        .with_hint(format!("`{}` follows it", context.settings.command(format!("tail -f {id}")))))
}

/// A run that was killed before its first line never did anything.
fn refuse_empty(listing: &RunListing) -> Result<(), UserError> {
    if listing.bytes > 0 {
        return Ok(());
    }
    let (id, path) = (short(listing), listing.path.display());
    Err(UserError::new(format!("run {id} ended before its first line: it did nothing yet"))
        .with_hint(format!("start it again with `quipu run`; {path} is empty and can be removed")))
}

fn refuse_complete(
    context: &Context,
    listing: &RunListing,
    past: &PastRun,
) -> Result<(), UserError> {
    if past.status != Some(Status::Succeeded) {
        return Ok(());
    }
    let id = short(listing);
    let tree = context.settings.command(format_args!("tree {id}"));
    Err(UserError::new(format!("run {id} is complete: there is nothing left to do"))
        .with_hint(format!("`{tree}` shows it; `quipu run` starts another")))
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

/// Returns the secrets that are given again, as the run knows them.
fn secrets_of(workflow: &Workflow, given: &Given, called: Option<&RunId>) -> Secrets {
    let set = |name: &String| Some((name.clone(), std::env::var(name).ok()?));
    let env: Vec<(String, String)> = workflow.env.iter().filter_map(set).collect();
    let env = env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let secrets = Secrets::default();
    secrets.learn_for(called, &given.values(), env);
    secrets
}

/// Secrets are not in the transcript, so that what holds them has to be given again.
fn refuse_masked(recorded: &Map<String, Value>, given: &Given) -> Result<(), UserError> {
    let masked: Vec<&str> = recorded
        .iter()
        .filter(|(name, value)| is_masked(value) && !given.has(name))
        .map(|(name, _)| name.as_str())
        .collect();
    let Some(first) = masked.first() else { return Ok(()) };
    Err(UserError::new(format!("secret inputs are not recorded: {}", masked.join(", ")))
        .with_hint(format!("give them again: -i {first}=VALUE or -i {first}=@FILE")))
}

fn short(listing: &RunListing) -> &str {
    short_id(&listing.run_id)
}
