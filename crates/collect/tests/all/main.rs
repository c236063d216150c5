//! What the crate promises, tested from outside: real files, real journals.

#![expect(clippy::unwrap_used, reason = "a test may fail wherever it likes")]

/// The files of other recorders become runs.
mod import;
