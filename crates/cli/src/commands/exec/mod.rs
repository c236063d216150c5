//! `quipu exec`: a program runs as it would without us, and a run tells what it said.

mod account;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::PathBuf;

use quipu_collect::exec::{
    CollectingFollower, Exec, ExecError, NoFollower, Program, SessionFollower, Streams,
    run as run_program, wants_machine_output,
};
use quipu_collect::{Homes, Store};
use quipu_event::{RunId, RunIdentity};
use quipu_journal::{Options, Recorder};
use quipu_provider::find_provider;

use super::normalize::provider_names;
use super::record::{Keeping, parse_label, take_up_notes};
use crate::Context;
use crate::exit::{Exit, UserError};

/// Run an agent under the recorder
///
/// The agent runs as it would without quipu: what it prints passes through to the byte as it comes,
/// it reads what quipu would read, signals reach it, and its exit code is the exit code. Beside that,
/// what it prints is recorded while it is printed: the events of claude, codex, gemini, copilot,
/// opencode or ACP, or the text itself if it is nobody's language. Its id is in QUIPU_RUN_ID.
///
/// On a terminal, and without an option that asks for JSON, the agent gets the terminal itself: then
/// the run says when it began and how it ended, and the agent's session file is followed into a run
/// of its own.
///
/// One line on stderr tells the run at the end. 127 and 126 are the exit codes for a program that
/// cannot be started, 4 is the one for a storage that cannot be opened: then nothing is run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu exec -- claude -p 'fix the test' --output-format stream-json --verbose | jq .type\n  \
    quipu exec --name nightly --mask secrets -- codex exec --json 'review the diff' > out.jsonl\n  \
    quipu exec --cwd app -- gemini -p 'hello' -o stream-json\n  \
    quipu exec -- make test\n  \
    quipu exec claude")]
pub(crate) struct Args {
    /// Whose output it is [default: found out]
    #[arg(long, value_name = "PROVIDER", value_parser = provider_names())]
    provider: Option<String>,
    /// Call the run N [default: the program's name]
    #[arg(long, value_name = "N")]
    name: Option<String>,
    /// Run the program in DIR
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    #[command(flatten)]
    keeping: Keeping,
    /// Label the run (repeatable)
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = parse_label)]
    labels: Vec<(String, String)>,
    /// Say nothing at the end, unless not everything was recorded
    #[arg(short, long)]
    quiet: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    if let Some(dir) = args.cwd.as_ref().filter(|dir| !dir.is_dir()) {
        let error = UserError::new(format!("{} is no directory", dir.display()));
        return Err(error.with_hint("--cwd says where the program runs").into());
    }
    let mut words = args.command.into_iter();
    let name = words.next().unwrap_or_default();
    let program = Program { name, args: words.collect(), dir: args.cwd };
    let streams = streams(&program)?;
    let run = RunIdentity { run_id: RunId::random(), parent_run_id: None };
    let options = args.keeping.options(context)?;
    let recorder = Recorder::create(&context.settings.layout(), run, options.clone())?;
    let exec = Exec {
        program,
        name: args.name,
        provider: args.provider.as_deref().and_then(find_provider),
        labels: args.labels.into_iter().collect(),
    };
    let follower = follower(context, options);
    let log = context.log.follow(&context.settings.layout(), &recorder.run().run_id);
    let ended = match run_program(exec, &recorder, streams, &*follower) {
        Ok(ended) => ended,
        Err(ExecError::Start(error)) => return Err(error.into()),
        Err(error) => return Err(error.into()),
    };
    take_up_notes(context, &recorder.run().run_id, &args.keeping);
    drop(log);
    account::tell(context, &ended, &recorder, args.quiet);
    Ok(Exit::Asked(ended.exit_code))
}

/// Returns who follows the session of an agent that has the terminal.
fn follower(context: &Context, options: Options) -> Box<dyn SessionFollower> {
    match Homes::of_user() {
        Some(homes) => {
            let store = Store::new(context.settings.layout(), options);
            Box::new(CollectingFollower { store, homes })
        }
        None => Box::new(NoFollower),
    }
}

/// Decides who has the terminal: the agent, if a person sits in front of it and asks for no JSON.
fn streams(program: &Program) -> io::Result<Streams> {
    let is_person = io::stdin().is_terminal() && io::stdout().is_terminal();
    if is_person && !wants_machine_output(&program.name, &program.args) {
        return Ok(Streams::Terminal);
    }
    // Duplicates, because nothing may stand between the agent's bytes and their reader.
    Ok(Streams::Piped {
        stdout: io::stdout().as_fd().try_clone_to_owned()?,
        stderr: io::stderr().as_fd().try_clone_to_owned()?,
    })
}
