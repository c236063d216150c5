//! `quipu mcp`: transcripts for agents to read. Nothing in here writes.

mod bounds;
mod find;
mod list_runs;
mod page;
mod read_run;
mod run_stats;
mod run_tree;
mod search;
mod specs;
mod toolset;
mod unknown_fields;
mod wire;
mod words;

use std::sync::Arc;

use quipu_tool::mcp::serve;

use crate::Context;
use crate::exit::Exit;
use toolset::Transcripts;

/// Let agents read transcripts, as an MCP server on the standard streams
///
/// Tools to list runs, read one, see its tree and its numbers, and search all of them. Nothing is ever
/// changed, and every answer is short enough for a model, with a note on how to go on. It ends when
/// its input does. Agents start it themselves; docs/mcp.md shows how to tell them to.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    claude mcp add quipu -- quipu mcp --storage $PWD/storage\n  \
    codex mcp add quipu -- quipu mcp --storage $PWD/storage\n  \
    npx @modelcontextprotocol/inspector --cli quipu mcp --method tools/list")]
pub(crate) struct Args {}

pub(crate) fn run(context: &Context, _args: Args) -> anyhow::Result<Exit> {
    let tools = Arc::new(Transcripts::new(context.settings.layout()));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(serve(tools, tokio::io::stdin(), tokio::io::stdout()));
    // A search may still be under way for a client that is gone.
    runtime.shutdown_background();
    served?;
    Ok(Exit::Ok)
}
