//! `quipu ls`: the runs there are.

mod facts;
mod short_ids;
mod usage_scan;
mod wire;

use std::io::{self, Write};

use clap::builder::PossibleValuesParser;
use quipu_event::{RunId, Timestamp};
use quipu_journal::{Clock, Layout, Listed, ReadError, SystemClock, map_runs_unordered};

use crate::Context;
use crate::cores;
use crate::exit::{Exit, UserError};
use crate::format::note::{hint, note};
use crate::format::status::STANDINGS;
use crate::format::table::{Cell, Column, Table};
use crate::format::{count, span, style, unreadable};
use crate::output::Screen;
pub(crate) use facts::Facts;
use short_ids::ShortIds;
pub(crate) use usage_scan::fill_in as fill_in_tokens;

/// Says what time it is, instead of the clock. For tests.
const NOW: &str = "QUIPU__NOW";

/// List runs, newest first
///
/// One line for each run: the shortest unique beginning of its id, its name, how it stands, how
/// long ago it began, how long it took, its events, tokens and agents. A run that another one
/// called is marked with ↳ and names its caller. Only the first and last lines of a transcript are
/// read; the tokens of runs that have not ended are summed up from files of up to 64 MiB.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu ls -n 20\n  \
    quipu ls --status failed --name review\n  \
    quipu ls --json | jq -r 'select(.tokens.total > 100000) | .run_id'")]
pub(crate) struct Args {
    /// Show no more than N runs
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Only runs that stand like this
    #[arg(long, value_name = "STATUS", ignore_case = true, value_parser = PossibleValuesParser::new(STANDINGS))]
    status: Option<String>,
    /// Only runs whose name has TEXT in it, in any case
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Leave out runs that were called by another
    #[arg(long)]
    no_children: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let now = now()?;
    let layout = context.settings.layout();
    let Listed { runs: mut facts, unreadable } = newest_first(&layout, now)?;
    let storage = layout.storage().display();
    if facts.is_empty() && unreadable.is_empty() {
        note(&format!("there are no runs in {storage} yet"));
        hint(&context.settings.hint_at_first_run());
        return Ok(Exit::Ok);
    }
    let total = facts.len();
    let every_id: Vec<RunId> = facts.iter().map(|run| run.run_id.clone()).collect();
    let ids = (!context.screen.json).then(|| ShortIds::of(every_id.iter()));
    facts.retain(|run| args.take(run));
    facts.truncate(args.limit.unwrap_or(usize::MAX));
    if facts.is_empty() {
        if total > 0 {
            note(&format!("none of {} in {storage} matches", count::of(total as u64, "run")));
        }
        return Ok(unreadable::tell(&unreadable));
    }
    fill_in_tokens(&mut facts);
    match ids {
        Some(ids) => print_table(context.screen, &facts, &ids, now)?,
        None => print_json(context.screen, &facts)?,
    }
    Ok(unreadable::tell(&unreadable))
}

/// Returns what there is to say of all runs, the one that began last first.
pub(crate) fn newest_first(layout: &Layout, now: Timestamp) -> Result<Listed<Facts>, ReadError> {
    let mut all = map_runs_unordered(layout, |run| Facts::of(run, now))?;
    all.runs.sort_by(|a, b| b.started.cmp(&a.started).then_with(|| a.run_id.cmp(&b.run_id)));
    Ok(all)
}

impl Args {
    fn take(&self, run: &Facts) -> bool {
        let has_status = |status: &String| run.standing.word().eq_ignore_ascii_case(status);
        let has_name = |text: &String| {
            let name = run.name.as_deref().unwrap_or_default();
            name.to_lowercase().contains(&text.to_lowercase())
        };
        let is_wanted = !self.no_children || run.parent.is_none();
        is_wanted
            && self.status.as_ref().is_none_or(has_status)
            && self.name.as_ref().is_none_or(has_name)
    }
}

pub(crate) fn now() -> anyhow::Result<Timestamp> {
    match std::env::var(NOW) {
        Ok(text) => Timestamp::parse(&text)
            .map_err(|error| UserError::new(format!("${NOW}: {error}")).into()),
        Err(_) => Ok(SystemClock.now()),
    }
}

fn print_table(
    screen: Screen,
    runs: &[Facts],
    ids: &ShortIds<'_>,
    now: Timestamp,
) -> io::Result<()> {
    let mut table = Table::new(&[
        Column::words("ID"),
        Column::shrinking("NAME"),
        Column::words("STATUS"),
        Column::numbers("AGE"),
        Column::numbers("DURATION").if_there_is_room(),
        Column::numbers("EVENTS").if_there_is_room(),
        Column::numbers("TOKENS").if_there_is_room(),
        Column::words("AGENTS").if_there_is_room(),
    ]);
    cores::map(runs, |run| row(run, ids, now)).into_iter().for_each(|row| table.add(row));
    let mut out = screen.stdout();
    table.write(&mut out, if screen.is_terminal() { screen.width() } else { usize::MAX })?;
    out.flush()
}

fn row(run: &Facts, ids: &ShortIds<'_>, now: Timestamp) -> Vec<Cell> {
    let tokens = run.tokens.and_then(|tokens| tokens.total());
    vec![
        Cell::styled(ids.shorten(&run.run_id), style::PLACE),
        Cell::maybe(name(run, ids)),
        Cell::styled(run.standing.word(), run.standing.style()),
        Cell::maybe(run.started.map(|started| span::age(now, started))),
        Cell::maybe(run.duration_ms.map(span::duration)),
        Cell::maybe(run.events.map(count::full)),
        Cell::maybe(tokens.map(count::short)),
        Cell::maybe((!run.agents.is_empty()).then(|| run.agents.join(", "))),
    ]
}

fn name(run: &Facts, ids: &ShortIds<'_>) -> Option<String> {
    let Some(parent) = &run.parent else { return run.name.clone() };
    let parent = ids.shorten(parent);
    Some(format!("↳ {} (of {parent})", run.name.as_deref().unwrap_or("-")))
}

fn print_json(screen: Screen, runs: &[Facts]) -> anyhow::Result<()> {
    let mut out = screen.data();
    for run in runs {
        serde_json::to_writer(&mut out, run)?;
        writeln!(out)?;
    }
    Ok(out.flush()?)
}
