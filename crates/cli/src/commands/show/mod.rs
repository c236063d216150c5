//! `quipu show`: a transcript, as a person reads it.

mod excerpt;
pub(crate) mod filter;
mod markdown;
mod needle;
mod page;
mod paper;

use std::io::{self, Write};
use std::path::Path;

use quipu_event::{Event, Kind};
use quipu_journal::{Reader, find_run};
use quipu_view::markdown::Length;

use crate::Context;
use crate::exit::{Exit, UserError};
use crate::format::damage::DamageCount;
use crate::format::exact::{ExactLines, TerminalJson};
use crate::format::note::{NO_EVENT, note};
use crate::output::Paging;
use excerpt::Shortening;
use filter::Filter;
use needle::Needle;
use page::Page;
use paper::Paper;

/// Read a run's transcript
///
/// Shows every event in order: messages, tool calls and their results, commands, usage. Long
/// texts are shortened, with a note of how much is hidden. Filters combine. Damaged lines are
/// shown where they stand, and lead to exit code 3. Times are UTC.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu show last\n  \
    quipu show 3f2a --type tool --path build --full\n  \
    quipu show last --grep 'permission denied'\n  \
    quipu show last --type usage --json | jq .payload\n  \
    quipu show last --md > review.md")]
pub(crate) struct Args {
    /// The run: any unique beginning of its id, or `last`
    run: String,
    /// Only events of this type; `tool` means `tool.call` and `tool.result` (repeatable)
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Only events at this path of the workflow, or inside it
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Only events that say TEXT, in any case; matches are highlighted
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// Begin at this number
    #[arg(long, value_name = "SEQ")]
    from: Option<u64>,
    /// End with this number
    #[arg(long, value_name = "SEQ")]
    to: Option<u64>,
    /// Print the lines themselves
    #[arg(long)]
    raw: bool,
    /// Print the whole run as a page of Markdown, as `quipu export --to markdown` writes it
    #[arg(long, conflicts_with_all = ["raw", "types", "path", "grep", "from", "to"])]
    md: bool,
    /// Shorten nothing
    #[arg(long)]
    full: bool,
    /// Print straight to the terminal
    #[arg(long)]
    no_pager: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let (from, to) = (args.from.unwrap_or(1), args.to.unwrap_or(u64::MAX));
    if to == 0 {
        return Err(UserError::new("there is no event 0: the first is 1").into());
    }
    if to < from {
        let message = format!("--to {to} comes before --from {from}");
        return Err(UserError::new(message).with_hint("swap the two numbers").into());
    }
    let run = find_run(&layout, &args.run)?;
    let path = layout.transcript(&run);
    let needle = args.grep.as_deref().filter(|text| !text.is_empty()).map(Needle::new);
    let filter = Filter {
        types: &args.types,
        path: args.path.as_deref(),
        numbers: from..=to,
        needle: needle.as_ref(),
    };
    let reader = Reader::from_seq(&path, from)?;
    let paging = if args.no_pager { Paging::Never } else { Paging::Auto };
    let screen = context.screen;
    if args.md && screen.json {
        let error = UserError::new("--md and --json are two different answers");
        return Err(error.with_hint("leave out one of them").into());
    }
    let outcome = if args.md {
        let length = if args.full { Length::Full } else { Length::Short };
        markdown::print(reader, length, io::BufWriter::new(screen.paged(paging)))?
    } else if screen.json || args.raw {
        let out: Box<dyn Write> = if screen.json || !screen.is_terminal() {
            screen.data()
        } else {
            Box::new(TerminalJson::new(io::BufWriter::new(screen.paged(paging))))
        };
        print_lines(&path, reader, &filter, out)?
    } else {
        let shortening = if args.full { Shortening::None } else { Shortening::Long };
        let mut out = io::BufWriter::new(screen.paged(paging));
        let width = screen.is_terminal().then(|| screen.width());
        let paper = Paper::new(&mut out, width, needle.as_ref());
        let mut page = Page::new(paper, shortening, needle.as_ref());
        print_page(&path, reader, &filter, &mut page)?
    };
    match outcome.shown {
        0 if outcome.is_filtered => note("no event matches"),
        0 if outcome.damage.lines() == 0 => note(NO_EVENT),
        _ => {}
    }
    Ok(outcome.damage.conclude(&context.settings, Some(&run)))
}

/// What came of printing.
struct Outcome {
    shown: u64,
    is_filtered: bool,
    damage: DamageCount,
}

impl Outcome {
    fn before(filter: &Filter<'_>) -> Self {
        // What stands before the first number is not even read.
        let is_filtered = *filter.numbers.start() > 1;
        Outcome { shown: 0, is_filtered, damage: DamageCount::default() }
    }
}

fn print_page(
    path: &Path,
    reader: Reader,
    filter: &Filter<'_>,
    page: &mut Page<'_>,
) -> anyhow::Result<Outcome> {
    let ends_early = is_in_order(path)?;
    let mut outcome = Outcome::before(filter);
    for item in reader {
        match item {
            Ok(event) if event.seq > *filter.numbers.end() && ends_early => {
                outcome.is_filtered = true;
                break;
            }
            Ok(event) if filter.takes(&event) => {
                page.show(&event)?;
                outcome.shown += 1;
            }
            Ok(event) => {
                page.pass(&event);
                outcome.is_filtered = true;
            }
            Err(problem) => {
                if let Some(damage) = outcome.damage.note(problem)? {
                    page.show_damage(&damage)?;
                }
            }
        }
    }
    page.finish()?;
    Ok(outcome)
}

fn print_lines(
    path: &Path,
    reader: Reader,
    filter: &Filter<'_>,
    mut out: Box<dyn Write>,
) -> anyhow::Result<Outcome> {
    let ends_early = is_in_order(path)?;
    let mut lines = ExactLines::open(path, reader.offset())?;
    let mut outcome = Outcome::before(filter);
    for item in reader {
        match item {
            Ok(event) if event.seq > *filter.numbers.end() && ends_early => {
                outcome.is_filtered = true;
                break;
            }
            Ok(event) if filter.takes(&event) => {
                lines.copy(&mut out)?;
                outcome.shown += 1;
            }
            Ok(_) => {
                lines.skip()?;
                outcome.is_filtered = true;
            }
            Err(problem) => {
                lines.skip()?;
                if let Some(damage) = outcome.damage.note(problem)? {
                    note(&damage.to_string());
                }
            }
        }
    }
    out.flush()?;
    Ok(outcome)
}

/// Tells whether the numbers only rise, so that reading may stop at the first that is too high.
///
/// Our own writer promises it and says so in its first line; others do not.
fn is_in_order(path: &Path) -> anyhow::Result<bool> {
    let is_ours = |first: &Event| match first.kind {
        Kind::RunCreated => true,
        Kind::RunStarted => first.payload.as_str().contains("\"format\":"),
        _ => false,
    };
    Ok(matches!(Reader::open(path)?.next(), Some(Ok(first)) if is_ours(&first)))
}
