//! A layer that writes transcript records as lines of JSON.
//!
//! It knows the fields of our records, and takes any others as they come.

use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quipu_event::Json;
use quipu_journal::{Clock, SystemClock};
use quipu_view::entries::LogRecord;
use serde_json::Value;
use serde_json::value::RawValue;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{Filtered, Targets};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::record::TARGET;

/// Fields that are JSON already.
const JSON_FIELDS: [&str; 3] = ["detail", "entries_by_source", "entries_by_type"];

/// Writes records of [`TARGET`] to a writer, one line of JSON each, one `write` a line.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: Mutex<Out<W>>,
    losses: Losses,
}

#[derive(Debug)]
struct Out<W> {
    writer: W,
    /// Whether the last line may have been written in part.
    is_torn: bool,
}

/// How many records a [`JsonLines`] could not write.
#[derive(Clone, Debug, Default)]
pub struct Losses(Arc<AtomicU64>);

impl Losses {
    /// Returns how many it is so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl<W: Write + Send + 'static> JsonLines<W> {
    /// Writes to `writer`. Give it a file that was opened for appending, without a buffer around it,
    /// when several programs write to the same log.
    pub fn new(writer: W) -> Self {
        let out = Mutex::new(Out { writer, is_torn: false });
        JsonLines { out, losses: Losses::default() }
    }

    /// Returns a count of losses that can be asked while the layer is at work.
    pub fn losses(&self) -> Losses {
        self.losses.clone()
    }

    /// Makes a layer that asks for transcript records only, so that everything else in the program
    /// is as cheap as it was.
    pub fn only_transcripts<S>(self) -> Filtered<Self, Targets, S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        self.with_filter(Targets::new().with_target(TARGET, Level::DEBUG))
    }

    fn write(&self, line: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let Out { writer, is_torn } = &mut *out;
        // Behind a torn line, a line feed of its own keeps this one apart.
        let line = if *is_torn { format!("\n{line}") } else { line.to_owned() };
        *is_torn = writer.write_all(line.as_bytes()).and_then(|()| writer.flush()).is_err();
        if *is_torn {
            self.losses.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<W: Write + Send + 'static, S: Subscriber> Layer<S> for JsonLines<W> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        if metadata.target() != TARGET {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = match *metadata.level() {
            // The word that readers of such logs know.
            Level::WARN => "WARNING".to_owned(),
            level => level.to_string(),
        };
        let record = LogRecord {
            timestamp: SystemClock.now(),
            level: &level,
            logger: metadata.target(),
            event: &fields.event,
            message: &fields.message,
            context: &Json::from_valid(&format!("{{{}}}", fields.context)),
        };
        let mut line = on_one_line(record.to_json().as_str());
        line.push('\n');
        self.write(&line);
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Returns JSON text without the characters at which some readers split lines.
///
/// They can only stand inside strings, where an escape means the same.
fn on_one_line(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 1);
    for piece in json.split_inclusive(['\u{85}', '\u{2028}', '\u{2029}']) {
        match piece.chars().next_back() {
            Some(last @ ('\u{85}' | '\u{2028}' | '\u{2029}')) => {
                out.push_str(&piece[..piece.len() - last.len_utf8()]);
                out.push_str(&format!("\\u{:04x}", u32::from(last)));
            }
            _ => out.push_str(piece),
        }
    }
    out
}

/// The fields of a record, in their order.
#[derive(Default)]
struct Fields {
    event: String,
    message: String,
    /// The inside of a JSON object.
    context: String,
}

impl Fields {
    fn put(&mut self, key: &str, value: &str) {
        let key = if key == "transcript_timestamp" { "timestamp" } else { key };
        let comma = if self.context.is_empty() { "" } else { "," };
        self.context += &format!("{comma}{}:{value}", Value::from(key));
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "event" => value.clone_into(&mut self.event),
            "message" => value.clone_into(&mut self.message),
            name if JSON_FIELDS.contains(&name) && is_json(value) => {
                self.put(name, Json::from_valid(value).as_str());
            }
            name => self.put(name, &Value::from(value).to_string()),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field.name(), &Value::from(value).to_string());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field.name(), &Value::from(value).to_string());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field.name(), &Value::from(value).to_string());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field.name(), &Value::from(value).to_string());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
