//! A layout of a run while it is recorded: the same views as an export, fed from growing files.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use quipu_event::{Event, RunId};
use quipu_journal::{Family, Layout};
use quipu_view::Losses;

use crate::catalogue::{INDEX, LayoutEntry};
use crate::error::ExportError;
use crate::exporter::ExportOptions;
use crate::folder::{Existing, Folder, Written};
use crate::redact::Redaction;
use crate::run_view::RunView;

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
    /// Begins to write what is recorded of `run`, which need not exist yet, where `options` say.
    ///
    /// Fails when that place cannot be written. What goes wrong later is told at the end: a view never
    /// stops what it looks at.
    pub fn begin(
        layout: &Layout,
        run: &RunId,
        to: &'static LayoutEntry,
        options: ExportOptions,
        existing: Existing,
        redaction: Option<Redaction>,
    ) -> Result<Self, ExportError> {
        let folder = Folder::in_place(&options.out, existing)?;
        let folder = folder.apart_from(layout).adding_to(to.trail);
        let family = Family::new(layout, run);
        let (root, runs) = (run.clone(), Vec::new());
        let views = Views { to, existing, root, options, folder, redaction, runs };
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
    options: ExportOptions,
    folder: Folder,
    redaction: Option<Redaction>,
    /// In the order in which they began.
    runs: Vec<RunView>,
}

impl Views {
    fn add(&mut self, event: &Event) {
        let redacted = self.redaction.as_mut().map(|redaction| redaction.apply(event.clone()));
        let event = redacted.as_ref().unwrap_or(event);
        // What is said next is mostly said by the run that spoke last.
        let at = self.runs.iter().rposition(|run| run.run_id == event.run_id);
        let at = at.unwrap_or_else(|| self.begin(&event.run_id));
        self.runs[at].add(event, &mut self.folder);
    }

    fn begin(&mut self, run_id: &RunId) -> usize {
        self.runs.push(RunView::open(self.to, run_id, &self.root, &self.options));
        self.runs.len() - 1
    }

    fn finish(mut self) -> Result<Seen, ExportError> {
        let mut losses = Losses::default();
        let mut summaries = Vec::new();
        for run in self.runs {
            let (lost, summary) = run.finish(&mut self.folder)?;
            losses.merge(&lost);
            summaries.extend(summary);
        }
        // A list of other runs is not this run's to replace.
        let keeps_index =
            self.existing == Existing::Refuse && self.options.out.join(INDEX).exists();
        if let Some(index) = self.to.index.filter(|_| !keeps_index) {
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
