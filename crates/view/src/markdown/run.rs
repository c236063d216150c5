//! The beginning and the end of the page: what the run is, and what came of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use quipu_event::payload::{Agent, RunCompleted, RunStarted, Status};
use quipu_event::{Event, Json, Timestamp};

use super::escape::{code, plain};
use super::speech::quoted;
use super::step::mark_of;
use super::{Length, link, value};
use crate::figure;
use crate::receipt::{Part, ReceiptBuilder, ReceiptOptions};

/// Appends the title. A run that does not say its name is called by its id.
pub(crate) fn title(out: &mut String, event: &Event, name: &str) {
    out.push_str("# ");
    plain(out, if name.trim().is_empty() { event.run_id.as_str() } else { name.trim() });
    out.push_str("\n\n- Run: ");
    code(out, event.run_id.as_str());
    if let Some(parent) = &event.parent_run_id {
        out.push_str("\n- Called by: ");
        link::to(out, parent);
    }
    out.push_str("\n- Begins: ");
    figure::moment(out, event.timestamp);
    out.push('\n');
}

/// Appends what the run says of itself when it starts.
pub(crate) fn started(out: &mut String, run: &RunStarted, length: Length) {
    let line = |out: &mut String, key: &str, text: &str| {
        out.push_str("- ");
        out.push_str(key);
        out.push_str(": ");
        code(out, text);
        out.push('\n');
    };
    line(out, "Kind", run.kind.as_str());
    let agent = run.agent.clone().unwrap_or_default();
    let Agent { provider, adapter, model, cli_version } = &agent;
    let facts = [
        ("Version", &run.version),
        ("Agent", provider),
        ("Adapter", adapter),
        ("Model", model),
        ("Agent version", cli_version),
        ("Directory", &run.cwd),
        ("Session", &run.session_id),
        ("Task", &run.task_id),
    ];
    for (key, text) in facts {
        if let Some(text) = text {
            line(out, key, text);
        }
    }
    if let Some(definition) = &run.definition {
        line(out, "Definition", &definition.path);
    }
    for (key, text) in run.labels.iter().flatten() {
        out.push_str("- Label ");
        plain(out, key);
        out.push_str(": ");
        code(out, text);
        out.push('\n');
    }
    if let Some(inputs) = &run.inputs {
        out.push_str("\nGiven:\n\n");
        value::facts(out, inputs, length);
    }
    value::end_list(out);
}

/// How much was done, and what came of it.
#[derive(Default)]
pub(crate) struct Outcome {
    /// When the first event happened, and the last.
    pub(crate) span: Option<(Timestamp, Timestamp)>,
    /// What the run says of its end.
    pub(crate) end: Option<End>,
    /// What was used, and what providers say that it cost.
    receipt: Option<ReceiptBuilder>,
    /// Events, messages, tool calls, failed tool calls, errors, records nobody understood.
    pub(crate) counts: [u64; 6],
}

/// What a run says of its end.
pub(crate) struct End {
    status: Option<Status>,
    error: Option<String>,
    result: Option<Json>,
    duration_ms: u64,
}

impl End {
    /// Takes what a run says at its end, which is `event`, when its first event was at `first`.
    pub(crate) fn new(run: RunCompleted, first: Timestamp, event: &Event) -> Self {
        let duration_ms = run.whole_ms(first, event.timestamp);
        let RunCompleted { status, error, result, .. } = run;
        End { status, error, result, duration_ms }
    }
}

impl Outcome {
    /// Takes what a receipt needs of an event. Without prices, its costs are those that were reported.
    pub(crate) fn add_to_receipt(&mut self, event: &Event) {
        let receipt = self
            .receipt
            .get_or_insert_with(|| ReceiptBuilder::new(Arc::default(), ReceiptOptions::default()));
        receipt.add(event);
    }

    /// Takes what a run says at its end, which is `event`.
    pub(crate) fn note_end(&mut self, run: RunCompleted, event: &Event) {
        let first = self.span.map_or(event.timestamp, |(first, _)| first);
        self.end = Some(End::new(run, first, event));
    }

    /// Appends the end of the page.
    pub(crate) fn write(&mut self, out: &mut String, length: Length) {
        out.push_str("## Outcome\n\n");
        self.write_end(out, length);
        let names =
            ["event", "message", "tool call", "failed tool call", "error", "unknown record"];
        out.push_str("- ");
        let mut gap = "";
        for (count, name) in self.counts.iter().zip(names).filter(|(count, _)| **count > 0) {
            out.push_str(gap);
            figure::counted(out, *count, name);
            gap = ", ";
        }
        out.push_str("\n\n");
        self.write_tokens(out);
    }

    fn write_end(&self, out: &mut String, length: Length) {
        let Some(end) = &self.end else {
            out.push_str("**• no end was recorded**: the run goes on, or it was cut off.\n\n");
            return self.write_span(out, None);
        };
        out.push_str("**");
        out.push_str(mark_of(end.status.as_ref()));
        out.push(' ');
        plain(out, end.status.as_ref().map_or("ended", Status::as_str));
        out.push_str("**\n\n");
        if let Some(error) = end.error.as_deref().filter(|error| !error.is_empty()) {
            quoted(out, error);
        }
        if let Some(result) = end.result.as_ref().filter(|result| !result.is_null()) {
            value::facts(out, result, length);
        }
        self.write_span(out, Some(end.duration_ms));
    }

    fn write_span(&self, out: &mut String, whole: Option<u64>) {
        let Some((first, last)) = self.span else { return };
        out.push_str("- From ");
        figure::moment(out, first);
        out.push_str(" to ");
        figure::moment(out, last);
        out.push_str(": ");
        figure::duration(out, whole.unwrap_or_else(|| last.millis_since(first)));
        out.push('\n');
    }

    fn write_tokens(&mut self, out: &mut String) {
        let receipt = self.receipt.take().and_then(ReceiptBuilder::finish);
        let bill = receipt.map(|receipt| receipt.with_called()).unwrap_or_default();
        let mut models: BTreeMap<&str, Part> = BTreeMap::new();
        for (key, part) in &bill.parts {
            models.entry(key.model.as_deref().unwrap_or("unknown model")).or_default().add(part);
        }
        if models.is_empty() {
            return out.push_str("No tokens were reported.\n");
        }
        out.push_str("| model | input | output | of it reasoning | cache read | cache written | cost, as reported |\n");
        out.push_str("|---|---:|---:|---:|---:|---:|---:|\n");
        models.iter().for_each(|(model, part)| write_row(out, model, part));
        if models.len() > 1 {
            write_row(out, "all", &bill.total());
        }
    }
}

/// Appends a row of the table. A number that nobody gave is not shown as 0.
fn write_row(out: &mut String, model: &str, part: &Part) {
    out.push_str("| ");
    plain(out, model);
    let tokens = &part.tokens;
    let numbers = [
        tokens.input_tokens,
        tokens.output_tokens,
        tokens.reasoning_tokens,
        tokens.cache_read_tokens,
        tokens.cache_write_tokens,
    ];
    for number in numbers {
        out.push_str(" | ");
        match number {
            Some(number) => figure::full(out, number),
            None => out.push('–'),
        }
    }
    out.push_str(" | ");
    out.push_str(part.cost.figure().as_deref().unwrap_or("–"));
    out.push_str(" |\n");
}
