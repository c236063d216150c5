//! `quipu watch`.

use crate::Context;
use crate::exit::Exit;

/// Watch the sessions that are running
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Context, _: Args) -> anyhow::Result<Exit> {
    anyhow::bail!("not there yet")
}
