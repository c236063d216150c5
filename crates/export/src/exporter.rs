//! Reads runs, and those they call, into a layout.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use quipu_event::RunId;
use quipu_journal::{Damage, Layout, ReadProblem, Reader};
use quipu_view::{Losses, PriceTable, Shelf, Summary};

use crate::catalogue::LayoutEntry;
use crate::error::ExportError;
use crate::redact::Redaction;
use crate::run_view::RunView;

/// After how many bytes it is worth telling.
const NOTEWORTHY: u64 = 1024 * 1024;

/// Puts runs on a shelf in one layout. Each run is put there once.
pub struct Exporter<'a> {
    layout: &'a Layout,
    to: &'static LayoutEntry,
    options: ExportOptions,
    redaction: Option<Redaction>,
    done: BTreeSet<RunId>,
    summaries: Vec<Summary>,
}

/// What an exporter tells while it works.
#[derive(Debug)]
pub enum Told {
    /// So many more bytes of transcripts were read.
    Bytes(u64),
    /// A run is done.
    Run(Exported),
    /// A run that was called is not in the storage.
    Missing(RunId),
}

/// What came of one run.
#[derive(Debug)]
pub struct Exported {
    /// The run.
    pub run_id: RunId,
    /// The run that it was exported with, itself if it was asked for.
    pub root: RunId,
    /// How many events it has.
    pub events: u64,
    /// What the layout could not carry.
    pub losses: Losses,
    /// Lines that hold no event.
    pub damage: Vec<Damage>,
}

impl<'a> Exporter<'a> {
    /// Exports runs of `layout` in the layout `to`.
    pub fn new(
        layout: &'a Layout,
        to: &'static LayoutEntry,
        options: ExportOptions,
        redaction: Option<Redaction>,
    ) -> Self {
        let (done, summaries) = (BTreeSet::new(), Vec::new());
        Exporter { layout, to, options, redaction, done, summaries }
    }

    /// Puts `run` on the shelf and, if asked, the runs it calls, and says what came of each.
    ///
    /// A called run whose transcript is not there is told and passed over.
    pub fn export(
        &mut self,
        run: &RunId,
        shelf: &mut dyn Shelf,
        mut tell: impl FnMut(Told),
    ) -> Result<(), ExportError> {
        let mut waiting = vec![run.clone()];
        while let Some(next) = waiting.pop() {
            if !self.done.insert(next.clone()) {
                continue;
            }
            if next != *run && !self.layout.transcript(&next).exists() {
                tell(Told::Missing(next));
                continue;
            }
            let (exported, children) = self.export_one(&next, run, shelf, &mut tell)?;
            if self.options.called == Called::Included {
                waiting.extend(children.into_iter().rev());
            }
            tell(Told::Run(exported));
        }
        Ok(())
    }

    /// Returns how many places were hidden.
    pub fn hidden(&self) -> u64 {
        self.redaction.as_ref().map_or(0, Redaction::hidden)
    }

    /// Puts what stands above all runs on the shelf, in layouts that have such a thing.
    pub fn finish(self, shelf: &mut dyn Shelf) {
        if let Some(index) = self.to.index {
            index(&self.summaries, shelf);
        }
    }

    fn export_one(
        &mut self,
        run: &RunId,
        root: &RunId,
        shelf: &mut dyn Shelf,
        tell: &mut dyn FnMut(Told),
    ) -> Result<(Exported, Vec<RunId>), ExportError> {
        let mut view = RunView::open(self.to, run, root, &self.options);
        let mut children = Children::default();
        let mut exported = Exported {
            run_id: run.clone(),
            root: root.clone(),
            events: 0,
            losses: Losses::default(),
            damage: Vec::new(),
        };
        let mut reader = Reader::open(self.layout.transcript(run))?;
        let mut told = 0;
        while let Some(event) = reader.next() {
            if reader.offset() - told > NOTEWORTHY {
                tell(Told::Bytes(reader.offset() - told));
                told = reader.offset();
            }
            let event = match event {
                Ok(event) => event,
                Err(ReadProblem::Damaged { damage, .. }) => {
                    exported.damage.push(damage);
                    continue;
                }
                Err(ReadProblem::Io(error)) => return Err(error.into()),
            };
            let event = match &mut self.redaction {
                Some(redaction) => redaction.apply(event),
                None => event,
            };
            exported.events += 1;
            children.extend(event.child_run_id.as_ref());
            view.add(&event, shelf);
        }
        tell(Told::Bytes(reader.offset() - told));
        let (losses, summary) = view.finish(shelf)?;
        exported.losses = losses;
        self.summaries.extend(summary);
        Ok((exported, children.in_order))
    }
}

/// What else is asked of an export.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// Where the files will stand.
    pub out: PathBuf,
    /// What is done about the runs that a run calls.
    pub called: Called,
    /// Whether long texts are given whole where a layout would shorten them.
    pub full: bool,
    /// What models cost, for layouts that tell costs which nobody named.
    pub prices: Arc<PriceTable>,
}

impl ExportOptions {
    /// Asks for nothing out of the ordinary: called runs come too, prices are those built in.
    pub fn new(out: impl Into<PathBuf>) -> Self {
        let prices = Arc::new(PriceTable::built_in());
        ExportOptions { out: out.into(), called: Called::Included, full: false, prices }
    }
}

/// Whether the runs that a run calls are exported with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// They are.
    Included,
    /// They are not.
    LeftOut,
}

/// The runs that a run calls. A call has two lines, and both name the run.
#[derive(Default)]
struct Children {
    in_order: Vec<RunId>,
    known: BTreeSet<RunId>,
}

impl Children {
    fn extend(&mut self, child: Option<&RunId>) {
        if let Some(child) = child
            && self.known.insert(child.clone())
        {
            self.in_order.push(child.clone());
        }
    }
}
