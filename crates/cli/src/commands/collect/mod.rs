//! `quipu collect`.

use crate::Context;
use crate::exit::Exit;

/// Record the sessions that agents leave behind
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Context, _: Args) -> anyhow::Result<Exit> {
    anyhow::bail!("not there yet")
}
