//! Runs as files in the layouts of other systems.
//!
//! A [layout](LAYOUTS) is a view whose answer is files; this crate reads the events, puts the files
//! where they
//! belong, and says what the layout could not carry. The same views are written [while a run goes
//! on](LiveView), so that nobody has to wait for its end.
//!
//! # Promises
//!
//! - An export that fails leaves nothing behind.
//! - Nothing is overwritten unless it is asked for.
//! - Files are for their owner only.
//! - A view while a run goes on and an export afterwards are the same files.
//! - An event that leaves no trace is counted as left out.
//! - A redacted export shows no secret and changes nothing else.
//! - Runs that call each other in a circle are exported once.
//!
//! # What it refuses to do
//!
//! It never changes a transcript, decides nothing about what a layout says, and prints nothing.

mod bundle;
mod catalogue;
mod error;
mod exporter;
mod folder;
mod live;
mod otlp_push;
mod parquet;
mod redact;

pub use bundle::Bundled;
pub use catalogue::{LAYOUTS, LayoutEntry, Opening};
pub use error::ExportError;
pub use exporter::{Called, ExportOptions, Exported, Exporter, Told};
pub use folder::{Existing, Folder, FolderError, Written};
pub use live::{LiveView, Seen};
pub use otlp_push::{OtlpPush, PushError, PushSettings, Pushed};
pub use parquet::ParquetView;
pub use redact::Redaction;
