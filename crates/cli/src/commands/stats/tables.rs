//! The numbers as people read them: a few facts, then tables.

use std::collections::BTreeMap;
use std::io::{self, Write};

use quipu_event::RunId;
use quipu_view::Summary;

use super::By;
use super::gather::Gathered;
use crate::format::entry::short_id;
use crate::format::table::{Cell, Column, Table};
use crate::format::visible::one_line;
use crate::format::{count, span, style};
use crate::output::Screen;

/// How wide the names of facts are.
const NAMES: usize = 9;

/// Writes the tables `by`, or everything if there are none.
pub(super) fn write(
    out: &mut dyn Write,
    gathered: &Gathered,
    by: &[By],
    screen: Screen,
) -> io::Result<()> {
    let width = if screen.is_terminal() { screen.width() } else { usize::MAX };
    if by.is_empty() {
        write_facts(out, gathered, width)?;
    }
    let Gathered { types, summary, .. } = gathered;
    let all = [
        (By::Type, types_table(types), types.is_empty()),
        (By::Tool, tools_table(summary), summary.tools.is_empty()),
        (By::Step, steps_table(summary), summary.steps.is_empty()),
        (By::Model, models_table(summary), summary.models.is_empty()),
    ];
    let mut is_first = !by.is_empty();
    for (table, drawn, is_empty) in all {
        let wanted = if by.is_empty() { !is_empty } else { by.contains(&table) };
        if wanted {
            if !std::mem::take(&mut is_first) {
                writeln!(out)?;
            }
            drawn.write(out, width)?;
        }
    }
    Ok(())
}

fn write_facts(out: &mut dyn Write, gathered: &Gathered, width: usize) -> io::Result<()> {
    let summary = &gathered.summary;
    let room = width.saturating_sub(NAMES + 1);
    let mut fact = |name: &str, text: Option<String>| match text {
        Some(text) => {
            let dim = style::DIM;
            writeln!(out, "{dim}{name:<NAMES$}{dim:#} {}", one_line(&text, room))
        }
        None => Ok(()),
    };
    if gathered.runs == 1 {
        // A beginning of an id names the run too, an id that is cut anywhere does not.
        let id = |run: &RunId| match run.as_str().len() > room {
            true => short_id(run).to_owned(),
            false => run.to_string(),
        };
        fact("run", summary.run_id.as_ref().map(id))?;
        fact("called by", summary.parent_run_id.as_ref().map(|run| short_id(run).to_owned()))?;
        fact("name", summary.name.clone())?;
        let status = summary.status.as_ref().map_or("not ended", |status| status.as_str());
        fact("status", Some(status.to_owned()))?;
        fact("error", summary.error.clone())?;
    } else {
        fact("runs", Some(count::full(gathered.runs)))?;
    }
    fact("started", summary.started.map(|started| started.to_string()))?;
    fact("ended", summary.ended.map(|ended| ended.to_string()))?;
    fact("duration", summary.duration_ms().map(span::duration))?;
    let events: u64 = gathered.types.values().sum();
    let size = count::bytes(gathered.bytes);
    fact("events", Some(format!("{} in {size}", count::full(events))))?;
    let total = summary.usage().and_then(|usage| {
        Some(format!("{}: {}", count::short(usage.total()?), count::tokens(&usage)))
    });
    fact("tokens", total)?;
    let listed = |counts: &BTreeMap<String, u64>| {
        let counts: Vec<String> = counts.iter().map(|(name, n)| format!("{n} {name}")).collect();
        (!counts.is_empty()).then(|| counts.join(", "))
    };
    fact("messages", listed(&summary.messages))?;
    fact("agents", listed(&summary.agents))?;
    fact("children", (summary.child_runs > 0).then(|| count::of(summary.child_runs, "run")))?;
    fact("masked", (summary.masked > 0).then(|| count::of(summary.masked, "secret")))?;
    fact("undecoded", (summary.undecoded > 0).then(|| count::of(summary.undecoded, "payload")))
}

fn types_table(types: &BTreeMap<String, u64>) -> Table {
    let mut table = Table::new(&[Column::shrinking("TYPE"), Column::numbers("EVENTS")]);
    for (kind, count) in by_number(types, |count| *count) {
        let style = style::of_kind(kind);
        table.add(vec![Cell::styled(kind, style), number(*count)]);
    }
    table
}

fn tools_table(summary: &Summary) -> Table {
    let mut table = Table::new(&[
        Column::shrinking("TOOL"),
        Column::numbers("CALLS"),
        Column::numbers("FAILED"),
        Column::numbers("BLOCKED").if_there_is_room(),
        Column::numbers("DANGLING").if_there_is_room(),
        Column::numbers("TIME").if_there_is_room(),
    ]);
    for (name, tool) in by_number(&summary.tools, |tool| tool.calls) {
        table.add(vec![
            Cell::new(name),
            number(tool.calls),
            bad_number(tool.failed),
            bad_number(tool.blocked),
            bad_number(tool.dangling),
            Cell::new(span::duration(tool.duration_ms)),
        ]);
    }
    table
}

fn steps_table(summary: &Summary) -> Table {
    let mut table = Table::new(&[
        Column::shrinking("STEP"),
        Column::words("KIND").if_there_is_room(),
        Column::numbers("TIMES"),
        Column::numbers("RETRIES").if_there_is_room(),
        Column::numbers("FAILED"),
        Column::numbers("TIME").if_there_is_room(),
        Column::numbers("LONGEST").if_there_is_room(),
    ]);
    // Steps stay in the order of their paths, so that what is inside follows what is around it.
    for (path, step) in &summary.steps {
        table.add(vec![
            Cell::new(path),
            Cell::maybe(step.kind.clone()),
            number(step.occurrences),
            bad_number(step.retries),
            bad_number(step.failed),
            Cell::new(span::duration(step.duration_ms)),
            Cell::new(span::duration(step.max_duration_ms)),
        ]);
    }
    table
}

fn models_table(summary: &Summary) -> Table {
    let mut table = Table::new(&[
        Column::shrinking("MODEL"),
        Column::numbers("EVENTS").if_there_is_room(),
        Column::numbers("IN"),
        Column::numbers("OUT"),
        Column::numbers("CACHE READ").if_there_is_room(),
        Column::numbers("CACHE WRITTEN").if_there_is_room(),
        Column::numbers("REASONING").if_there_is_room(),
        Column::numbers("COST"),
    ]);
    for (name, model) in by_number(&summary.models, |model| model.tokens.total().unwrap_or(0)) {
        let tokens = &model.tokens;
        let short = |count: Option<u64>| Cell::maybe(count.map(count::short));
        table.add(vec![
            Cell::new(name),
            number(model.events),
            short(tokens.input_tokens),
            short(tokens.output_tokens),
            short(tokens.cache_read_tokens),
            short(tokens.cache_write_tokens),
            short(tokens.reasoning_tokens),
            Cell::maybe(tokens.cost_usd.map(count::dollars)),
        ]);
    }
    table
}

fn number(count: u64) -> Cell {
    Cell::new(count::full(count))
}

/// Makes a cell of a number that had better be 0.
fn bad_number(count: u64) -> Cell {
    Cell::styled(count::full(count), if count == 0 { style::DIM } else { style::BAD })
}

/// Returns the entries with the highest number first.
fn by_number<T>(entries: &BTreeMap<String, T>, number: impl Fn(&T) -> u64) -> Vec<(&String, &T)> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by_key(|(_, entry)| std::cmp::Reverse(number(entry)));
    sorted
}
