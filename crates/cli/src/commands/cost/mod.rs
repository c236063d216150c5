//! `quipu cost`: what all runs cost, by day, model, project, agent or run.

mod gather;
mod group;
mod wire;

use std::io::Write;
use std::path::PathBuf;
use std::time::SystemTime;

use anstyle::Style;
use quipu_event::Timestamp;
use quipu_journal::run_ids_unordered;
use quipu_view::receipt::ReceiptOptions;

use super::collect::since::Since;
use super::receipt::grid::{Grid, legend};
use super::receipt::prices;
use crate::Context;
use crate::exit::Exit;
use crate::format::note::{hint, note};
use crate::format::{count, style};
use gather::Gathered;
use group::Groups;

/// Show what all runs cost
///
/// Tokens by kind and cost of every run in the storage, added up by day (in UTC), model, project
/// (the directory a run worked in), agent or run. A run that was called by another is counted once,
/// as itself. Each figure says how it was obtained: reported by the provider, priced (tokens times a
/// dated price list), or unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu cost\n  \
    quipu cost --by model --since 7d\n  \
    quipu cost --by project --since 2026-11-01 --until 2026-12-01\n  \
    quipu cost --by run --json | jq '.groups[0]'")]
pub(crate) struct Args {
    /// What to add up by
    #[arg(long, value_name = "WHAT", default_value = "day")]
    by: By,
    /// Only what was used since then: 7d, 12h, 2026-11-01 (UTC) or an RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
    /// Only what was used before then
    #[arg(long, value_name = "WHEN")]
    until: Option<Since>,
    /// Ask the price list in FILE first [or QUIPU_PRICES, or `prices` in quipu.toml]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// What costs are added up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum By {
    /// The day, in UTC
    Day,
    /// The model
    Model,
    /// The directory that a run worked in
    Project,
    /// The agent
    Agent,
    /// The run
    Run,
}

impl By {
    /// Returns the word for it, and the title of its column.
    fn word(self) -> (&'static str, &'static str) {
        match self {
            By::Day => ("day", "DAY (UTC)"),
            By::Model => ("model", "MODEL"),
            By::Project => ("project", "PROJECT"),
            By::Agent => ("agent", "AGENT"),
            By::Run => ("run", "RUN"),
        }
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let prices = prices::table(&context.settings, args.prices.clone())?;
    let (since, until) = (args.since.map(moment), args.until.map(moment));
    let options = ReceiptOptions { each: false, since, until };
    let runs = run_ids_unordered(&layout)?;
    if runs.is_empty() {
        note(&format!("there are no runs in {} yet", layout.storage().display()));
        hint(&context.settings.hint_at_first_run());
    }
    let gathered = gather::gather(&layout, &runs, &prices, options, args.by);
    if context.screen.json {
        context.screen.print_json(&wire::CostWire::of(&gathered, args.by, since, until))?;
    } else if !runs.is_empty() {
        let mut out = context.screen.stdout();
        draw(context, &gathered, args.by, &mut out)?;
        out.flush()?;
    }
    Ok(conclude(context, &gathered))
}

fn draw(
    context: &Context,
    gathered: &Gathered,
    by: By,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut grid = Grid::new(&[(by.word().1, false), ("RUNS", true)]);
    let mut add = |style: Style, label: String, group: &group::Group| {
        grid.add(style, vec![Some(label), Some(count::full(group.runs))], group.used);
    };
    for (key, group) in gathered.groups.sorted(by) {
        add(style::PLAIN, key.shown(), group);
    }
    let total = gathered.total();
    add(style::BOLD, "total".to_owned(), &total);
    let width = if context.screen.is_terminal() { context.screen.width() } else { usize::MAX };
    grid.write(out, width)?;
    let legend = legend(&grid.ways(), gathered.price_lists.iter().map(String::as_str));
    if !legend.is_empty() {
        writeln!(out)?;
    }
    let dim = style::DIM;
    legend.iter().try_for_each(|line| writeln!(out, "{dim}{line}{dim:#}"))
}

/// Tells what could not be read and returns the exit code it leads to.
fn conclude(context: &Context, gathered: &Gathered) -> Exit {
    for failure in gathered.failures.iter().take(5) {
        note(failure);
    }
    match (gathered.damage.conclude(&context.settings, None), gathered.failures.is_empty()) {
        (Exit::Ok, false) => Exit::System,
        (exit, _) => exit,
    }
}

fn moment(since: Since) -> Timestamp {
    let micros = since.0.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros();
    Timestamp::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}
