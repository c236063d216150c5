//! What the libraries say about themselves, on stderr; and what runs record, in a log for other
//! tools.
//!
//! The log is made from the transcripts as they grow, so that it needs nothing of whoever records.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use quipu_emit::{Emitter, EmitterOptions, FollowingRun, JsonLines, Losses, TARGET};
use quipu_event::RunId;
use quipu_journal::Layout;
use tracing_subscriber::filter::{FilterExt, LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::exit::UserError;
use crate::live::print_above;

/// The log of what a command records, if one was asked for.
#[derive(Default)]
pub(crate) struct TranscriptLog {
    emitter: Option<Arc<Emitter>>,
    losses: Losses,
}

impl TranscriptLog {
    /// Logs what is recorded of `run` from now on, until the answer is dropped.
    pub(crate) fn follow(&self, layout: &Layout, run: &RunId) -> Option<FollowingRun> {
        self.emitter.as_ref().map(|emitter| emitter.follow_run(layout, run))
    }

    /// Ends the log and returns how many records it lacks.
    pub(crate) fn end(&mut self) -> u64 {
        self.emitter = None;
        self.losses.count()
    }
}

/// Starts telling warnings and errors, and more with each `-v`. `QUIPU_LOG` overrules.
///
/// What is recorded goes to `log_file` as lines of JSON. Fails when that cannot be written.
pub(crate) fn start(verbose: u8, log_file: Option<&Path>) -> anyhow::Result<TranscriptLog> {
    let level = match verbose {
        // A recorder that stops says so to its caller, and the command tells it with a hint; what
        // MCP peers do wrong is answered to them.
        0 => "warn,quipu_journal::sink=off,rmcp=off",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("QUIPU_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    // Entries are for the log file; on stderr they would be the transcript a second time.
    let no_entries =
        filter_fn(|told| told.target() != TARGET || *told.level() <= LevelFilter::WARN);
    let told = tracing_subscriber::fmt::layer()
        .with_writer(|| Beside)
        .with_target(false)
        .with_filter(filter.and(no_entries));
    let lines = log_file.map(|path| open(path).map(JsonLines::new)).transpose()?;
    let log = TranscriptLog {
        emitter: lines.as_ref().map(|_| Arc::new(Emitter::new(EmitterOptions::default()))),
        losses: lines.as_ref().map(JsonLines::losses).unwrap_or_default(),
    };
    let logged = lines.map(JsonLines::only_transcripts);
    tracing_subscriber::registry().with(told).with(logged).init();
    Ok(log)
}

/// Opens the log, which other programs may be writing to as well.
///
/// A log that is there already keeps its mode: whoever made it knows who is to read it.
fn open(path: &Path) -> Result<File, UserError> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(|error| {
        UserError::new(format!("cannot write the log {}: {error}", path.display()))
            .with_hint("--log-file, QUIPU_LOG_FILE or `log_file` in quipu.toml says where it goes")
    })
}

/// Stderr, unless that would be written across a screen that is being painted.
struct Beside;

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(text) = print_above(&String::from_utf8_lossy(bytes)) {
            anstream::stderr().write_all(text.as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        anstream::stderr().flush()
    }
}
