//! How lines reach disk and are read back, tested from outside: real files, threads, processes.
//!
//! - `notes`: what others leave for a run.
//! - `order`: numbers, lines and broadcast go in step, whoever writes.
//! - `subscribers`: slow, late, stuck and departed ones; closing.
//! - `holding`: one writer per run, and files that only their owner can read.
//! - `cuts`: a crash at every byte of a journal.
//! - `coming_back`: what reopening finds, closes and leaves alone.
//! - `reading`: forward, backward, from a number, through damage.
//! - `following`: readers that wait for more, also of other processes.
//! - `masking`: what must not be recorded is not.
//! - `hostile`: whatever producers hand in.
//! - `checking`: each kind of damage that `verify_run` finds.
//! - `listing`: which runs there are and which one a person means.
//! - `process`: this very binary, started again as somebody else.

#![expect(clippy::unwrap_used, reason = "a test may fail wherever it likes")]

mod checking;
mod coming_back;
mod cuts;
mod following;
mod holding;
mod hostile;
mod listing;
mod masking;
mod notes;
mod order;
mod process;
mod reading;
mod subscribers;
