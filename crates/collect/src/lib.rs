//! The sessions agents leave behind, recorded once and followed live.

#![warn(missing_docs)]

pub mod exec;
pub mod import;
