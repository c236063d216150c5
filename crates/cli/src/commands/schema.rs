//! `quipu schema`: the JSON Schema of a transcript line.

use std::io::Write;

use quipu_event::schema::{line_schema, written_line_schema};

use crate::Context;
use crate::exit::Exit;

/// Print the JSON Schema of a transcript line
///
/// Draft 2020-12. It constrains what is known and lets everything else through, as readers do: a
/// payload need not have all its fields. --written is for writers, and asks for those that FORMAT.md
/// calls required.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu schema > line.schema.json\n  \
    quipu schema | jq '.\"$defs\".ToolCall'")]
pub(crate) struct Args {
    /// Ask for every field that our own writers always write
    #[arg(long)]
    written: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let schema = if args.written { written_line_schema() } else { line_schema() };
    let mut out = context.screen.stdout();
    serde_json::to_writer_pretty(&mut out, &schema)?;
    writeln!(out)?;
    out.flush()?;
    Ok(Exit::Ok)
}
