//! `quipu import`.

use crate::Context;
use crate::exit::Exit;

/// Take over the files of other recorders
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Context, _: Args) -> anyhow::Result<Exit> {
    anyhow::bail!("not there yet")
}
