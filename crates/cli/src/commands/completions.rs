//! `quipu completions`: not written yet.

use crate::Context;
use crate::exit::Exit;

/// Not written yet
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_context: &Context, _args: Args) -> anyhow::Result<Exit> {
    Ok(Exit::System)
}
