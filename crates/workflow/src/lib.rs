//! Workflows: files that say what agents, commands and other workflows do, and what does it.
//!
//! A workflow is a YAML file of named steps, in the language of AWF. [`definition`] reads it into a
//! checked plan; [`engine`] decides what happens next and does nothing itself; [`driver`] does it:
//! commands as processes, [`agent`]s by their own programs or over HTTP, [`operation`]s, other
//! workflows as runs of their own. Everything that happens is told to a [`scribe`]: first to the
//! transcript, then to whoever watches.
//!
//! ```text
//! file ─ definition ─▶ plan ─ engine ─▶ effects ─ driver ─▶ processes, agents, child runs
//!                               ▲                   │
//!                               └──── outcomes ◀────┤
//!                                                   └─▶ scribe ─▶ transcript, audit, display
//! ```
//!
//! # How a step becomes events
//!
//! One attempt of a step is a `step.started` with what it is about to do (a command step carries its
//! resolved command) and a `step.completed` with how it ended, what came of it, how long it took, and
//! which way the run went from there and why. Between them, at the same path, stands what happened:
//! messages, tool calls and usage of an agent while it runs, retries and hooks as `system` events. A
//! called workflow is a run of its own, linked both ways. Path and attempt together are unique.
//!
//! # Promises
//!
//! Files:
//!
//! - Real workflows are valid or wrong for the reason their name says.
//! - All problems of a file are told at once in its order.
//! - No damage to a workflow makes checking panic.
//! - No place in a script lets a value run.
//!
//! Running:
//!
//! - Every step that began ends exactly once.
//! - Every step that began ends when a run is canceled.
//! - A timeout kills what a command started.
//! - A called workflow is a run of its own linked both ways.
//! - A run has one pair of lines in the audit trail.
//! - Audit and display are the same with recording on or off.
//! - A run told again from its transcript is seen as it was.
//! - A secret of either run is told by none.
//!
//! Agents:
//!
//! - The system prompt reaches the agent and is recorded for what it is.
//! - Every byte that was printed is in the transcript once.
//! - An agent that hangs is stopped and what it said is kept.
//! - A stub says that it is one and costs nothing.
//!
//! Resuming:
//!
//! - A resumed run comes to the same end and repeats nothing that was over.
//! - A run cut anywhere goes on and runs no finished step again.
//!
//! # What it refuses to do
//!
//! It prints nothing and asks nobody: what is shown and who answers is handed in. It keeps no state
//! beside the transcript: a run is resumed from its own lines. It never lets a value become code of
//! the shell that runs a command; what a command does with its arguments is the author's to know.
//!
//! # Example
//!
//! ```
//! use std::path::Path;
//!
//! use quipu_workflow::definition::{NoLibrary, check};
//!
//! let text = "
//! name: greet
//! states:
//!   initial: hello
//!   hello: {type: step, command: 'echo Hello', on_success: doen}
//!   done: {type: terminal}
//! ";
//! let checked = check(Path::new("greet.yaml"), text, &NoLibrary);
//! assert!(checked.workflow.is_none());
//! let told = checked.problems.to_string();
//! assert!(told.contains("greet.yaml:5:58: error: `on_success` leads to `doen`"), "{told}");
//! assert!(told.contains("did you mean `done`?"), "{told}");
//! ```

pub mod agent;
pub mod audit;
pub mod definition;
pub mod display;
pub mod driver;
pub mod engine;
pub mod language;
pub mod operation;
pub mod scribe;
pub mod toolbox;

pub use quipu_process as process;
