//! `quipu collect`: the sessions that agents left on this machine, each a run, each event once.

mod following;
mod logs;
mod progress;
pub(super) mod since;
mod summary;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use quipu_collect::{Collector, Homes, Store, collectable};
use quipu_provider::Provider;

use super::record::Keeping;
use crate::Context;
use crate::exit::{Exit, UserError};
use progress::Progress;
use since::Since;
use summary::Summary;

/// Record the sessions that agents leave behind
///
/// Finds the sessions of Claude Code, Codex, Gemini CLI and Copilot CLI where they keep them (and
/// where CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME and COPILOT_HOME say), old layouts and
/// compressed files included. Each session becomes a run, subagents are sources of it, and a
/// session that was forked from another one names that instead of repeating it.
///
/// Collecting again records what is new and nothing twice, also after a crash: the transcripts
/// say how far it went. What was recorded stays recorded when agents delete their files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu collect\n  \
    quipu collect --provider claude --since 7d\n  \
    quipu collect --follow\n  \
    quipu collect --dry-run\n  \
    quipu collect --home /mnt/backup/home/me --json | jq .totals")]
pub(crate) struct Args {
    /// Only sessions of this agent (repeatable)
    #[arg(long = "provider", value_name = "P", value_parser = provider_names())]
    providers: Vec<String>,
    /// Look below DIR, as if it were the home of the user; variables mean nothing then
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Only sessions that changed since T: 7d, 12h, 30m, 2026-11-01 or 2026-11-01T08:00:00Z
    #[arg(long, value_name = "T")]
    since: Option<Since>,
    /// Go on: record what agents write while they write it, until Ctrl-C
    #[arg(short, long, conflicts_with = "dry_run")]
    follow: bool,
    /// Only say what there is to collect
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    keeping: Keeping,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let homes = homes(args.home.as_deref())?;
    let options = args.keeping.options_of_copies(context)?;
    let store = Store::new(context.settings.layout(), options);
    let mut collector = Collector::new(store, &homes, &providers(&args.providers));
    if let Some(Since(time)) = args.since {
        collector = collector.since(time);
    }
    if args.follow {
        return following::follow(context, &collector);
    }
    let plan = collector.plan();
    if args.dry_run {
        return summary::tell_plan(context, &plan, &collector);
    }
    let progress = Progress::new(context, plan.files, plan.bytes);
    let totals = collector.collect(plan, &progress);
    let (reports, elapsed) = progress.done();
    Summary { totals, reports, elapsed }.tell(context, &collector)
}

/// Returns where the sessions are looked for.
pub(super) fn homes(home: Option<&std::path::Path>) -> anyhow::Result<Homes> {
    match home {
        // The system names what has changed by its whole path.
        Some(home) if home.is_dir() => Ok(Homes::below(std::path::absolute(home)?)),
        Some(home) => Err(UserError::new(format!("there is no folder {}", home.display())).into()),
        None => Homes::of_user().ok_or_else(|| {
            UserError::new("HOME is not set").with_hint("--home DIR says where to look").into()
        }),
    }
}

fn providers(names: &[String]) -> Vec<&'static Provider> {
    let is_asked_for =
        |provider: &&Provider| names.is_empty() || names.iter().any(|name| name == provider.name);
    collectable().into_iter().filter(is_asked_for).collect()
}

fn provider_names() -> PossibleValuesParser {
    PossibleValuesParser::new(collectable().into_iter().map(|provider| provider.name))
}
