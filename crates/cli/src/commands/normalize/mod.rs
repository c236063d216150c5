//! `quipu normalize`: what an agent left, as the events it becomes. Records nothing.

mod input;
mod summary;
mod whose;

use std::io::{Read, Write};
use std::path::PathBuf;

use quipu_collect::Beside;
use quipu_event::write_loose_draft;
use quipu_provider::{KeptBytes, Made, Normalizer};

use crate::Context;
use crate::exit::Exit;
use input::Input;
pub(super) use whose::provider_names;

/// So many bytes are taken at a time.
const PIECE: usize = 256 * 1024;

/// Print the events that an agent's stream or session file becomes
///
/// Reads what an agent printed or left on disk (FILE, or standard input; `.zst` too) and prints
/// one draft a line: the same vocabulary for every agent, with the exact foreign bytes beside
/// it. Nothing is recorded; pipe it into `quipu record` for that. Whose input it is, is found out
/// from its first records. Outputs that the agent keeps in files beside FILE are read from there.
/// A summary follows on stderr.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  \
        quipu normalize ~/.claude/projects/-home-me-app/1b2c.jsonl\n  \
        codex exec --json 'fix the test' | quipu normalize --raw unknown\n  \
        quipu normalize --summary rollout.jsonl.zst | jq .usage\n  \
        quipu normalize session.jsonl | quipu record --name from-claude --no-lifecycle",
    after_long_help = whose::surfaces_help()
)]
pub(crate) struct Args {
    /// What to read; standard input if left out or `-`
    file: Option<PathBuf>,
    /// Whose input it is [default: found out]
    #[arg(long, value_name = "PROVIDER", value_parser = whose::provider_names())]
    provider: Option<String>,
    /// Which of the provider's shapes it has [default: found out]
    #[arg(long, value_name = "SURFACE")]
    surface: Option<String>,
    /// Which foreign bytes to keep beside the events
    #[arg(long, value_name = "WHICH", default_value = "full")]
    raw: RawChoice,
    /// Print the summary as JSON on stdout instead of the events
    #[arg(long)]
    summary: bool,
}

/// Which foreign bytes to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RawChoice {
    /// All
    Full,
    /// Those that nobody understood
    Unknown,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let mut input = Input::open(args.file.as_deref())?;
    let Some((whose, head)) =
        whose::find(&mut input, args.provider.as_deref(), args.surface.as_deref())?
    else {
        return summary::of_nothing(&input, context.screen, args.summary);
    };
    if !whose.is_sure() {
        whose.say_so(context.screen);
    }
    let kept = match args.raw {
        RawChoice::Full => KeptBytes::Full,
        RawChoice::Unknown => KeptBytes::Unknown,
    };
    let mut normalizer = Normalizer::new(whose.surface, kept);
    if let Some(beside) = input.path().and_then(Beside::new) {
        normalizer = normalizer.with_companions(Box::new(beside));
    }
    if args.summary {
        drive(&mut input, head, &mut normalizer, |_| Ok(()))?;
    } else {
        let mut out = context.screen.data();
        drive(&mut input, head, &mut normalizer, |made| {
            for made in made {
                write_loose_draft(&made.draft, &mut out)?;
            }
            out.flush()
        })?;
    }
    let problems = summary::Account { whose: &whose, tally: normalizer.tally(), input: &input };
    problems.tell(context.screen, args.summary)
}

/// Takes the whole input through `normalizer` and hands on what it becomes.
fn drive(
    input: &mut Input,
    head: Vec<u8>,
    normalizer: &mut Normalizer,
    mut take: impl FnMut(&[Made]) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    let mut made = Vec::new();
    normalizer.push(&head, &mut made);
    drop(head);
    let mut piece = vec![0; PIECE];
    loop {
        take(&made)?;
        made.clear();
        match input.read(&mut piece)? {
            0 => break,
            len => normalizer.push(&piece[..len], &mut made),
        }
    }
    normalizer.finish(&mut made);
    take(&made)?;
    Ok(())
}
