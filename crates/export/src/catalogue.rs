//! The list of layouts: what each is called, and how a view of it is opened.

use std::path::Path;
use std::sync::Arc;

use quipu_event::RunId;
use quipu_view::html::{self, RunCard};
use quipu_view::markdown::Length;
use quipu_view::{
    AWF_TRAIL, AtifView, AwfView, ChromeTraceView, FileView, FlowStudioView, HtmlView,
    KgentOptions, KgentView, MarkdownView, OtlpView, PriceTable, Shelf, SpokenContent, Summary,
    TranscriptView, WinkView,
};

use crate::bundle::Bundled;
use crate::parquet::ParquetView;

/// The file that stands above all runs, in layouts that have such a thing.
pub(crate) const INDEX: &str = "index.html";

/// All layouts, in the order in which they are listed.
pub const LAYOUTS: &[LayoutEntry] = &[
    LayoutEntry {
        name: "markdown",
        about: "A page of Markdown per run, to read",
        open: |opening| {
            Box::new(MarkdownView::new(if opening.full { Length::Full } else { Length::Short }))
        },
        ..PLAIN
    },
    LayoutEntry {
        name: "html",
        about: "A self-contained page per run that opens offline, and an index of all",
        open: |opening| Box::new(HtmlView::with_prices(Arc::clone(opening.prices))),
        index: Some(|summaries, shelf| {
            let cards: Vec<_> = summaries.iter().filter_map(RunCard::of).collect();
            shelf.put(INDEX, &html::index(&cards));
        }),
        ..PLAIN
    },
    LayoutEntry {
        name: "kgent",
        about: "kgent: events, a readable transcript, logs of tools and errors; never a secret",
        hides_secrets: true,
        open: |opening| {
            let root = std::path::absolute(opening.out).ok();
            let root = root.and_then(|root| root.into_os_string().into_string().ok());
            Box::new(KgentView::new(KgentOptions { root }))
        },
        ..PLAIN
    },
    LayoutEntry {
        name: "flow-studio",
        about: "Flow Studio: transcripts and receipts per step",
        open: |_| Box::new(FlowStudioView::new()),
        ..PLAIN
    },
    LayoutEntry {
        name: "wink",
        about: "WINK: a debug bundle per run",
        open: |_| Box::new(Bundled::new(WinkView::new())),
        ..PLAIN
    },
    LayoutEntry {
        name: "awf",
        about: "AWF: its ten types of events, and its audit trail",
        open: |_| Box::new(AwfView::new()),
        trail: Some(AWF_TRAIL),
        ..PLAIN
    },
    LayoutEntry {
        name: "atif",
        about: "A trajectory per run, in the Agent Trajectory Interchange Format",
        open: |_| Box::new(AtifView::new()),
        ..PLAIN
    },
    LayoutEntry {
        name: "otlp",
        about: "OpenTelemetry spans with GenAI conventions; --full adds what was said",
        open: |opening| {
            let content =
                if opening.full { SpokenContent::Carried } else { SpokenContent::LeftOut };
            Box::new(OtlpView::new(opening.root, content))
        },
        ..PLAIN
    },
    LayoutEntry {
        name: "chrome-trace",
        about: "A trace per run that opens in Perfetto",
        open: |_| Box::new(ChromeTraceView::new()),
        ..PLAIN
    },
    LayoutEntry {
        name: "parquet",
        about: "Tables of runs, events, messages, calls and usage",
        open: |_| Box::new(ParquetView::new()),
        ..PLAIN
    },
    LayoutEntry {
        name: "quipu",
        about: "The transcripts themselves, as a storage: to hand runs on, redacted if need be",
        ..PLAIN
    },
];

/// What a layout is unless it says otherwise.
const PLAIN: LayoutEntry = LayoutEntry {
    name: "",
    about: "",
    hides_secrets: false,
    open: |_| Box::new(TranscriptView::new()),
    index: None,
    trail: None,
};

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
    /// The file that all runs add to, where there is one.
    pub(crate) trail: Option<&'static str>,
}

/// Puts what stands above all runs on a shelf.
type Index = fn(&[Summary], &mut dyn Shelf);

/// What a view is opened with.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The run that called all the others, itself if nobody did.
    pub root: &'a RunId,
    /// Where the files will stand.
    pub out: &'a Path,
    /// Whether long texts are given whole where a layout would shorten them.
    pub full: bool,
    /// What models cost, for layouts that tell costs which nobody named.
    pub prices: &'a Arc<PriceTable>,
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
