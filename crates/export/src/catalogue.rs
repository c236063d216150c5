//! The list of layouts: what each is called, and how a view of it is opened.

use quipu_event::RunId;
use quipu_view::{FileView, Shelf, Summary, TranscriptView};

/// All layouts, in the order in which they are listed.
pub const LAYOUTS: &[LayoutEntry] = &[LayoutEntry {
    name: "quipu",
    about: "The transcripts themselves, as a storage: to hand runs on, redacted if need be",
    hides_secrets: false,
    open: |_| Box::new(TranscriptView::new()),
    index: None,
}];

/// A layout that runs can be exported to.
#[derive(Debug)]
pub struct LayoutEntry {
    /// Its name, as people type it.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Whether it never shows secrets, asked or not.
    pub hides_secrets: bool,
    /// Opens a view of one run.
    pub(crate) open: fn(&Opening<'_>) -> Box<dyn FileView>,
    /// Makes what stands above all runs, where there is such a thing.
    pub(crate) index: Option<Index>,
}

/// Puts what stands above all runs on a shelf.
type Index = fn(&[Summary], &mut dyn Shelf);

/// What a view is opened with.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The run that called all the others, itself if nobody did.
    pub root: &'a RunId,
    /// Whether long texts are given whole where a layout would shorten them.
    pub full: bool,
}

impl LayoutEntry {
    /// Returns the layout called `name`.
    pub fn find(name: &str) -> Option<&'static LayoutEntry> {
        LAYOUTS.iter().find(|layout| layout.name == name)
    }

    /// Opens a view of one run.
    pub fn open(&self, opening: &Opening<'_>) -> Box<dyn FileView> {
        (self.open)(opening)
    }
}
