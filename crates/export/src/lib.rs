//! Runs as files in the layouts of other systems.
//!
//! # What it refuses to do
//!
//! It never changes a transcript, and overwrites nothing unless it is told to.

mod redact;

pub use redact::Redaction;
