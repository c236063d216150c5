//! Events as log records, as a listener meets them.
//!
//! - `listening`: the harness: who listens, and what they heard.
//! - `emitting`: which records there are, whoever listens, panics or does not.
//! - `following`: what recorders and other writers of runs write.
//! - `lines`: records as lines of JSON.

#![expect(clippy::unwrap_used, reason = "a test may fail wherever it likes")]

mod emitting;
mod following;
mod lines;
mod listening;
