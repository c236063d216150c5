//! `quipu receipt`: what a run cost, step by step.

mod drawing;
pub(crate) mod grid;
mod load;
pub(crate) mod prices;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use quipu_event::RunId;
use quipu_journal::{Layout, find_run, look_at};
use quipu_view::PriceTable;
use quipu_view::receipt::{Receipt, ReceiptOptions, join};

use crate::Context;
use crate::exit::{Exit, UserError};
use crate::format::damage::DamageCount;
use crate::format::status::Standing;

pub(crate) use load::read;

/// Show what a run cost, step by step
///
/// Engine, models, status, duration, tokens by kind and cost of each step, and the total. Runs that
/// it called stand below, with a total of their own. Each figure says how it was obtained: reported
/// by the provider, priced (tokens times a dated price list), or unknown. Iterations of a loop are
/// added up; --full shows each, and each attempt and subagent.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu receipt last\n  \
    quipu receipt 3f2a --full\n  \
    quipu receipt last --md >> notes.md\n  \
    quipu receipt last --prices our-prices.json\n  \
    quipu receipt last --json | jq .total.cost")]
pub(crate) struct Args {
    /// The run: any unique beginning of its id, or `last`
    run: String,
    /// Show each iteration, attempt and subagent for itself
    #[arg(long)]
    full: bool,
    /// Leave out the runs that it called
    #[arg(long)]
    no_children: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    md: bool,
    /// Ask the price list in FILE first [or QUIPU_PRICES, or `prices` in quipu.toml]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let run = find_run(&layout, &args.run)?;
    let mut loader = Loader {
        layout: &layout,
        prices: prices::table(&context.settings, args.prices.clone())?,
        options: ReceiptOptions { each: args.full, ..ReceiptOptions::default() },
        damage: DamageCount::default(),
        failure: None,
    };
    let Some(mut receipt) = loader.load(&run)? else {
        let message = format!("{} has no event yet", layout.transcript(&run).display());
        return match loader.damage.conclude(&context.settings, Some(&run)) {
            Exit::Ok => Err(UserError::new(message).into()),
            exit => Ok(exit),
        };
    };
    if args.no_children {
        (receipt.calls, receipt.called) = (Vec::new(), Vec::new());
    }
    receipt = join(receipt, &mut |child| loader.find(child));
    if let Some(failure) = loader.failure {
        return Err(failure);
    }
    if context.screen.json {
        context.screen.print_json(&receipt)?;
    } else {
        let mut out = context.screen.stdout();
        let standing = standing_of(&layout, &receipt);
        drawing::Drawing { receipt: &receipt, standing, screen: context.screen, md: args.md }
            .write(&mut out)?;
        out.flush()?;
    }
    Ok(loader.damage.conclude(&context.settings, Some(&run)))
}

/// Says how the run stands: what has not ended goes on if somebody writes it.
fn standing_of(layout: &Layout, receipt: &Receipt) -> Standing {
    match (&receipt.status, look_at(layout, &receipt.run_id)) {
        (Some(status), _) => Standing::Ended(status.clone()),
        (None, Ok(listing)) => Standing::of_open(&listing.state),
        (None, Err(_)) => Standing::Interrupted,
    }
}

/// Reads runs and keeps in mind what was wrong with them.
struct Loader<'a> {
    layout: &'a Layout,
    prices: Arc<PriceTable>,
    options: ReceiptOptions,
    damage: DamageCount,
    failure: Option<anyhow::Error>,
}

impl Loader<'_> {
    fn load(&mut self, run: &RunId) -> anyhow::Result<Option<Receipt>> {
        let path = self.layout.transcript(run);
        Ok(read(&path, &self.prices, self.options, &mut self.damage)?)
    }

    /// Reads a run if it is in the same storage.
    fn find(&mut self, run: &RunId) -> Option<Receipt> {
        if !self.layout.transcript(run).is_file() {
            return None;
        }
        self.load(run).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            None
        })
    }
}
