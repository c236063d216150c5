//! A layout of a run while it is recorded: the same views as an export, fed from growing files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use quipu_event::{Event, RunId};
use quipu_journal::{Family, Layout};
use quipu_view::{FileView, Losses, PriceTable, Summary};

use crate::catalogue::{INDEX, LayoutEntry, Opening};
use crate::error::ExportError;
use crate::folder::{Existing, Folder, Written};
use crate::redact::Redaction;

/// How often files are looked at.
const PACE: Duration = Duration::from_millis(25);

/// A thread that writes a layout of a run, and of the runs it calls, into a directory.
#[derive(Debug)]
pub struct LiveView {
    /// Dropped to say that nothing more will be recorded.
    written: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<Seen, ExportError>>>,
}

/// What a live view came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How much was written.
    pub written: Written,
    /// What the layout could not carry.
    pub losses: Losses,
    /// Whether a list of runs was there already and was left as it was, without this run.
    pub keeps_index: bool,
}

impl LiveView {
    /// Begins to write what is recorded of `run`, which need not exist yet, into `out`.
    ///
    /// Fails when `out` cannot be written. What goes wrong later is told at the end: a view never
    /// stops what it looks at.
    pub fn begin(
        layout: &Layout,
        run: &RunId,
        to: &'static LayoutEntry,
        out: &Path,
        existing: Existing,
        redaction: Option<Redaction>,
        prices: Arc<PriceTable>,
    ) -> Result<Self, ExportError> {
        let folder = Folder::in_place(out, existing)?;
        let family = Family::new(layout, run);
        let views = Views {
            to,
            existing,
            root: run.clone(),
            out: out.to_owned(),
            folder,
            redaction,
            prices,
            runs: Vec::new(),
        };
        let (written, more) = channel();
        let thread = Builder::new()
            .name("quipu-view".to_owned())
            .spawn(move || write_until(views, family, &more))
            .map_err(ExportError::Thread)?;
        Ok(LiveView { written: Some(written), thread: Some(thread) })
    }

    /// Says that nothing more will be recorded, and waits until everything is written.
    pub fn finish(mut self) -> Result<Seen, ExportError> {
        self.written = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(seen)) => seen,
            Some(Err(_)) | None => Err(ExportError::Panicked),
        }
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.written = None;
        if let Some(thread) = self.thread.take() {
            // Whoever drops it does not want to know.
            let _ = thread.join();
        }
    }
}

struct Views {
    to: &'static LayoutEntry,
    existing: Existing,
    root: RunId,
    out: PathBuf,
    folder: Folder,
    redaction: Option<Redaction>,
    prices: Arc<PriceTable>,
    /// In the order in which they began.
    runs: Vec<RunView>,
}

struct RunView {
    run_id: RunId,
    view: Box<dyn FileView>,
    summary: Option<Summary>,
}

impl Views {
    fn add(&mut self, event: &Event) {
        let redacted = self.redaction.as_mut().map(|redaction| redaction.apply(event.clone()));
        let event = redacted.as_ref().unwrap_or(event);
        // What is said next is mostly said by the run that spoke last.
        let at = self.runs.iter().rposition(|run| run.run_id == event.run_id);
        let at = at.unwrap_or_else(|| self.begin(&event.run_id));
        let run = &mut self.runs[at];
        if let Some(summary) = &mut run.summary {
            summary.add(event);
        }
        run.view.add(event, &mut self.folder);
    }

    fn begin(&mut self, run_id: &RunId) -> usize {
        let view = self.to.open(&Opening {
            root: &self.root,
            out: &self.out,
            full: false,
            prices: &self.prices,
        });
        let summary = self.to.index.map(|_| Summary::default());
        self.runs.push(RunView { run_id: run_id.clone(), view, summary });
        self.runs.len() - 1
    }

    fn finish(mut self) -> Result<Seen, ExportError> {
        let mut losses = Losses::default();
        for run in &mut self.runs {
            run.view.finish(&mut self.folder);
            if let Some(reason) = run.view.failure() {
                let reason = reason.to_owned();
                return Err(ExportError::View { run: run.run_id.clone(), reason });
            }
            losses.merge(run.view.losses());
        }
        // A list of other runs is not this run's to replace.
        let keeps_index = self.existing == Existing::Refuse && self.out.join(INDEX).exists();
        if let Some(index) = self.to.index.filter(|_| !keeps_index) {
            let summaries: Vec<_> = self.runs.into_iter().filter_map(|run| run.summary).collect();
            index(&summaries, &mut self.folder);
        }
        Ok(Seen { written: self.folder.commit()?, losses, keeps_index })
    }
}

fn write_until(
    mut views: Views,
    mut family: Family,
    more: &Receiver<()>,
) -> Result<Seen, ExportError> {
    loop {
        // Asked first, read then: what was recorded before the end is read after it.
        let ended = matches!(more.recv_timeout(PACE), Err(RecvTimeoutError::Disconnected));
        // Damage is not a view's to tell: whoever reads the transcript meets it.
        while family.read_on(|event| event.map_or((), |event| views.add(event))) {}
        if ended {
            return views.finish();
        }
        views.folder.flush()?;
    }
}
