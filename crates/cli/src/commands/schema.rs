//! `quipu schema`: the JSON Schema of a transcript line.

use std::io::Write;

use crate::Context;
use crate::exit::Exit;

/// Print the JSON Schema of a transcript line
///
/// Draft 2020-12. It constrains what is known and lets everything else through, as readers do.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu schema > line.schema.json\n  \
    quipu schema | jq '.\"$defs\".ToolCall'")]
pub(crate) struct Args {}

pub(crate) fn run(context: &Context, _args: Args) -> anyhow::Result<Exit> {
    let mut out = context.screen.stdout();
    serde_json::to_writer_pretty(&mut out, &quipu_event::schema::line_schema())?;
    writeln!(out)?;
    out.flush()?;
    Ok(Exit::Ok)
}
