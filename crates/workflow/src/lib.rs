//! Workflows: files that say what agents, commands and other workflows do, and the engine that does it.
//!
//! # Promises
//!
//! - Every step that began ends exactly once.
//! - A resumed run comes to the same end and repeats nothing that was over.

pub mod agent;
pub mod audit;
pub mod definition;
pub mod display;
pub mod driver;
pub mod engine;
pub mod language;
pub mod operation;
pub mod process;
pub mod scribe;
