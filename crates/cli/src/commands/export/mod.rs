//! `quipu export`: runs as files in the layouts of other systems.

mod choice;
mod interrupt;
mod progress;
mod push;
mod told;

use std::io;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use quipu_event::RunId;
use quipu_export::{
    Called, Existing, ExportError, ExportOptions, Exporter, Folder, FolderError, LAYOUTS,
    LayoutEntry, Redaction, Told,
};
use quipu_journal::{Layout, SecretMask};
use quipu_view::Shelf;

use super::collect::since::Since;
use super::receipt::prices;
use crate::Context;
use crate::exit::{Exit, UserError};
use choice::choose;
use progress::Progress;
use told::{Arrival, Summary};

/// Write runs as files for people and for other tools
///
/// Each layout is a view of the transcript, made anew each time: export again and the files are the
/// same. Runs that a run calls come with it. What a layout cannot carry is counted and told;
/// docs/layouts has a page for each.
///
/// Nothing is overwritten unless --force is given, and an export that fails leaves nothing behind.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu export last --to html --out report\n  \
    quipu export 3f2a 9c98 --to kgent --out audit\n  \
    quipu export --all --since 7d --to parquet --out lake\n  \
    quipu export last --to markdown --redact secrets --out share\n  \
    quipu export last --to otlp --push http://localhost:4318")]
pub(crate) struct Args {
    /// The runs: any unique beginning of an id, or `last` (repeatable)
    #[arg(value_name = "RUN", required_unless_present_any = ["all", "since"])]
    runs: Vec<String>,
    /// Which layout
    #[arg(long, value_name = "LAYOUT", value_parser = layouts())]
    to: &'static LayoutEntry,
    /// Write into DIR, which is made if it is not there
    #[arg(long, value_name = "DIR", required_unless_present = "push")]
    out: Option<PathBuf>,
    /// Send spans to an OTLP endpoint instead: to URL, else to where OTEL_EXPORTER_OTLP_ENDPOINT
    /// points, else to http://localhost:4318
    #[arg(long, value_name = "URL", num_args = 0..=1, conflicts_with_all = ["out", "force"])]
    push: Option<Option<String>>,
    /// Every run in the storage
    #[arg(long, conflicts_with = "runs")]
    all: bool,
    /// Every run that started since T: 7d, 12h, 30m, 2026-11-01 or 2026-11-01T08:00:00Z
    #[arg(long, value_name = "T", conflicts_with = "runs")]
    since: Option<Since>,
    /// Leave out the runs that these call
    #[arg(long)]
    no_called: bool,
    /// Hide secrets on the way out, so that a run can be shared; nothing else is changed
    #[arg(long, value_name = "WHAT")]
    redact: Option<Redact>,
    /// Shorten nothing, in layouts that do
    #[arg(long)]
    full: bool,
    /// Replace files that are there already
    #[arg(long)]
    force: bool,
}

/// What is hidden on the way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Redact {
    /// Keys, tokens, passwords, and values of the variables that `mask_env` names
    Secrets,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let chosen = choose(&layout, &args)?;
    let options = ExportOptions {
        out: args.out.clone().unwrap_or_default(),
        called: if args.no_called { Called::LeftOut } else { Called::Included },
        full: args.full,
        prices: prices::table(&context.settings, None)?,
    };
    let hides = args.redact.is_some() || args.to.hides_secrets;
    let redaction = hides.then(|| redaction(context));
    let work = Work {
        exporter: Exporter::new(&layout, args.to, options, redaction),
        progress: Progress::new(context, &chosen),
        layout: &layout,
        runs: &chosen.runs,
    };
    let Some(out) = &args.out else {
        return push::push(context, &args, work);
    };
    let existing = if args.force { Existing::Replace } else { Existing::Refuse };
    let stage = || Folder::staged(out, existing).map_err(told_folder);
    let (folder, _tidying) = interrupt::tidied(stage)?;
    let mut folder = folder.apart_from(&layout);
    let summary = work.put_on(&mut folder, |folder| folder.flush().map_err(told_folder))?;
    let written = folder.commit().map_err(told_folder)?;
    summary.tell(context, &args, &Arrival::Written { out: out.clone(), written })
}

/// An export that is to be done.
struct Work<'a> {
    exporter: Exporter<'a>,
    progress: Progress,
    layout: &'a Layout,
    runs: &'a [RunId],
}

impl Work<'_> {
    /// Puts all runs on a shelf, which is asked after each how it is.
    fn put_on<S: Shelf>(
        mut self,
        shelf: &mut S,
        check: impl Fn(&mut S) -> anyhow::Result<()>,
    ) -> anyhow::Result<Summary> {
        let mut summary = Summary::default();
        for run in self.runs {
            let told = |told: Told| match told {
                Told::Bytes(bytes) => self.progress.read(bytes),
                Told::Run(run) => summary.add(self.layout, run),
                Told::Missing(run) => summary.missing.push(run),
            };
            self.exporter.export(run, shelf, told).map_err(told_export)?;
            check(shelf)?;
        }
        self.progress.done();
        summary.hidden = self.exporter.hidden();
        self.exporter.finish(shelf);
        Ok(summary)
    }
}

/// Returns what hides secrets on the way out.
pub(crate) fn redaction(context: &Context) -> Redaction {
    let names = context.settings.mask_env.value.iter().map(String::as_str);
    Redaction::new(SecretMask::new().with_env(names))
}

/// Reads the name of a layout.
pub(crate) fn layouts() -> impl TypedValueParser<Value = &'static LayoutEntry> {
    let names = LAYOUTS.iter().map(|layout| PossibleValue::new(layout.name).help(layout.about));
    PossibleValuesParser::new(names).map(|name| {
        LayoutEntry::find(&name).expect("only names of layouts are among the possible values")
    })
}

fn is_no_directory(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists)
}

fn told_export(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Folder(error) => told_folder(error),
        error => error.into(),
    }
}

/// A file in the way is the user's to decide about.
pub(crate) fn told_folder(error: FolderError) -> anyhow::Error {
    match error {
        FolderError::Exists { .. } => UserError::new(error.to_string())
            .with_hint("--force replaces files; another --out leaves them alone")
            .into(),
        FolderError::Recorded { .. } => UserError::new(error.to_string())
            .with_hint("an export goes into a directory of its own: choose another")
            .into(),
        FolderError::Write { path, source } if is_no_directory(&source) => {
            UserError::new(format!("{} is no directory", path.display()))
                .with_hint("files are put into a directory, which is made if it is not there")
                .into()
        }
        error => error.into(),
    }
}
