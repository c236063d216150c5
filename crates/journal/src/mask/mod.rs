//! The mask hook: what must not be recorded is replaced before disk and subscribers alike.
//!
//! Nothing is masked unless a mask is asked for: a transcript is a raw log, and a mask that hides
//! too much would make it lie.

mod harmless;
mod names;
mod nested;
mod pairs;
mod patterns;
mod quoted;
mod scalars;
mod secrets;
mod text;

use std::panic::{AssertUnwindSafe, catch_unwind};

use quipu_event::Draft;

pub use secrets::SecretMask;

use crate::error::RecordError;

/// Something that hides what must not be recorded.
pub trait Mask: Send + Sync {
    /// Returns the draft without what must be hidden, and how many places were hidden.
    ///
    /// Called once per draft, in its producer's thread.
    fn mask(&self, draft: Draft) -> (Draft, u64);
}

/// Applies `mask`. One that panics lets nothing through.
pub(crate) fn apply(mask: &dyn Mask, draft: Draft) -> Result<(Draft, u64), RecordError> {
    catch_unwind(AssertUnwindSafe(|| mask.mask(draft))).map_err(|_| RecordError::Mask)
}

/// Returns what stands in place of a secret.
fn mark(name: &str) -> String {
    format!("[masked:{name}]")
}
