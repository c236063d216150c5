//! `quipu exec`.

use crate::Context;
use crate::exit::Exit;

/// Run an agent under the recorder
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Context, _: Args) -> anyhow::Result<Exit> {
    anyhow::bail!("not there yet")
}
