//! `quipu status`: where a run is, from its transcript alone.

mod course;
mod draw;
mod wire;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use quipu_event::payload::Status;
use quipu_event::{RunId, Timestamp};
use quipu_journal::{
    Clock, LAST, Layout, Reader, RunListing, RunState, SystemClock, find_run, look_at,
};

use crate::Context;
use crate::exit::Exit;
use crate::format::entry::short_id;
use crate::format::status::Standing;
use crate::format::visible::cut_styled;
use crate::output::Screen;
use course::Course;

/// How often a run is looked at again.
const PACE: Duration = Duration::from_millis(400);

/// Say where a run is: which steps run now, what is done, how it ended
///
/// Reads the transcript and asks nobody, so it works from any terminal, for a run that another
/// process has under way as well as for one that is over. A run that nobody writes any more and
/// that has no end is `interrupted`: its process died, and `quipu resume` goes on with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu status\n  \
    quipu status -w 3f2a\n  \
    quipu status last --json | jq -r .status")]
pub(crate) struct Args {
    /// The run: any unique beginning of its id, or `last`
    #[arg(default_value = LAST)]
    run: String,
    /// Look again and again until the run ends
    #[arg(short, long)]
    watch: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let run = find_run(&layout, &args.run)?;
    let mut look = Look::at(context, &layout, &run)?;
    let mut page = Page { screen: context.screen, height: 0, last: String::new() };
    page.show(&look)?;
    while args.watch && look.is_live() {
        std::thread::sleep(PACE);
        look.again(&layout)?;
        page.show(&look)?;
    }
    Ok(Exit::Ok)
}

/// What a look at a run's transcript found.
pub(super) struct Look {
    path: PathBuf,
    listing: RunListing,
    course: Course,
    /// What commands that are suggested need to look in the same storage.
    storage_flag: String,
}

impl Look {
    fn at(context: &Context, layout: &Layout, run: &RunId) -> anyhow::Result<Self> {
        let mut look = Look {
            path: layout.transcript(run),
            listing: look_at(layout, run)?,
            course: Course::default(),
            storage_flag: context.settings.storage_flag(),
        };
        look.read_on()?;
        Ok(look)
    }

    /// Looks again, reading only what is new.
    fn again(&mut self, layout: &Layout) -> anyhow::Result<()> {
        // The state is asked before reading: what ends in between is seen the next time.
        self.listing = look_at(layout, &self.listing.run_id)?;
        self.read_on()
    }

    fn read_on(&mut self) -> anyhow::Result<()> {
        let from = self.course.seq + 1;
        let events = Reader::from_seq(&self.path, from)?.filter_map(Result::ok);
        for event in events.filter(|event| event.seq >= from) {
            self.course.take(&event);
        }
        Ok(())
    }

    fn is_live(&self) -> bool {
        matches!(self.listing.state, RunState::Live(_))
    }

    /// Tells whether it has not ended, in order or otherwise.
    fn is_open(&self) -> bool {
        !matches!(self.listing.state, RunState::Ended)
    }

    fn has_failed(&self) -> bool {
        self.course.end.as_ref().is_some_and(|end| end.status.is_failure())
    }

    fn standing(&self) -> Standing {
        match self.status() {
            Some(status) => Standing::of_run(&self.listing.state, Some(status)),
            None => Standing::of_listing(&self.listing),
        }
    }

    fn word(&self) -> String {
        self.standing().word().to_owned()
    }

    fn status(&self) -> Option<Status> {
        self.course.end.as_ref().map(|end| end.status.clone())
    }

    fn duration_ms(&self, now: Timestamp) -> Option<u64> {
        let until = if self.is_live() { Some(now) } else { self.course.latest };
        match &self.course.end {
            Some(end) if !self.is_live() => Some(end.duration_ms),
            _ => Some(until?.millis_since(self.course.started?)),
        }
    }

    fn short_id(&self) -> &str {
        short_id(&self.listing.run_id)
    }
}

/// A page that is painted over when it changes.
struct Page {
    screen: Screen,
    /// How many lines the last one had.
    height: usize,
    last: String,
}

impl Page {
    fn show(&mut self, look: &Look) -> anyhow::Result<()> {
        let now = SystemClock.now();
        if self.screen.json {
            return self.screen.print_json(&wire::value(look, now));
        }
        let lines = draw::lines(look, now);
        let mut out = self.screen.stdout();
        if self.screen.is_terminal() {
            if self.height > 0 {
                write!(out, "\x1b[{}A\x1b[J", self.height)?;
            }
            let width = self.screen.width();
            for line in &lines {
                writeln!(out, "{}", cut_styled(line, width))?;
            }
            self.height = lines.len();
        } else {
            // Times alone are no news to a file.
            let news: String = look.course.seq.to_string() + &look.word();
            if news != self.last {
                lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            }
            self.last = news;
        }
        out.flush()?;
        Ok(())
    }
}
