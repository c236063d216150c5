//! `quipu replay`: a run, played again with its own timing.

mod ears;
mod ending;
mod keys;
mod lines;
mod pace;
mod player;
mod stage;
mod state;
mod tale;
mod voices;

use std::io::Write;
use std::time::{Duration, Instant};

use quipu_event::RunId;
use quipu_journal::{Layout, find_run};

use crate::Context;
use crate::exit::{Exit, UserError};
use crate::format::style;
use crate::format::visible::one_line;
use crate::workflow::Watch;
use ending::Facts;
use pace::Pace;
use player::{Due, Player};
use tale::Tale;

/// So often a run that is being written is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Play a run again, with its own timing
///
/// Shows a recorded run as `quipu run` showed it, or as it would have: steps, commands, what agents
/// said and did, called runs at their time. Sessions that were collected are played too.
///
/// The timing is the run's own. Where nothing happens for long, the line at the bottom says when
/// the next event comes; --max-pause shortens such silence, n skips it. What a command wrote is
/// shown when it ended, because its transcript does not say when it wrote what.
///
/// Into a pipe, lines are printed with the same timing; --speed max prints them at once. With
/// --json, the objects of `quipu run --json`. Damaged lines are told where they stand and lead to
/// exit code 3; how the run itself ended does not change the exit code.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The run: any unique beginning of its id, or `last`
    run: String,
    /// How many times as fast: 0.25 to 1000, or `max` for no waiting
    #[arg(long, value_name = "N", default_value = "1")]
    speed: Pace,
    /// Begin at the event of this number, in the state of that moment
    #[arg(long, value_name = "SEQ")]
    from: Option<u64>,
    /// Wait no longer than so many seconds for an event
    #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
    max_pause: Option<Duration>,
    /// Go on with a run that is being written, until it ends
    #[arg(short, long)]
    follow: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let run = find_run(&layout, &args.run)?;
    let facts = Facts::of(&layout, &run)?;
    check_from(&args, &facts)?;
    announce(context, &layout, &run, &facts);
    let watch = Watch::new(context.screen, false);
    let played = play(&layout, &run, &facts, &args, &watch);
    // The terminal is left as it was found, whatever came of it.
    watch.finish();
    let (tale, is_left) = played?;
    ending::tell(context, &facts, &tale, is_left)?;
    Ok(tale.damage().conclude(&context.settings, Some(&run)))
}

/// Plays a run and tells whether it was left before its end.
fn play<'a>(
    layout: &'a Layout,
    run: &RunId,
    facts: &Facts,
    args: &Args,
    watch: &'a Watch,
) -> anyhow::Result<(Tale<'a>, bool)> {
    let mut tale = Tale::begin(layout, run, watch, args.follow)?;
    let from = args.from.map(|from| tale.seq_from(from)).transpose()?.flatten();
    let is_there = |_: &tale::Place, next: &voices::Moment| next.seq == from;
    if let Some(terminal) = watch.terminal() {
        if from.is_some() {
            terminal.renew(true, || tale.tell_until(is_there))?;
        }
        let player = player_of(&mut tale, args)?;
        let is_left = stage::play(&mut tale, player, facts, args.follow)?;
        return Ok((tale, is_left));
    }
    if from.is_some() {
        tale.pass_until(is_there)?;
    }
    let player = player_of(&mut tale, args)?;
    play_lines(&mut tale, player, args.follow)?;
    Ok((tale, false))
}

/// Returns a player that does not wait for what comes first.
fn player_of(tale: &mut Tale<'_>, args: &Args) -> anyhow::Result<Player> {
    let first = tale.next_at()?.unwrap_or(tale.place().at);
    Ok(Player::new(args.speed, args.max_pause, first))
}

/// Plays for a pipe or a program: nobody there has keys.
fn play_lines(tale: &mut Tale<'_>, mut player: Player, is_followed: bool) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        let Some(at) = tale.next_at()? else {
            if !is_followed || tale.place().end.is_some() {
                return Ok(());
            }
            std::thread::sleep(LOOK);
            continue;
        };
        if let Due::In(wait) = player.due(began.elapsed(), at) {
            std::thread::sleep(wait);
        }
        tale.tell()?;
        player.shown(at);
        if tale.watch().is_alone() {
            return Ok(());
        }
    }
}

fn announce(context: &Context, layout: &Layout, run: &RunId, facts: &Facts) {
    if context.screen.json {
        return;
    }
    let (bold, dim) = (style::BOLD, style::DIM);
    let mut out = context.screen.stdout();
    // A reader that went away is noticed with what comes.
    let name = one_line(&facts.name, usize::MAX);
    let space = if name.is_empty() { "" } else { " " };
    let _ = writeln!(out, "replay {bold}{run}{bold:#}{space}{name}");
    let _ = writeln!(out, "{dim}transcript {}{dim:#}", layout.transcript(run).display());
    let _ = out.flush();
}

fn check_from(args: &Args, facts: &Facts) -> Result<(), UserError> {
    let (first, last) = (facts.first_seq, facts.last_seq);
    let hint = match args.from {
        Some(from) if from < first => format!("its first is {first}"),
        Some(from) if from > last && !args.follow => format!("its last is {last}"),
        _ => return Ok(()),
    };
    let message = format!("--from {}: the run has no such event", args.from.unwrap_or_default());
    Err(UserError::new(message).with_hint(hint))
}

fn after_help() -> String {
    let keys = keys::HELP.iter().map(|(keys, what)| format!("  {keys:<7} {what}\n"));
    let examples = "Examples:\n  \
        quipu replay last\n  \
        quipu replay last --speed 10 --max-pause 2\n  \
        quipu replay 3f2a --from 120\n  \
        quipu replay last --speed max | less";
    format!("Keys:\n{}\n{examples}", keys.collect::<String>())
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse::<f64>().ok();
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected a number of seconds, such as 2 or 0.5".to_owned())
}
