//! What tests share: a fixed clock, ready-made drafts, and storage that cleans up after itself.
//!
//! A development dependency only; nothing that ships knows it.

mod clock;
mod drafts;
mod storage;

pub use clock::SteppingClock;
pub use drafts::{assistant_text, run_completed, run_started, step_completed, step_started};
pub use storage::TestStorage;
