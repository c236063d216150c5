//! A run as OpenTelemetry spans: lines of OTLP/JSON, with the conventions for generative AI.
//!
//! Each line is an export request, as collectors read them from files and take them over HTTP. A
//! span is written when it ends. Ids follow from the run's, so that runs that call each other are
//! one trace although each is a view of its own. What was said is left out unless it is asked for,
//! as the conventions want it.

mod attributes;
mod batch;
mod conversation;
mod ids;
mod messages;
mod names;
mod notes;
mod wire;

use quipu_event::{Event, RunId};

use crate::files::{FileView, Losses, Shelf};
use crate::spans::{Key, Span, Spans, Told, Work};
use batch::Batch;
use conversation::Conversations;
use ids::{span_id, trace_id};
use messages::Heard;
use notes::Notes;

/// The version of the mapping from transcripts to spans; it changes when names or meanings do.
pub const OTLP_MAPPING_VERSION: &str = "1.0.0";

/// The version of OpenTelemetry's semantic conventions that the mapping follows.
pub const SEMANTIC_CONVENTIONS: &str = "1.41.0";

/// Whether spans carry what was said and what tools were given and answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpokenContent {
    /// They do.
    Carried,
    /// They do not.
    LeftOut,
}

/// Folds one run into `<run-id>.otlp.jsonl`.
#[derive(Debug)]
pub struct OtlpView {
    trace_id: String,
    content: SpokenContent,
    run_id: Option<RunId>,
    spans: Spans,
    notes: Notes,
    heard: Heard,
    conversations: Conversations,
    batch: Batch,
    losses: Losses,
}

impl OtlpView {
    /// Begins a run in the trace of `root`, the run that called all the others.
    pub fn new(root: &RunId, content: SpokenContent) -> Self {
        OtlpView {
            trace_id: trace_id(root),
            content,
            run_id: None,
            spans: Spans::default(),
            notes: Notes::default(),
            heard: Heard::default(),
            conversations: Conversations::default(),
            batch: Batch::default(),
            losses: Losses::default(),
        }
    }

    fn tell(&mut self, told: Told, event: Option<&Event>, shelf: &mut dyn Shelf) {
        match (told, event) {
            (Told::Began(_), _) | (Told::Happened(..), None) => {}
            (Told::Happened(key, time), Some(event)) => {
                if !self.notes.take(key, event, time) {
                    self.losses.leave_out(event);
                }
            }
            (Told::Ended(span), _) => self.write(*span, shelf),
        }
    }

    fn write(&mut self, span: Span, shelf: &mut dyn Shelf) {
        let Some(run_id) = &self.run_id else { return };
        let mut attributes = attributes::of(&span, run_id, &self.conversations);
        if self.content == SpokenContent::Carried {
            attributes.extend(messages::of(&span, &mut self.heard));
        }
        let (events, dropped_events_count) = self.notes.end(&span.key);
        let id = |key: &Key| span_id(run_id, key);
        let wire = wire::Span {
            trace_id: &self.trace_id,
            span_id: id(&span.key),
            parent_span_id: span.parent.as_ref().map(id),
            name: names::span_name(&span, &self.conversations),
            kind: if matches!(span.work, Work::Reply(_)) { wire::CLIENT } else { wire::INTERNAL },
            start_time_unix_nano: wire::Nanos(span.start),
            end_time_unix_nano: wire::Nanos(span.end),
            attributes,
            events,
            dropped_events_count,
            status: attributes::status(&span),
        };
        self.batch.add(run_id, &wire, shelf);
    }
}

impl FileView for OtlpView {
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        if self.run_id.is_none() {
            self.run_id = Some(event.run_id.clone());
        }
        self.conversations.begin(event);
        for told in self.spans.add(event) {
            self.tell(told, Some(event), shelf);
        }
        self.conversations.end(event);
        if self.content == SpokenContent::Carried {
            self.heard.take(event);
        }
    }

    fn finish(&mut self, shelf: &mut dyn Shelf) {
        for told in self.spans.finish() {
            self.tell(told, None, shelf);
        }
        if let Some(run_id) = &self.run_id {
            self.batch.write(run_id, shelf);
        }
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }
}
