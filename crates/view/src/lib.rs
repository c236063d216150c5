//! Ways to look at a run: each view is a fold over its events.
//!
//! A view takes one event after the other and answers with a value. It neither knows nor cares
//! whether the events come from a file, from a live subscription or from a test, so a live screen
//! and a replay cannot differ.
//!
//! Some answer with what a caller shows: [`tree`], the steps of a run with their iterations,
//! attempts and child runs; [`summary`], its counts, durations and tokens; [`entries`], its events
//! as records of a structured log; [`activity`], what it is doing and whether a person is waited
//! for; [`receipt`], what it cost by [`price`]; [`diff`], where two runs part. Others answer with a
//! tree of files, a [`FileView`] each: for people [`markdown`] and [`html`], for other systems the
//! layouts of kgent, Flow Studio, WINK, AWF, ATIF, OpenTelemetry and Perfetto.
//!
//! # Promises
//!
//! - A live fold and a replay give the same tree.
//! - The tree rebuilt from the events of a run is the structure of the run.
//! - A step whose parent was never started still appears.
//! - The last attempt decides how a step ended.
//! - A failure is never folded away.
//! - Joining ends even when runs call each other in a circle.
//! - A path of any length is folded without exhausting the stack.
//! - A payload that does not decode is counted and never fails a fold.
//! - Tokens are summed over `usage` events only.
//! - A summary does not grow with the iterations of a loop.
//! - Summaries of several runs add up.
//! - Every entry has a complete envelope.
//! - Entries of a source are numbered from one without gaps.
//! - An entry has one of nine types.
//! - No event fails to become entries.
//! - The adapter of a run never changes.
//! - A source is main or a subagent.
//! - Entries of a source are in order of time.
//! - A live fold and a replay give the same activity.
//! - An activity does not grow with the run.
//! - Any sequence of events makes a sound kgent folder.
//! - Every event has a place in the kgent layout or is counted.
//! - Nothing that anybody wrote changes the sections of the kgent transcript.
//! - A figure says how it was obtained.
//! - What is not known is never shown as zero.
//! - A reported cost is not priced again.
//! - Usage is priced with the prices of its day.
//! - A receipt does not grow with the iterations of a loop.
//! - A run that came from Flow Studio goes back to the byte.
//! - An execution of a step never overwrites another in the layout of Flow Studio.
//! - Every receipt in the layout of Flow Studio has every documented field.
//! - A run that nobody answered is marked as a stub in the layout of Flow Studio.
//! - The manifest of a bundle has the checksum of every other file.
//! - A bundle is read line by line whatever its texts hold.
//! - Entries are reconstructed from the records of a log.
//! - A transcript for AWF has only the ten types and no gap.
//! - A strict decoder takes every line of a transcript for AWF.
//! - An entry of the audit trail fits into one write.
//! - A page of Markdown shows every event where it happened.
//! - Nothing that was said can be taken for a part of the page.
//! - A page holds every event whole.
//! - A page obeys no script but its own.
//! - Two runs that did the same do not differ.
//! - The first divergence is the earliest difference.
//! - A trajectory has every field that its format requires and no other.
//! - Ids of spans follow from the ids of runs alone.
//! - A span whose end never came is closed and says so.
//! - Spans on one track of a trace nest.
//!
//! # What it refuses to do
//!
//! It never opens a file, looks at a clock or prints. A child run is asked for through a function
//! that the caller hands in, and a drawn tree is a list of rows that the caller colours.
//!
//! # Example
//!
//! ```
//! use quipu_view::{Summary, TreeBuilder, tree};
//!
//! let lines = [
//!     r#"{"seq":1,"run_id":"r","type":"step.started","path":"build","timestamp":"2026-01-01T00:00:00Z","payload":{"name":"build","kind":"command"}}"#,
//!     r#"{"seq":2,"run_id":"r","type":"step.completed","path":"build","timestamp":"2026-01-01T00:00:02Z","payload":{"name":"build","kind":"command","status":"succeeded"}}"#,
//! ];
//! let mut builder = TreeBuilder::default();
//! let mut summary = Summary::default();
//! for line in lines {
//!     let event = quipu_event::decode_line(line.as_bytes())?;
//!     builder.add(&event);
//!     summary.add(&event);
//! }
//! let run = builder.finish().expect("two events were added");
//! let rows = tree::render(&run, &tree::RenderOptions::default());
//! assert_eq!(rows[1].to_string(), "└─ build (command): succeeded, 2000 ms");
//! assert_eq!(summary.steps["build"].occurrences, 1);
//! # Ok::<(), quipu_event::LineError>(())
//! ```

pub mod activity;
pub mod answer;
mod atif;
mod awf;
mod chrome_trace;
pub mod diff;
pub mod entries;
pub mod fields;
mod figure;
mod files;
mod flow_studio;
pub mod html;
mod kgent;
pub mod markdown;
mod otlp;
mod path;
mod plain;
pub mod price;
mod reading;
pub mod receipt;
mod safe_name;
mod session_cost;
mod spans;
pub mod summary;
mod transcript;
pub mod tree;
mod wink;

pub use activity::Activity;
pub use atif::{ATIF_VERSION, AtifView};
pub use awf::{AWF_TRAIL, AwfView};
pub use chrome_trace::ChromeTraceView;
pub use entries::{Entries, Entry, EntryOptions, EntryType, TranscriptSummary, reconstruct};
pub use files::{FileTree, FileView, Losses, Shelf};
pub use flow_studio::FlowStudioView;
pub use html::HtmlView;
pub use kgent::{KgentOptions, KgentView};
pub use markdown::MarkdownView;
pub use otlp::{OTLP_MAPPING_VERSION, OtlpView, SEMANTIC_CONVENTIONS, SpokenContent};
pub use price::PriceTable;
pub use reading::decode_whole;
pub use receipt::{Receipt, ReceiptBuilder};
pub use session_cost::SessionCost;
pub use summary::Summary;
pub use transcript::TranscriptView;
pub use tree::{RunTree, TreeBuilder};
pub use wink::WinkView;
