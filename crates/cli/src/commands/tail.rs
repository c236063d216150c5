//! `quipu tail`: the end of a run, and what comes after it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quipu_event::{Event, Kind, RunId};
use quipu_journal::{
    Follow, Followed, ReadError, ReadProblem, Reader, ReaderBackward, RunState, find_run, look_at,
};
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;

use crate::Context;
use crate::exit::Exit;
use crate::format::damage::{DamageCount, is_being_written};
use crate::format::exact::ExactLines;
use crate::format::line::write_line;
use crate::format::note::{NO_EVENT, note};
use crate::format::style;
use crate::format::visible::visible;
use crate::output::Screen;

/// How long to wait for an event before looking whether anybody is still there.
const PATIENCE: Duration = Duration::from_secs(1);
/// How wide a line may be where no terminal says.
const WIDTH_IN_A_PIPE: usize = 200;

/// Print the end of a run, and follow it
///
/// Prints one line for each of the last events. With -f it goes on to print what is recorded, as
/// it is recorded, until the run ends or you press Ctrl-C. Times are UTC.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu tail last\n  \
    quipu tail -f last\n  \
    quipu tail -f -n 0 --json 3f2a | jq -r .type")]
pub(crate) struct Args {
    /// The run: any unique beginning of its id, or `last`
    run: String,
    /// Go on until the run ends
    #[arg(short, long)]
    follow: bool,
    /// How many events to begin with
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    lines: u64,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let run = find_run(&layout, &args.run)?;
    let path = layout.transcript(&run);
    // Asked before reading: an end that stands before the last events is not seen by reading them.
    let has_ended = look_at(&layout, &run)?.state == RunState::Ended;
    let start = Start::find(&path, args.lines)?;
    let mut strip = Strip::open(context.screen, &path, &start)?;
    strip.has_ended = has_ended;
    if args.follow {
        end_on_interrupt()?;
        follow(&mut strip, &start)?;
    } else {
        for item in Reader::from_seq(&path, start.seq)? {
            strip.take(item)?;
        }
        strip.out.flush()?;
        if strip.own.is_none() && strip.damage.lines() == 0 {
            note(NO_EVENT);
        }
    }
    Ok(strip.damage.conclude(&context.settings, Some(&run)))
}

/// Where the last events begin.
struct Start {
    /// The number to read from.
    seq: u64,
    /// How many events there are from there on that are not wanted: the last one when none is,
    /// and more where another writer numbered out of order.
    unwanted: u64,
}

impl Start {
    /// Looks for the place where the last `wanted` events begin.
    fn find(path: &Path, wanted: u64) -> Result<Self, ReadError> {
        let (mut seq, mut found) = (1, 0);
        for event in ReaderBackward::open(path)?.filter_map(Result::ok) {
            seq = event.seq;
            found += u64::from(wanted > 0);
            if found == wanted {
                break;
            }
        }
        let there = Reader::from_seq(path, seq)?.filter(Result::is_ok).count() as u64;
        Ok(Start { seq, unwanted: there.saturating_sub(found) })
    }
}

/// The strip of lines that is printed.
struct Strip {
    out: Box<dyn Write>,
    path: PathBuf,
    width: usize,
    /// The lines themselves, when they are what is wanted.
    exact: Option<ExactLines>,
    /// The file's own run, which need not be named on each line.
    own: Option<RunId>,
    unwanted: u64,
    damage: DamageCount,
    /// Whether the run has ended, as far as it was read.
    has_ended: bool,
}

impl Strip {
    fn open(screen: Screen, path: &Path, start: &Start) -> anyhow::Result<Self> {
        let offset = Reader::from_seq(path, start.seq)?.offset();
        let exact = screen.json.then(|| ExactLines::open(path, offset)).transpose()?;
        let own = Reader::open(path)?.next().and_then(Result::ok).map(|first| first.run_id);
        Ok(Strip {
            out: if screen.json { screen.data() } else { screen.stdout() },
            path: path.to_owned(),
            width: if screen.is_terminal() { screen.width() } else { WIDTH_IN_A_PIPE },
            exact,
            own,
            unwanted: start.unwanted,
            damage: DamageCount::default(),
            has_ended: false,
        })
    }

    /// Prints what stands on the next line.
    fn take(&mut self, item: Result<Event, ReadProblem>) -> anyhow::Result<()> {
        match item {
            Ok(event) => {
                let own = self.own.get_or_insert_with(|| event.run_id.clone());
                self.has_ended = match event.kind {
                    Kind::RunCompleted => *own == event.run_id,
                    Kind::RunCreated | Kind::RunStarted => false,
                    // Whatever else comes behind the end does not undo it.
                    _ => self.has_ended,
                };
                if self.unwanted > 0 {
                    self.unwanted -= 1;
                    return self.pass();
                }
                match &mut self.exact {
                    Some(exact) => exact.copy(&mut self.out)?,
                    None => write_line(&mut self.out, &event, self.own.as_ref(), self.width)?,
                }
                Ok(())
            }
            Err(problem) => {
                self.pass()?;
                let found = self.damage.note(problem)?;
                match found {
                    Some(damage) if self.exact.is_some() => note(&damage.to_string()),
                    Some(damage) => {
                        let bad = style::BAD;
                        let what = damage.to_string();
                        writeln!(self.out, "{bad}✗ damaged: {}{bad:#}", visible(&what))?;
                    }
                    None => {}
                }
                Ok(())
            }
        }
    }

    fn pass(&mut self) -> anyhow::Result<()> {
        Ok(self.exact.as_mut().map_or(Ok(()), ExactLines::skip)?)
    }
}

/// Prints what is there and what comes, until the run has ended.
fn follow(strip: &mut Strip, start: &Start) -> anyhow::Result<()> {
    let mut follow = Follow::from_seq(&strip.path, start.seq)?;
    let mut has_noted = false;
    loop {
        // Behind the end of a run there may be more: it can be taken up again.
        let patience = if strip.has_ended { Duration::ZERO } else { PATIENCE };
        match follow.next_within(patience) {
            Followed::Event(item) => {
                if let Some(exact) = &mut strip.exact {
                    exact.refresh()?;
                }
                strip.take(*item)?;
                strip.out.flush()?;
            }
            Followed::Nothing if strip.has_ended => return Ok(()),
            Followed::Nothing => {
                if !has_noted && !is_being_written(&strip.path) {
                    note("nobody writes this run now; waiting in case it is taken up again");
                    has_noted = true;
                }
            }
        }
    }
}

/// Lets Ctrl-C end the program as something that was asked for.
fn end_on_interrupt() -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGINT])?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            // Whole events have been flushed, so nothing is lost.
            std::process::exit(0);
        }
    });
    Ok(())
}
