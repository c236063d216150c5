//! Runs as files in the layouts of other systems.
//!
//! A [layout](LAYOUTS) is a view whose answer is files; this crate reads the events, puts the files
//! where they belong, and says what the layout could not carry. The same views are written [while a
//! run goes on](LiveView), so that nobody has to wait for its end.
//!
//! # Promises
//!
//! - An export that fails leaves nothing behind.
//! - Nothing is overwritten unless it is asked for.
//! - What was recorded is never replaced.
//! - Files are for their owner only.
//! - A view while a run goes on and an export afterwards are the same files.
//! - An event that leaves no trace is counted as left out.
//! - A redacted export shows no secret and changes nothing else.
//! - Runs that call each other in a circle are exported once.
//! - A layout but html takes no more memory for a long run than for a short one.
//! - Every event stands in a table whole.
//! - A long run leaves in groups while it goes on.
//! - What is pushed is what an export writes.
//! - A busy endpoint is asked again and says what it did not take.
//! - A redirect is not followed, for nobody took anything there.
//!
//! # What it refuses to do
//!
//! It never changes a transcript, decides nothing about what a layout says, and prints nothing.
//!
//! # Example
//!
//! ```
//! use quipu_event::{Draft, RunId, RunIdentity};
//! use quipu_export::{Existing, ExportOptions, Exporter, Folder, LayoutEntry, Told};
//! use quipu_journal::{Layout, Options, Recorder};
//!
//! # let dir = tempfile::tempdir()?;
//! let layout = Layout::new(dir.path().join("storage"));
//! let run_id = RunId::parse("nightly")?;
//! let run = RunIdentity { run_id: run_id.clone(), parent_run_id: None };
//! let recorder = Recorder::create(&layout, run, Options::default())?;
//! let note = serde_json::json!({"title": "Result", "content": "All is well."});
//! recorder.record(Draft::system("note", note)?)?;
//! recorder.close()?;
//!
//! let out = dir.path().join("pages");
//! let to = LayoutEntry::find("markdown").ok_or("there is such a layout")?;
//! let mut exporter = Exporter::new(&layout, to, ExportOptions::new(&out), None);
//! let mut folder = Folder::staged(&out, Existing::Refuse)?;
//! exporter.export(&run_id, &mut folder, |told| {
//!     if let Told::Run(exported) = told {
//!         assert_eq!(exported.losses.total(), 0);
//!     }
//! })?;
//! folder.commit()?;
//! assert!(std::fs::read_to_string(out.join("nightly.md"))?.contains("All is well."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bundle;
mod catalogue;
mod error;
mod exporter;
mod folder;
mod live;
mod otlp_push;
mod parquet;
mod redact;
mod run_view;
mod trail;

pub use bundle::Bundled;
pub use catalogue::{LAYOUTS, LayoutEntry, Opening};
pub use error::ExportError;
pub use exporter::{Called, ExportOptions, Exported, Exporter, Told};
pub use folder::{Existing, Folder, FolderError, Written};
pub use live::{LiveView, Seen};
pub use otlp_push::{OtlpPush, PushError, PushSettings, Pushed};
pub use parquet::ParquetView;
pub use redact::Redaction;
