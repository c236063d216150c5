//! The commands, one file each.

mod collect;
mod completions;
mod config;
mod cost;
mod demo;
mod diff;
mod exec;
pub(crate) mod export;
mod import;
mod ls;
mod man;
mod mcp;
pub(crate) mod mcp_serve;
mod normalize;
mod note;
pub(crate) mod receipt;
mod record;
mod repair;
mod replay;
mod resume;
mod run;
mod schema;
mod show;
mod stats;
mod status;
mod tail;
mod tree;
mod validate;
mod verify;
mod watch;

use crate::Context;
use crate::exit::Exit;

/// What quipu can be asked to do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Demo(demo::Args),
    Run(run::Args),
    Resume(resume::Args),
    Status(status::Args),
    Validate(validate::Args),
    Record(record::Args),
    Collect(collect::Args),
    Exec(exec::Args),
    Import(import::Args),
    Watch(watch::Args),
    Normalize(normalize::Args),
    Note(note::Args),
    Ls(ls::Args),
    Show(show::Args),
    Tree(tree::Args),
    Tail(tail::Args),
    Replay(replay::Args),
    Stats(stats::Args),
    Export(export::Args),
    Receipt(receipt::Args),
    Cost(cost::Args),
    Diff(diff::Args),
    Mcp(mcp::Args),
    Verify(verify::Args),
    Repair(repair::Args),
    Schema(schema::Args),
    Config(config::Args),
    Completions(completions::Args),
    Man(man::Args),
    McpServe(mcp_serve::Args),
}

impl Command {
    /// Tells whether the command records runs, so that there is something to log.
    pub(crate) fn records(&self) -> bool {
        use Command::{Collect, Demo, Exec, Note, Record, Resume, Run};
        matches!(self, Demo(_) | Run(_) | Resume(_) | Record(_) | Collect(_) | Exec(_) | Note(_))
    }
}

/// Runs one command.
pub(crate) fn dispatch(context: &Context, command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Demo(args) => demo::run(context, args),
        Command::Validate(args) => validate::run(context, args),
        Command::Run(args) => run::run(context, args),
        Command::Resume(args) => resume::run(context, args),
        Command::Status(args) => status::run(context, args),
        Command::Record(args) => record::run(context, args),
        Command::Collect(args) => collect::run(context, args),
        Command::Exec(args) => exec::run(context, args),
        Command::Import(args) => import::run(context, args),
        Command::Watch(args) => watch::run(context, args),
        Command::Normalize(args) => normalize::run(context, args),
        Command::Note(args) => note::run(context, args),
        Command::Ls(args) => ls::run(context, args),
        Command::Show(args) => show::run(context, args),
        Command::Tree(args) => tree::run(context, args),
        Command::Tail(args) => tail::run(context, args),
        Command::Replay(args) => replay::run(context, args),
        Command::Stats(args) => stats::run(context, args),
        Command::Export(args) => export::run(context, args),
        Command::Receipt(args) => receipt::run(context, &args),
        Command::Cost(args) => cost::run(context, &args),
        Command::Diff(args) => diff::run(context, &args),
        Command::Mcp(args) => mcp::run(context, args),
        Command::Verify(args) => verify::run(context, args),
        Command::Repair(args) => repair::run(context, args),
        Command::Schema(args) => schema::run(context, args),
        Command::Config(args) => config::run(context, args),
        Command::Completions(args) => completions::run(context, args),
        Command::Man(args) => man::run(context, args),
        Command::McpServe(args) => mcp_serve::run(&args),
    }
}
