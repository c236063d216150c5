//! What the crate promises, tested from outside: real files, real journals.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

/// The harness: a home, a storage, and what is in both.
mod desk;

/// The files of other recorders become runs.
mod import;
/// A thousand ways in which a file can change, against a model of what was written.
mod model;
/// What the crate promises, each in its own words.
mod promises;
/// Real homes, where they are at hand, against what their agents printed.
mod recorded;
