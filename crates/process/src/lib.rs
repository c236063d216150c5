//! Programs in a process group of their own, and how they are stopped.
//!
//! Whatever a command step, an agent or a tool starts, it starts here, so that all of it ends in the
//! same way: asked first, killed then, with everything it has started in turn.
//!
//! # Promises
//!
//! - Stopping reaches what the program started.
//! - Stopping reaches what has left the group.
//! - A program that is asked to end has the time to say goodbye.
//! - A program that will not end is killed.
//! - A program that is dropped is killed with its group.
//! - A program that ends when its input does leaves nothing behind.
//!
//! # What it refuses to do
//!
//! Nothing here keeps what a program writes: its pipes are read by whoever started it. Nothing is
//! recorded.

mod exit;
mod family;
mod pipe;
mod running;
mod spawn;

use std::time::Duration;

use tokio::sync::watch;

pub use exit::Exit;
pub use pipe::Pipe;
pub use running::Running;
pub use spawn::{Prepare, Spawn, SpawnError, Stdin};

/// How long a program that was asked to end has to do so, before it is killed.
pub const GRACE: Duration = Duration::from_secs(2);

/// How long a pipe may stay silent after its program has ended, before it is given up.
pub const DRAIN: Duration = Duration::from_millis(200);

/// Why work is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopReason {
    /// It took too long.
    TimedOut,
    /// The engine or a person wants it to end: ask first, then insist.
    Canceled,
    /// A person wants it to end at once.
    Now,
}

/// Tells work when to stop: nothing while it may go on. The reason may grow stronger, never weaker.
pub type StopSignal = watch::Receiver<Option<StopReason>>;

/// Waits until there is a reason to stop that is stronger than the one already known.
///
/// Never returns when nobody is left to give one.
pub async fn stop_beyond(stop: &mut StopSignal, known: Option<StopReason>) -> StopReason {
    let heard = stop.wait_for(|reason| *reason > known).await;
    let reason = heard.ok().and_then(|reason| *reason);
    match reason {
        Some(reason) => reason,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
