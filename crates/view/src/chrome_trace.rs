//! A run in the Trace Event Format, which Perfetto and Chrome's trace viewer open.
//!
//! The run is a process. Spans stand on tracks on which they nest: what goes on side by side, and
//! every subagent, gets a track of its own. An element is written when its span ends, so a file of any
//! length needs no more memory than what is under way. Long texts are shown by their beginnings.

mod arguments;
mod tracks;
mod wire;

use std::collections::BTreeMap;

use quipu_event::payload::TokenCounts;
use quipu_event::{Event, Payload, RunId};

use crate::files::{FileView, Losses, Shelf};
use crate::reading::read;
use crate::spans::{Span, Spans, Told, Work};
use arguments::{happening, label, of_span};
use tracks::Tracks;
use wire::{Args, Element};

/// Folds one run into `<run-id>.trace.json`.
#[derive(Debug, Default)]
pub struct ChromeTraceView {
    run_id: Option<RunId>,
    pid: u32,
    name: String,
    elements: u64,
    spans: Spans,
    tracks: Tracks,
    /// What was used so far, by who: the time of each goes on, that of all together does not.
    used: BTreeMap<Option<Box<str>>, TokenCounts>,
    losses: Losses,
}

impl ChromeTraceView {
    /// Begins a run.
    pub fn new() -> Self {
        ChromeTraceView::default()
    }

    fn tell(&mut self, told: Told, event: Option<&Event>, shelf: &mut dyn Shelf) {
        match told {
            Told::Began(beginning) => {
                if let Some(track) = self.tracks.begin(&beginning) {
                    self.name_track(track, shelf);
                }
            }
            Told::Happened(key, time) => {
                let Some(event) = event else { return };
                let (name, category, args) = happening(event);
                let tid = self.tracks.number(&key);
                let instant =
                    Element { tid: Some(tid), scope: Some("t"), ..self.element('i', &name, args) };
                self.put(&Element { category: Some(category), ts: Some(time), ..instant }, shelf);
            }
            Told::Ended(span) => self.write(&span, shelf),
        }
    }

    fn write(&mut self, span: &Span, shelf: &mut dyn Shelf) {
        if let Work::Run { started, .. } = &span.work {
            self.name.clone_from(&started.name);
        }
        let tid = self.tracks.end(&span.key, span.end);
        let (name, category) = label(span);
        let whole = Element {
            category: Some(category),
            ts: Some(span.start),
            dur: Some(span.end - span.start),
            tid: Some(tid),
            ..self.element('X', &name, of_span(span))
        };
        self.put(&whole, shelf);
    }

    fn name_track(&mut self, (tid, name): (u32, String), shelf: &mut dyn Shelf) {
        for (what, args) in [
            ("thread_name", Args::name(&name)),
            ("thread_sort_index", Args::number("sort_index", tid.into())),
        ] {
            self.put(&Element { tid: Some(tid), ..self.element('M', what, args) }, shelf);
        }
    }

    /// Shows the tokens and the cost so far as counters, one for each who uses them.
    fn count(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        let Payload::Usage(usage) = read(event).payload else { return };
        let tokens = usage.tokens();
        if tokens.is_empty() {
            self.losses.leave_out(event);
            return;
        }
        let used = self.used.entry(event.source.clone()).or_default();
        used.add(&tokens);
        let used = *used;
        let ts = self.spans.clock(&event.source);
        let args = Args::tokens(&used);
        if !args.is_empty() {
            let name = counter_name("tokens", event.source.as_deref());
            self.put(&Element { ts, ..self.element('C', &name, args) }, shelf);
        }
        if let Some(cost) = used.cost_usd.filter(|_| tokens.cost_usd.is_some()) {
            self.count_cost(cost, ts, event.source.as_deref(), shelf);
        }
    }

    fn count_cost(
        &mut self,
        usd: f64,
        ts: Option<i64>,
        source: Option<&str>,
        shelf: &mut dyn Shelf,
    ) {
        let name = counter_name("cost", source);
        let args = Args::real("usd", usd);
        self.put(&Element { ts, ..self.element('C', &name, args) }, shelf);
    }

    fn element<'a>(&self, phase: char, name: &'a str, args: Args) -> Element<'a> {
        Element { phase, name, pid: self.pid, args, ..Element::default() }
    }

    fn put(&mut self, element: &Element<'_>, shelf: &mut dyn Shelf) {
        let Some(run_id) = &self.run_id else { return };
        let before = match self.elements {
            0 => "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n",
            _ => ",\n",
        };
        self.elements += 1;
        // Numbers are finite and keys are text, so there is nothing to fail.
        let text = before.to_owned() + &serde_json::to_string(element).unwrap_or_default();
        shelf.append(&path(run_id), text.as_bytes());
    }
}

impl FileView for ChromeTraceView {
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        if self.run_id.is_none() {
            self.pid = process_number(&event.run_id);
            self.run_id = Some(event.run_id.clone());
        }
        for told in self.spans.add(event) {
            self.tell(told, Some(event), shelf);
        }
        self.count(event, shelf);
    }

    fn finish(&mut self, shelf: &mut dyn Shelf) {
        if let Some(cost) = self.spans.untold_cost() {
            self.count_cost(cost, self.spans.clock(&None), None, shelf);
        }
        for told in self.spans.finish() {
            self.tell(told, None, shelf);
        }
        let Some(run_id) = self.run_id.clone() else { return };
        let name = format!("{} {run_id}", self.name);
        let args = Args::name(name.trim_start());
        self.put(&self.element('M', "process_name", args), shelf);
        shelf.append(&path(&run_id), b"\n]}\n");
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }
}

fn counter_name(what: &str, source: Option<&str>) -> String {
    source.map_or_else(|| what.to_owned(), |source| format!("{what} {source}"))
}

fn path(run_id: &RunId) -> String {
    format!("{run_id}.trace.json")
}

/// Gives a run the same number in every file, so that files can be put together.
fn process_number(run_id: &RunId) -> u32 {
    let hash = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, run_id.as_str().as_bytes());
    let [a, b, c, d, ..] = *hash.as_bytes();
    (u32::from_be_bytes([a, b, c, d]) >> 1).max(1)
}
