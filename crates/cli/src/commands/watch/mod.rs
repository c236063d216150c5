//! `quipu watch`: one live line per session, and which of them wait for a person.

mod collecting;
mod ears;
mod face;
mod picture;
mod runs;
mod teller;
mod terminal;
mod wire;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::collect;
use crate::Context;
use crate::exit::Exit;
use collecting::Collecting;
use ears::{Ears, Heard};
use face::{Board, Face};
use runs::Runs;
use teller::Teller;
use terminal::Terminal;

/// How long transcripts are read before what is known is shown.
const READING: Duration = Duration::from_millis(100);
/// So often the ages on the screen are renewed.
const TICK: Duration = Duration::from_secs(1);

/// Watch the sessions that are running
///
/// Shows one line per session on this machine: its agent, its project, what it does, its tokens and
/// its cost as far as the agent names one. Sessions that wait for you stand on top: those whose
/// turn is over, and those that asked you something. Workflows and recorded programs are shown too.
///
/// What agents write is recorded meanwhile, as `quipu collect --follow` does; with --no-collect
/// only what others record is shown. q or Ctrl-C leaves.
///
/// Where standard output is no terminal, a line is printed for each change; with --json, an object.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu watch\n  \
    quipu watch --bell\n  \
    quipu watch --once\n  \
    quipu watch --json | jq -r 'select(.state == \"waiting\") | .project'\n  \
    quipu watch --no-collect --recent 1h")]
pub(crate) struct Args {
    /// Record nothing: show what others record
    #[arg(long)]
    no_collect: bool,
    /// Look for sessions below DIR, as if it were the home of the user
    #[arg(long, value_name = "DIR", conflicts_with = "no_collect")]
    home: Option<PathBuf>,
    /// How long a session that does nothing is shown: 10m, 2h, 1d
    #[arg(long, value_name = "SPAN", default_value = "10m", value_parser = parse_span)]
    recent: Duration,
    /// Show every run there is, however old
    #[arg(long, conflicts_with = "recent")]
    all: bool,
    /// Ring the terminal's bell when a session begins to wait for you
    #[arg(long)]
    bell: bool,
    /// Print what there is now and exit
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let homes = match args.no_collect {
        true => None,
        false => Some(collect::homes(args.home.as_deref())?),
    };
    let recent = (!args.all).then_some(args.recent);
    let mut runs = Runs::new(layout.clone(), recent);
    if args.once {
        if let Some(homes) = &homes {
            collecting::collect_once(context, homes, args.recent)?;
        }
        runs.look()?;
        while runs.read(READING) {}
        return face::print_once(context.screen, &runs.board(None));
    }
    let has_terminal = context.screen.is_terminal() && !context.screen.json;
    let mut ears = Ears::new(layout.transcripts(), has_terminal)?;
    let collecting =
        homes.map(|homes| Collecting::start(context, &homes, args.recent, ears.tongue()));
    let collecting = collecting.transpose()?;
    let outcome = if has_terminal {
        let mut face = Terminal::enter(context.screen, args.bell);
        watch(&mut runs, &mut ears, &mut face, collecting.as_ref())
    } else {
        let mut face = Teller::new(context.screen);
        watch(&mut runs, &mut ears, &mut face, collecting.as_ref())
    };
    if let Some(collecting) = collecting {
        collecting.stop();
    }
    outcome.map(|()| Exit::Ok)
}

/// Shows what there is and what comes, until somebody asks for the end.
fn watch(
    runs: &mut Runs,
    ears: &mut Ears,
    face: &mut dyn Face,
    collecting: Option<&Collecting>,
) -> anyhow::Result<()> {
    runs.look()?;
    let mut next_look = Instant::now() + ears.rest();
    let mut is_behind = runs.read(READING);
    loop {
        let note = collecting.and_then(Collecting::note);
        let board: Board<'_> = runs.board(note.as_deref());
        face.show(&board)?;
        let patience = if is_behind { Duration::ZERO } else { TICK };
        let Heard { changed, is_lost, is_resized, is_suspended, is_over } = ears.next(patience);
        if is_over {
            return Ok(());
        }
        if is_suspended {
            face.suspend();
        }
        if is_resized || is_suspended {
            face.renew();
        }
        changed.iter().for_each(|path| runs.note_change(path));
        if is_lost || Instant::now() >= next_look {
            ears.renew();
            runs.look()?;
            next_look = Instant::now() + ears.rest();
        }
        runs.check();
        is_behind = runs.read(READING);
    }
}

fn parse_span(text: &str) -> Result<Duration, String> {
    collect::since::span(text)
        .ok_or_else(|| format!("{text:?} is no span: expected 90s, 10m, 2h or 1d"))
}
