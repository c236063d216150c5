//! Spans gathered into export requests of a sensible size, one request a line.

use quipu_event::RunId;

use super::wire::{self, Attribute, Value};
use super::{OTLP_MAPPING_VERSION, SEMANTIC_CONVENTIONS};
use crate::files::Shelf;

/// A request has no more spans than this, as OpenTelemetry's own processors have it.
const MOST_SPANS: usize = 512;
/// Nor does it go on beyond so many bytes.
const MOST_BYTES: usize = 1024 * 1024;

/// The spans of the next request, as text.
#[derive(Debug, Default)]
pub(super) struct Batch {
    text: String,
    spans: usize,
}

impl Batch {
    /// Adds a span; a request that is full is written.
    pub(super) fn add(&mut self, run: &RunId, span: &wire::Span<'_>, shelf: &mut dyn Shelf) {
        if self.spans > 0 {
            self.text.push(',');
        }
        // Numbers are finite and keys are text, so there is nothing to fail.
        self.text.push_str(&serde_json::to_string(span).unwrap_or_default());
        self.spans += 1;
        if self.spans >= MOST_SPANS || self.text.len() >= MOST_BYTES {
            self.write(run, shelf);
        }
    }

    /// Writes the request, if there is anything in it.
    pub(super) fn write(&mut self, run: &RunId, shelf: &mut dyn Shelf) {
        if self.spans == 0 {
            return;
        }
        let attributes = [
            Attribute::new("service.name", Value::Text("quipu".to_owned())),
            Attribute::new("quipu.run.id", Value::Text(run.to_string())),
        ];
        let attributes = serde_json::to_string(&attributes).unwrap_or_default();
        let spans = std::mem::take(&mut self.text);
        self.spans = 0;
        let line = format!(
            "{{\"resourceSpans\":[{{\"resource\":{{\"attributes\":{attributes}}},\
             \"scopeSpans\":[{{\"scope\":{{\"name\":\"quipu\",\"version\":\"{OTLP_MAPPING_VERSION}\"}},\
             \"spans\":[{spans}],\
             \"schemaUrl\":\"https://opentelemetry.io/schemas/{SEMANTIC_CONVENTIONS}\"}}]}}]}}\n"
        );
        shelf.append(&format!("{run}.otlp.jsonl"), line.as_bytes());
    }
}
