//! `quipu mcp-serve`: the end of a pipe that an agent holds. The tools are at the other end.

use std::path::PathBuf;

use quipu_tool::mcp::forward;

use crate::exit::Exit;

/// Carry an agent's tool calls to the run that started it
///
/// For agents, which a run tells to start it: an MCP server on the standard streams whose tools are
/// those of the run. It reads no settings and ends when its input does.
#[derive(Debug, clap::Args)]
#[command(
    hide = true,
    after_help = "Examples:\n  quipu mcp-serve --socket /tmp/quipu-x/tools.sock"
)]
pub(crate) struct Args {
    /// The socket of the run
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let streams = (tokio::io::stdin(), tokio::io::stdout());
    let carried = runtime.block_on(forward(&args.socket, streams.0, streams.1));
    // A thread may still wait for input that no longer matters.
    runtime.shutdown_background();
    carried?;
    Ok(Exit::Ok)
}
