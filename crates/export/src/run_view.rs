//! One run on its way into a layout: the same for an export and for a run that goes on.

use quipu_event::{Event, RunId};
use quipu_view::{FileView, Losses, Shelf, Summary};

use crate::catalogue::{LayoutEntry, Opening};
use crate::error::ExportError;
use crate::exporter::ExportOptions;

/// A view of one run, and what its layout's index needs to know of it.
pub(crate) struct RunView {
    pub(crate) run_id: RunId,
    view: Box<dyn FileView>,
    summary: Option<Summary>,
}

impl RunView {
    /// Opens a view of `run_id`, which `root` called in the end.
    pub(crate) fn open(
        to: &LayoutEntry,
        run_id: &RunId,
        root: &RunId,
        options: &ExportOptions,
    ) -> Self {
        let ExportOptions { out, full, prices, .. } = options;
        RunView {
            run_id: run_id.clone(),
            view: to.open(&Opening { root, out, full: *full, prices }),
            summary: to.index.map(|_| Summary::default()),
        }
    }

    /// Takes the next event.
    pub(crate) fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        if let Some(summary) = &mut self.summary {
            summary.add(event);
        }
        self.view.add(event, shelf);
    }

    /// Takes note that there is no further event, and returns what was lost and what an index shows.
    pub(crate) fn finish(
        mut self,
        shelf: &mut dyn Shelf,
    ) -> Result<(Losses, Option<Summary>), ExportError> {
        self.view.finish(shelf);
        match self.view.failure() {
            Some(reason) => Err(ExportError::View { run: self.run_id, reason: reason.to_owned() }),
            None => Ok((self.view.losses().clone(), self.summary)),
        }
    }
}
