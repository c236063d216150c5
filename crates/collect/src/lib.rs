//! The sessions agents leave behind, recorded once and followed live.
//!
//! # Promises
//!
//! Running an agent:
//!
//! - What a program prints is passed on and recorded to the byte.
//! - A run under the recorder begins and ends once.
//! - Text before the first record hides no record.
//! - A program does not notice a recorder that fails.
//!
//! Importing:
//!
//! - Importing the same thing again does nothing.
//! - An import that was killed is gone on with, without a double or a hole.
//! - What has grown since gets the rest.
//! - Every foreign line and document is kept to the byte.
//! - An imported run is sound.
//! - Tokens are counted once whatever says them.
//! - What cannot be read is kept and told with its place.
//! - Names in an archive lead nowhere.

#![warn(missing_docs)]

mod batch;
mod beside;
mod cache;
mod collector;
mod delivery;
mod discover;
mod document;
mod error;
pub mod exec;
mod follow;
mod forks;
mod history;
mod homes;
mod identity;
pub mod import;
mod input;
mod known;
mod marks;
mod plan;
mod reading;
mod report;
mod run_id;
mod session_run;
mod source;
mod store;

pub use batch::Observer;
pub use beside::Beside;
pub use collector::{Collector, Plan, PlannedSession};
pub use error::CollectError;
pub use follow::{FollowObserver, SessionNews};
pub use homes::{Homes, collectable};
pub use report::{SessionReport, Totals};
pub use run_id::run_of_session;
pub use store::Store;
