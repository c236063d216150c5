//! Tests of the whole crate.
//!
//! - `cases`: `tests/cases/<provider>/<surface>/<case>.in.*` becomes `<case>.out.jsonl`.
//! - `promises`: each promise of the crate's opening doc, over every case.
//! - `shape`: the same conversation through every wire format.
//! - `companions`: bodies that lie beside the input.
//! - `conformance`: recorded files of the real agents, when they are there.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod case;
mod cases;
mod companions;
mod conformance;
mod promises;
mod reading;
mod shape;
