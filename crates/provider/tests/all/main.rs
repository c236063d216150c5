//! Tests of the whole crate.
//!
//! - `cases`: `tests/cases/<provider>/<surface>/<case>.in.*` becomes `<case>.out.jsonl`.
//! - `promises`: each promise of the crate's opening doc, over every case.
//! - `shape`: the same conversation through every wire format.
//! - `companions`: bodies that lie beside the input.
//! - `settling`: files that are read while they grow; `growing_chats`: those that rewrite themselves.
//! - `listening`: programs that are heard while they work.
//! - `conformance`: recorded files of the real agents, when they are there.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod case;
mod cases;
mod companions;
mod conformance;
mod growing_chats;
mod listening;
mod promises;
mod reading;
mod settling;
mod shape;
