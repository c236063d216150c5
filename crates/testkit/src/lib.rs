//! What tests share: a fixed clock, ready-made drafts, storage that cleans up after itself, an
//! agent and a plugin that play scripts, and a home full of sessions.
//!
//! A development dependency only; nothing that ships knows it.

mod clock;
mod complete_run;
mod drafts;
pub mod fake_agent;
pub mod fake_plugin;
pub mod homes;
mod program;
mod storage;

pub use clock::{SteppingClock, StillClock};
pub use complete_run::{complete_run, tool_call, tool_result};
pub use drafts::{
    assistant_text, run_completed, run_started, step_completed, step_started, user_text,
};
pub use storage::{TestStorage, run_id};
