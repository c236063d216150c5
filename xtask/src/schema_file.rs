//! The published JSON Schema equals what the types generate.

use anyhow::Context;

use crate::report::Report;
use crate::repository::{Mode, Repository};

const SCHEMA: &str = "schema/transcript-line.schema.json";

/// Compares or rewrites the schema file.
pub(crate) fn check(
    repository: &Repository,
    mode: Mode,
    report: &mut Report,
) -> anyhow::Result<()> {
    let schema = quipu_event::schema::line_schema();
    let text = serde_json::to_string_pretty(&schema).context("the schema does not print")? + "\n";
    repository.settle(SCHEMA, 1, &text, mode, report)
}
