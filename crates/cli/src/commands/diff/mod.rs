//! `quipu diff`: where two runs part, and what differs between them.

mod drawing;
mod load;

use std::io::Write;

use quipu_journal::find_run;
use quipu_view::diff::{
    Comparison, Difference, Item, Part, Report, What, Words, compare_all, excerpt, parted,
};

use crate::Context;
use crate::exit::{Exit, UserError};
use crate::format::note::note;
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
    let mut loader = Loader::new(&layout);
    let mut load = |run| match loader.load(run)? {
        Some(outline) => Ok(outline),
        None => {
            let message = format!("{} has no event yet", layout.transcript(run).display());
            Err(anyhow::Error::from(UserError::new(message)))
        }
    };
    let (a, b) = (load(&a)?, load(&b)?);
    let mut comparisons = compare_all(&a, &b, &mut |run| match args.no_children {
        true => None,
        false => loader.find(run),
    });
    if let Some(failure) = loader.failure.take() {
        return Err(failure);
    }
    let shown = if args.all || context.screen.json { usize::MAX } else { drawing::SHOWN };
    for comparison in &mut comparisons {
        reveal(&mut loader, comparison, shown)?;
    }
    let report = Report(&comparisons);
    let texts = match report.first() {
        Some((comparison, first)) => Some(texts_of(&mut loader, comparison, first)?),
        None => None,
    };
    if context.screen.json {
        context.screen.print_json(&report.to_json(texts.as_ref()))?;
    } else {
        let mut out = context.screen.stdout();
        drawing::Drawing { report: &report, texts, shown, screen: context.screen }
            .write(&mut out)?;
        out.flush()?;
    }
    for run in &loader.missing {
        note(&format!("{run} was called and is not in the storage: what it did is not compared"));
    }
    let is_equal = report.is_equal();
    Ok(match loader.damage.conclude(&context.settings, None) {
        Exit::Ok if !is_equal => Exit::Different,
        exit => exit,
    })
}

/// Shows the differences that the first words of both sides do not show.
fn reveal(
    loader: &mut Loader<'_>,
    comparison: &mut Comparison,
    shown: usize,
) -> anyhow::Result<()> {
    let (run_a, run_b) = &comparison.runs;
    let differences = comparison.differences.iter_mut().take(shown);
    for difference in differences.filter(|difference| difference.is_hidden()) {
        let part = difference.part();
        if let (Some(a), Some(b)) = (&difference.a, &difference.b)
            && let Some(a) = loader.words_of(run_a, a, part)?
            && let Some(b) = loader.words_of(run_b, b, part)?
        {
            difference.reveal(&a, &b);
        }
    }
    Ok(())
}

/// Returns what both runs said where they part.
fn texts_of(
    loader: &mut Loader<'_>,
    comparison: &Comparison,
    first: &Difference,
) -> anyhow::Result<(String, String)> {
    let part = first.part();
    let mut words = |run, item: &Option<Item>| match item {
        Some(item) => anyhow::Ok(loader.words_of(run, item, part)?.map(|mut words| {
            if item.what == What::Tool && part == Part::Said {
                words.text = format!("{} {}", item.name, words.text);
            }
            words
        })),
        None => Ok(None),
    };
    let a = words(&comparison.runs.0, &first.a)?;
    let b = words(&comparison.runs.1, &first.b)?;
    if let (Some(a), Some(b)) = (&a, &b) {
        return Ok(parted(a, b));
    }
    // Only a call that was never answered has both sides and words for one.
    let alone = if part == Part::Outcome { drawing::NO_RESULT } else { "" };
    let text = |words: Option<Words>| words.map_or(alone.to_owned(), |words| excerpt(&words.text));
    Ok((text(a), text(b)))
}
