//! Performs what the engine wants done, and records it.
//!
//! The engine decides and the driver does: it starts work in tasks of its own, feeds back what came of
//! it, and tells the transcript, the audit trail and whoever watches. It decides nothing by itself but
//! how work is stopped.

mod call;
mod command;
mod deliverables;
mod drive;
mod files;
mod hands;
mod history;
mod keep;
mod leftovers;
mod opening;
mod perform;
mod recording;
mod request;
mod secrets;
mod workflows;

pub use drive::run;
pub use files::DiskFiles;
pub use hands::BuiltIn;
pub use history::PastRun;
pub use perform::{Hands, Performance, Site};
pub use request::{RunError, RunReport, RunRequest, WorkflowSource, World, programs_at_once};
pub use secrets::{MASKED, Secrets, is_masked, is_secret_name, mask_named};
