//! `quipu completions`: what makes a shell complete commands and flags.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::Context;
use crate::exit::Exit;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu completions bash > ~/.local/share/bash-completion/completions/quipu\n  \
    quipu completions zsh > \"${fpath[1]}/_quipu\"\n  \
    quipu completions fish > ~/.config/fish/completions/quipu.fish")]
pub(crate) struct Args {
    /// Which shell
    shell: Shell,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::args::Args::command(), "quipu", &mut script);
    let mut out = context.screen.stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Ok)
}
