//! Debug bundles: what is in the zip, and what WINK's own program makes of it.
//!
//! `QUIPU_WINK` names that program. Without it nothing of the second half is checked, and the test
//! says so.

mod packed;
mod program;
mod runs;
