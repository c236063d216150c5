//! `quipu stats`: runs in numbers.

mod gather;
mod tables;

use std::io::Write;

use quipu_event::RunId;
use quipu_journal::{Layout, find_run, run_ids_unordered};
use serde_json::Value;

use crate::Context;
use crate::exit::Exit;
use crate::format::note::{hint, note};
use crate::format::unreadable;
use gather::Gathered;

/// Count what is in runs
///
/// Events by type, tool calls, steps, models, durations and tokens: of the runs named, or of all
/// runs added up. --by shows one table alone and reads no more than it needs; --by type never
/// decodes a payload.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu stats last\n  \
    quipu stats --by type\n  \
    quipu stats --json | jq .usage")]
pub(crate) struct Args {
    /// The runs: unique beginnings of their ids, or `last`; all runs if none is given
    runs: Vec<String>,
    /// Only this table (repeatable)
    #[arg(long, value_name = "WHAT")]
    by: Vec<By>,
}

/// One table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum By {
    /// Events by type
    Type,
    /// Tool calls by tool
    Tool,
    /// Steps by path
    Step,
    /// Tokens by model
    Model,
}

impl By {
    /// Returns the key of the table in JSON.
    fn key(self) -> &'static str {
        match self {
            By::Type => "types",
            By::Tool => "tools",
            By::Step => "steps",
            By::Model => "models",
        }
    }
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let runs = chosen(&layout, &args.runs)?;
    if runs.is_empty() {
        note(&format!("there are no runs in {} yet", layout.storage().display()));
        hint(&context.settings.hint_at_first_run());
    }
    let mut gathered = gather::gather(&layout, &runs, &args.by);
    if !args.runs.is_empty()
        && let Some(error) = gathered.unreadable.pop()
    {
        // What was asked for by name is not left out.
        return Err(error.into());
    }
    if context.screen.json {
        context.screen.print_json(&json_of(&gathered, &args.by))?;
    } else if !runs.is_empty() {
        let mut out = context.screen.stdout();
        tables::write(&mut out, &gathered, &args.by, context.screen)?;
        out.flush()?;
    }
    let missing = unreadable::tell(&gathered.unreadable);
    let damage = gathered
        .damage
        .conclude(&context.settings, if let [run] = runs.as_slice() { Some(run) } else { None });
    Ok(if damage == Exit::Ok { missing } else { damage })
}

fn chosen(layout: &Layout, names: &[String]) -> anyhow::Result<Vec<RunId>> {
    if names.is_empty() {
        return Ok(run_ids_unordered(layout)?);
    }
    let mut runs =
        names.iter().map(|name| find_run(layout, name)).collect::<Result<Vec<_>, _>>()?;
    // A run named twice is still counted once.
    runs.sort();
    runs.dedup();
    Ok(runs)
}

/// Returns one run in numbers, and how many of its lines are damaged.
pub(crate) fn numbers_of(layout: &Layout, run: &RunId) -> anyhow::Result<Value> {
    let mut gathered = gather::gather(layout, std::slice::from_ref(run), &[]);
    if let Some(error) = gathered.unreadable.pop() {
        return Err(error.into());
    }
    let mut numbers = json_of(&gathered, &[]);
    numbers["damaged_lines"] = gathered.damage.lines().into();
    Ok(numbers)
}

/// Returns everything, or with --by those tables alone.
fn json_of(gathered: &Gathered, by: &[By]) -> Value {
    let mut all = gathered.summary.to_json();
    all["runs"] = gathered.runs.into();
    all["events"] = gathered.types.values().sum::<u64>().into();
    all["bytes"] = gathered.bytes.into();
    all["types"] =
        gathered.types.iter().map(|(kind, count)| (kind.clone(), Value::from(*count))).collect();
    if let (false, Value::Object(all)) = (by.is_empty(), &mut all) {
        let tables = by.iter().map(|by| by.key());
        let wanted: Vec<&str> = ["runs", "events", "bytes"].into_iter().chain(tables).collect();
        all.retain(|key, _| wanted.contains(&key.as_str()));
    }
    all
}
