//! `quipu diff`: where two runs part, and what differs between them.

mod drawing;
mod load;

use std::io::Write;

use quipu_journal::find_run;
use quipu_view::diff::{
    Change, Comparison, Difference, Item, Report, compare_all, first_difference,
};

use crate::Context;
use crate::exit::{Exit, UserError};
use crate::format::damage::DamageCount;
use load::Loader;

/// Show where two runs part
///
/// Aligns two runs by step, and within a step by what was said and done: first the place where they
/// part, then all differences in messages, tools and results, then tokens, numbers of tool calls and
/// time. Runs that the same steps called are compared too. What differs between any two runs is no
/// difference: ids, times, durations, numbers of events.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 no difference, 1 they differ (or your input, which is then \
                        told on stderr), 3 data found damaged, 4 system.\n\n\
    Examples:\n  \
    quipu diff 3f2a last\n  \
    quipu diff 3f2a 77b0 --all\n  \
    quipu diff 3f2a 77b0 --json | jq .first_divergence")]
pub(crate) struct Args {
    /// The first run: any unique beginning of its id, or `last`
    a: String,
    /// The second run
    b: String,
    /// Show every difference, however many there are
    #[arg(long)]
    all: bool,
    /// Leave out the runs that they called
    #[arg(long)]
    no_children: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let (a, b) = (find_run(&layout, &args.a)?, find_run(&layout, &args.b)?);
    let mut loader = Loader { layout: &layout, damage: DamageCount::default(), failure: None };
    let mut load = |run| match loader.load(run)? {
        Some(outline) => Ok(outline),
        None => {
            let message = format!("{} has no event yet", layout.transcript(run).display());
            Err(anyhow::Error::from(UserError::new(message)))
        }
    };
    let (a, b) = (load(&a)?, load(&b)?);
    let comparisons = compare_all(&a, &b, &mut |run| match args.no_children {
        true => None,
        false => loader.find(run),
    });
    if let Some(failure) = loader.failure.take() {
        return Err(failure);
    }
    let report = Report(&comparisons);
    let texts = match report.first() {
        Some((comparison, first)) => Some(texts_of(&loader, comparison, first)?),
        None => None,
    };
    if context.screen.json {
        context.screen.print_json(&report.to_json(texts.as_ref()))?;
    } else {
        let mut out = context.screen.stdout();
        let shown = if args.all { usize::MAX } else { drawing::SHOWN };
        drawing::Drawing { report: &report, texts, shown, screen: context.screen }
            .write(&mut out)?;
        out.flush()?;
    }
    let is_equal = report.is_equal();
    Ok(match loader.damage.conclude(None) {
        Exit::Ok if !is_equal => Exit::Different,
        exit => exit,
    })
}

/// Returns what both runs said where they part, read anew: an outline only has the first words.
fn texts_of(
    loader: &Loader<'_>,
    comparison: &Comparison,
    first: &Difference,
) -> anyhow::Result<(String, String)> {
    let outcome = first.change == Change::Outcome;
    let text = |run, item: Option<&Item>| match item {
        Some(item) if outcome && item.outcome_seq.is_none() => Ok(drawing::NO_RESULT.to_owned()),
        Some(item) => loader.text_of(run, item, outcome),
        None => Ok(String::new()),
    };
    let a = text(&comparison.runs.0, first.a.as_ref())?;
    let b = text(&comparison.runs.1, first.b.as_ref())?;
    Ok(first_difference(&a, &b))
}
