//! The page that a person finds who opens a bundle without WINK.

/// Returns the text of `README.txt`.
pub(super) fn readme(run_id: &str, begun: &str, status: &str) -> String {
    let (wide, thin) = ("=".repeat(60), "-".repeat(60));
    format!(
        "Debug Bundle
{wide}

Bundle ID: {run_id}
Created: {begun}
Status: {status}

Contents
{thin}

manifest.json       Bundle metadata and integrity checksums
README.txt          This file

request/
  input.json        What the run was given
  output.json       How the run ended (if it has)

logs/
  app.jsonl         Log records of the run
transcript.jsonl    Those of them that are transcript entries

environment/
  command.txt       Where the run ran, and what defined it

config.json         How the run was set up
run_context.json    Execution context (IDs)
metrics.json        Token usage, timing

Optional files (if present):
  error.json        Error details (if failed)

{wide}
Format version: 1.0.0"
    )
}
