//! What a line says, tested from outside.
//!
//! - `golden`: the exact bytes this version writes, and files of every version that must be read.
//! - `typed`: one value of every type and block, from which the golden lines are made.
//! - `awf`: lines of another writer, as they were really written.
//! - `survival`: nothing that was read is lost by writing it again.
//! - `hostile`: bytes that nobody meant to be a line, and values that must not become one.
//! - `small`: ids, paths, times, words and sums.
//! - `any`: arbitrary events, for the properties above.

#![expect(clippy::unwrap_used, reason = "a test may fail wherever it likes")]

mod any;
mod awf;
mod golden;
mod hostile;
mod small;
mod survival;
mod typed;
