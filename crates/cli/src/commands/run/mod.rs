//! `quipu run`: runs a workflow, here or in the background, or only says what it would do.

mod detach;
mod known;
mod plan;

use quipu_event::RunIdentity;
use quipu_journal::Durability;

use super::record::id_for;
use crate::Context;
use crate::exit::Exit;
use crate::settings::{MaskChoice, parse_durability};
use crate::workflow::{Flight, Given, InputArgs, Overrides, ViewWish, find, fly, load};

/// Run a workflow of agents, commands, loops and other workflows
///
/// The workflow is a YAML file, or the name of one in .quipu/workflows, .awf/workflows or
/// ~/.config/awf/workflows. Everything that happens is recorded: the run's id and the place of
/// its transcript are printed first, `quipu tree` shows it afterwards, `quipu resume` goes on
/// with a run that stopped.
///
/// On a terminal each running step has a spinner, with what agents say and use as they do; in a
/// pipe there is one plain line after the other, with --json one JSON object. Inputs that are
/// needed and missing are asked for when a person is there.
///
/// Ctrl-C asks the run to end in order: what runs is stopped, hooks run, the end is recorded. A
/// second Ctrl-C stops everything at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Changes for one run (--set):\n  \
    provider=NAME                  another agent for all agent steps\n  \
    model=NAME                     another model for all agent steps\n  \
    STEP.provider=NAME             another agent for one step\n  \
    STEP.model=NAME                another model for one step\n  \
    STEP.timeout=30s               how long one step may take\n  \
    providers.NAME.command=WORDS   another program for an agent: words, or a JSON list\n  \
    providers.NAME.model=NAME      the model where a step names none\n  \
    providers.NAME.base_url=URL    where an agent's API is\n\n\
    The last three can stand in quipu.toml: [providers.claude] command = [\"./fake\", \"claude\"]\n\n\
    Exit codes: 0 the run succeeded, 1 your input, 2 the workflow is wrong, 3 the run failed or \
    was stopped, 4 system; a status that the workflow itself gives comes before these.\n\n\
    Examples:\n  \
    quipu run review.yaml -i file=src/main.rs\n  \
    quipu run review.yaml -i prompt=@prompt.md --inputs more.yaml\n  \
    quipu run review.yaml --stub --set provider=codex\n  \
    quipu run review.yaml --dry-run\n  \
    quipu run review.yaml --view kgent=audit --view html=report\n  \
    quipu run report.yaml --deliverable out/report.md\n  \
    quipu run nightly --detach && quipu status -w")]
pub(crate) struct Args {
    /// The workflow: a file, or a name
    #[arg(value_name = "FILE|NAME")]
    workflow: String,
    #[command(flatten)]
    inputs: InputArgs,
    /// Replace every agent by a stub, which answers at once and costs nothing
    #[arg(long)]
    stub: bool,
    /// Check the workflow and its inputs and say what would be done; run and write nothing
    #[arg(long, conflicts_with = "detach")]
    dry_run: bool,
    /// Change something for this run; see below (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A file that must be there when the run ends, beside those that the workflow names (repeatable)
    #[arg(long = "deliverable", value_name = "PATH")]
    deliverables: Vec<String>,
    /// Run in the background: print the run's id and come back at once
    #[arg(long)]
    detach: bool,
    /// Give the run this id instead of a fresh one
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Record no transcript
    #[arg(long, conflicts_with = "detach")]
    no_record: bool,
    /// When lines are forced onto the disk: never, always, or every so often, such as 200ms
    #[arg(long, value_name = "WHEN", value_parser = parse_durability)]
    durability: Option<Durability>,
    /// What to hide in the transcript, beside inputs whose names say that they are secret
    #[arg(long, value_name = "WHAT", conflicts_with = "no_mask")]
    mask: Option<MaskChoice>,
    /// Hide nothing beside inputs whose names say that they are secret
    #[arg(long)]
    no_mask: bool,
    /// Write the run in a layout into a directory while it goes on; see `quipu export` (repeatable)
    #[arg(long = "view", value_name = "LAYOUT=DIR", conflicts_with = "no_record")]
    views: Vec<ViewWish>,
    /// Show only how the run ended
    #[arg(short, long)]
    quiet: bool,
    /// This is the process in the background.
    #[arg(long, hide = true)]
    in_background: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    if args.in_background {
        detach::leave_the_terminal()?;
    }
    let path = find(&args.workflow)?;
    let mut workflow = load(context, &path)?;
    let mut overrides = Overrides::parse(&args.set)?;
    overrides.stub(args.stub.then_some(true));
    overrides.require(&args.deliverables)?;
    overrides.apply(&mut workflow)?;
    // Inputs that come over standard input leave nobody there to be asked.
    let reads_stdin = args.inputs.inputs.as_deref().is_some_and(|path| path.as_os_str() == "-");
    let may_ask = !reads_stdin && !context.screen.json && !args.dry_run;
    let working_dir = std::env::current_dir()?;
    let inputs = Given::read(&args.inputs)?.checked(&workflow, &working_dir, may_ask)?;
    if args.dry_run {
        plan::show(context, &workflow, &inputs)?;
        return Ok(Exit::Ok);
    }
    let run_id = id_for(args.id.as_deref())?;
    if args.detach {
        return detach::start(context, &args, &run_id, &inputs);
    }
    let flight = Flight {
        run: RunIdentity { run_id, parent_run_id: None },
        inputs,
        working_dir,
        resume: false,
        stub: args.stub,
        record: !args.no_record,
        quiet: args.quiet,
        may_ask: !reads_stdin,
        durability: args.durability,
        mask: if args.no_mask { Some(MaskChoice::None) } else { args.mask },
        overrides,
        views: args.views,
    };
    fly(context, workflow, flight)
}
