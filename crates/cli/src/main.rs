//! The `quipu` command: parse, dispatch, exit code. What each command does is in `commands/`.

mod args;
mod commands;
mod cores;
mod exit;
mod format;
mod live;
mod logging;
mod output;
mod settings;
mod workflow;

use std::process::ExitCode;

use clap::Parser;

use mimalloc::MiMalloc;

use args::Args;
use commands::Command;
use exit::Exit;
use format::count;
use logging::TranscriptLog;
use output::Screen;
use settings::Settings;

/// Events are small allocations by the million, made in one thread and freed in another; the
/// system's allocator takes twice as long over them.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// What every command is given.
struct Context {
    settings: Settings,
    screen: Screen,
    log: TranscriptLog,
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return exit::report_usage(&error),
    };
    let json = args.global.json;
    let storage = settings::storage_flag(args.global.storage.as_ref());
    match run(args) {
        Ok(exit) => exit.into(),
        Err(error) => exit::report(&error, json, &storage),
    }
}

fn run(args: Args) -> anyhow::Result<Exit> {
    if let Command::McpServe(args) = &args.command {
        // An agent waits for it before it begins, and it needs none of what follows.
        return commands::mcp_serve::run(args);
    }
    let settings = Settings::load(&args.global)?;
    let log_file = settings.log_file.value.as_deref().filter(|_| args.command.records());
    let log = logging::start(args.global.verbose, log_file)?;
    let screen = Screen::new(settings.color.value, args.global.json);
    let mut context = Context { settings, screen, log };
    let outcome = commands::dispatch(&context, args.command);
    match context.log.end() {
        0 => {}
        lost => screen.note(format_args!("the log file lacks {}", count::of(lost, "record"))),
    }
    outcome
}
