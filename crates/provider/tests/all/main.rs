//! Tests of the whole crate.
//!
//! - `cases`: `tests/cases/<provider>/<surface>/<case>.in.*` becomes `<case>.out.jsonl`.
//! - `promises`: each promise of the crate's opening doc, over every case.
//! - `shape`: the same conversation through every wire format.
//! - `conformance`: recorded files of the real agents, when they are there.

mod case;
mod cases;
mod conformance;
mod promises;
mod reading;
mod shape;
