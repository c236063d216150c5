//! The command line: global flags and the list of commands.

use std::path::PathBuf;

use clap::{ArgAction, Parser};

use crate::commands::Command;
use crate::settings::ColorChoice;

/// The flight recorder for AI agents: one append-only, replayable transcript of every run.
#[derive(Debug, Parser)]
#[command(
    name = "quipu",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "A RUN is named by any unique beginning of its id, or by `last`: the run that \
                  started last and was not called by another.\n\n\
                  Exit codes: 0 ok, 1 your input, 2 the recorded thing failed, 3 data found \
                  damaged, 4 system; `quipu run` has its own, see `quipu run --help`.\n\n\
                  Try `quipu demo` first."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Global {
    /// Keep runs in DIR [default: ./storage; or QUIPU_STORAGE, or `storage` in quipu.toml]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) storage: Option<PathBuf>,
    /// Print JSON for scripts instead of text for people
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// When to use colour [default: auto; or QUIPU_COLOR, or `color` in quipu.toml]
    #[arg(long, global = true, value_name = "WHEN", help_heading = "Global options")]
    pub(crate) color: Option<ColorChoice>,
    /// Append what is recorded to FILE, as log records for other tools: one JSON object per line
    /// [or QUIPU_LOG_FILE, or `log_file` in quipu.toml]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub(crate) log_file: Option<PathBuf>,
    /// Say more on stderr; twice for everything
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Global options")]
    pub(crate) verbose: u8,
}
