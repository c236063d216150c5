//! The sessions agents leave behind, recorded once and followed live.
//!
//! Claude Code, Codex, Gemini CLI and Copilot CLI write down what they do, each in files of its
//! own, and delete, move, compress and rewrite them as they please. This crate finds the files,
//! reads them and makes a run of each session. The transcript alone says how far that went: a file
//! is read from its beginning, the same bytes make the same events, and those that the transcript
//! holds are not recorded again.
//!
//! # The parts
//!
//! - [`Homes`] says where agents keep their sessions; [`collectable`] whose are known.
//! - A [`Collector`] finds out what there is ([`Collector::plan`]), records it
//!   ([`Collector::collect`]), and stays to record what comes ([`Collector::follow`]).
//! - A [`Store`] is where transcripts go, and how they are written.
//! - An [`Observer`] is told how it goes: [`SessionReport`]s, and [`Totals`] in the end. A
//!   [`FollowObserver`] is told of news, too.
//! - [`run_of_session`] names the run of a session before anything is recorded.
//! - [`Beside`] reads what an agent keeps in files beside its session.
//!
//! A file that does not begin with what was read before is another one of its name. That is told
//! as `system/source_replaced`; lines of it that were read before are passed over.
//!
//! # Promises
//!
//! Collecting:
//!
//! - Each foreign record is recorded once across restarts.
//! - A kill at any point leaves no duplicate and no hole.
//! - Looking at a session that has not changed changes nothing.
//! - What was recorded stays recorded whatever becomes of the file.
//! - A session is always the same run.
//! - Subagents are sources of the run of their session.
//! - A session that was forked names what it goes on from and does not repeat it.
//! - A line that arrives in pieces is recorded once when it is whole.
//! - A last record without a line end is kept when it is whole.
//! - The cache may be deleted at any time.
//! - What an agent writes is recorded while it runs.
//! - At the end everything complete is drained.
//! - Two collectors at once record everything once.
//!
//! Running an agent:
//!
//! - What a program prints is passed on and recorded to the byte.
//! - A run under the recorder begins and ends once.
//! - Text before the first record hides no record.
//! - A program does not notice a recorder that fails.
//!
//! Importing:
//!
//! - Importing the same thing again does nothing.
//! - An import that was killed is gone on with, without a double or a hole.
//! - What has grown since gets the rest.
//! - Every foreign line and document is kept to the byte.
//! - An imported run is sound.
//! - Tokens are counted once whatever says them.
//! - What cannot be read is kept and told with its place.
//! - Names in an archive lead nowhere.
//!
//! # What it refuses to do
//!
//! It never writes to, locks or deletes a file of an agent. It does not read the databases that
//! some agents keep beside their files, or what they keep of credentials. It does not guess: a
//! record that is not whole is waited for, and a file that nobody can say the session of yet is
//! left alone until somebody can.
//!
//! # Threat model
//!
//! A session file may hold anything, and its name may be a link, a folder or a device: only
//! regular files are opened, and what a file says can neither look like our own marks nor lead to
//! files outside the folders of its session. Links that a user has laid are followed, so whoever
//! collects another user's home reads what that user's links lead to; it ends up in the
//! collector's own storage, closed to others, and nowhere else. Memory is bounded by the longest
//! line, by the largest document, and by what a transcript notes of each event. One who can write
//! to a session file can write what an agent never said, and it is recorded as said.
//!
//! # Example
//!
//! ```
//! use quipu_collect::{Collector, Homes, Observer, SessionReport, Store, collectable, run_of_session};
//! use quipu_journal::{Layout, Options};
//!
//! struct Silent;
//! impl Observer for Silent {
//!     fn bytes(&self, _: u64) {}
//!     fn session(&self, _: SessionReport) {}
//! }
//!
//! let dir = tempfile::tempdir()?;
//! let project = dir.path().join("home/.claude/projects/app");
//! std::fs::create_dir_all(&project)?;
//! std::fs::write(project.join("s1.jsonl"), r#"{"type":"user","uuid":"00000000-0000-4000-8000-000000000001","timestamp":"2026-01-02T03:04:05Z","sessionId":"s1","message":{"role":"user","content":"Hello."}}"#)?;
//!
//! let layout = Layout::new(dir.path().join("storage"));
//! let store = Store::new(layout.clone(), Options::default());
//! let collector = Collector::new(store, &Homes::below(dir.path().join("home")), &collectable());
//! let totals = collector.collect(collector.plan(), &Silent);
//! assert_eq!(totals["claude"].new, 1);
//! assert!(layout.transcript(&run_of_session("claude", "s1")).exists());
//!
//! let totals = collector.collect(collector.plan(), &Silent);
//! assert_eq!((totals["claude"].new, totals["claude"].unchanged_files), (0, 1));
//! # Ok::<(), std::io::Error>(())
//! ```

#![warn(missing_docs)]

mod batch;
mod beside;
mod cache;
mod collector;
mod delivery;
mod discover;
mod document;
mod error;
pub mod exec;
mod follow;
mod forks;
mod history;
mod homes;
mod identity;
pub mod import;
mod input;
mod known;
mod marks;
mod plan;
mod reading;
mod report;
mod run_id;
mod session_run;
mod source;
mod store;

pub use batch::Observer;
pub use beside::Beside;
pub use collector::{Collector, Plan, PlannedSession};
pub use error::CollectError;
pub use follow::{FollowObserver, SessionNews};
pub use homes::{Homes, collectable};
pub use report::{SessionReport, Totals};
pub use run_id::run_of_session;
pub use store::Store;
