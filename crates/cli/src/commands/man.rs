//! `quipu man`: the manual pages, made from the same words as `--help`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::CommandFactory;
use clap_mangen::Man;

use crate::Context;
use crate::exit::Exit;

/// Print the manual page, or write one page per command
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu man | man -l -\n  \
    quipu man --dir ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Write one page per command into DIR
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let command = crate::args::Args::command();
    let mut out = context.screen.stdout();
    match args.dir {
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page)?;
            out.write_all(&page)?;
        }
        Some(dir) => {
            let pages = write_pages(command, &dir)
                .with_context(|| format!("cannot write manual pages into {}", dir.display()))?;
            writeln!(out, "{pages} pages in {}", dir.display())?;
        }
    }
    out.flush()?;
    Ok(Exit::Ok)
}

fn write_pages(command: clap::Command, dir: &Path) -> anyhow::Result<usize> {
    fs::create_dir_all(dir)?;
    let pages = 1 + command.get_subcommands().count();
    clap_mangen::generate_to(command, dir)?;
    Ok(pages)
}
