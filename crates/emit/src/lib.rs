//! Events as structured log records, for programs that collect logs.
//!
//! Whoever has a log collector already can have transcripts in it: each event of a run becomes
//! records of [`tracing`], at level DEBUG and with the target [`TARGET`], in one vocabulary for
//! every agent. What an event becomes is decided by [`quipu_view::entries`]; here it is handed on.
//!
//! | record | level | fields |
//! |---|---|---|
//! | `transcript.start` | DEBUG | `prompt_name`, `adapter` |
//! | `transcript.entry` | DEBUG | `prompt_name`, `adapter`, `entry_type`, `sequence_number`, `source`, `transcript_timestamp`, `session_id`?, `detail`?, `raw`? |
//! | `transcript.stop` | DEBUG | `prompt_name`, `adapter`, `total_entries`, `entries_by_source`, `entries_by_type` |
//! | `transcript.error` | WARN | `prompt_name`?, `error` |
//!
//! The name of the record stands in the field `event`; `detail` and the `entries_by_…` are JSON text.
//!
//! # The parts
//!
//! - [`Emitter`] takes events one by one, of any number of runs, from any thread.
//! - [`Emitter::follow`] emits what a [`Recorder`](quipu_journal::Recorder) of this process writes,
//!   [`Emitter::follow_run`] what anybody writes to a run's file, called runs included.
//! - [`JsonLines`] is a layer for `tracing-subscriber` that writes the records as lines of JSON in
//!   the shape that other tools for such logs read. No other part knows which subscriber there is.
//!
//! # Promises
//!
//! - An event becomes debug records with the common envelope.
//! - The first event starts a transcript and its end stops it.
//! - A dropped emitter stops what is still open.
//! - Nobody listening means no work.
//! - A listener that panics fails nobody and leaves no gap.
//! - Numbers are in order under concurrent emitters.
//! - An event emitted from within a listener waits for nothing.
//! - Everything a recorder writes is emitted.
//! - What a run wrote before is counted and not repeated.
//! - Called runs are followed too.
//! - A line is the record in the documented shape.
//! - No line has a character that splits it elsewhere.
//! - A writer that fails is counted and glues no lines.
//!
//! # What it refuses to do
//!
//! It never fails, blocks or panics on account of its caller, and it writes no transcript: the log
//! is a copy, and whoever needs every byte reads the run. It hides nothing. What the transcript
//! holds, secrets that nobody masked included, is in the log too.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use quipu_emit::{Emitter, EmitterOptions, JsonLines};
//! use tracing_subscriber::layer::SubscriberExt;
//!
//! let file = tempfile::tempfile()?;
//! let logs = tracing_subscriber::registry().with(JsonLines::new(file).only_transcripts());
//! tracing::subscriber::with_default(logs, || {
//!     let emitter = Emitter::new(EmitterOptions::default());
//!     let line = r#"{"seq":1,"run_id":"r","type":"run.started","timestamp":"2026-01-01T00:00:00Z","payload":{"name":"nightly"}}"#;
//!     emitter.emit(&quipu_event::decode_line(line.as_bytes())?);
//!     // The file has `transcript.start` and one `transcript.entry`; dropping adds `transcript.stop`.
//!     Ok::<(), quipu_event::LineError>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod emitter;
mod follow;
mod follow_run;
mod json_lines;
mod record;

pub use emitter::Emitter;
pub use follow::Following;
pub use follow_run::FollowingRun;
pub use json_lines::{JsonLines, Losses};
pub use quipu_view::EntryOptions as EmitterOptions;
pub use record::TARGET;
