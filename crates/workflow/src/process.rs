//! Programs in a process group of their own, and how they are stopped.

use tokio::sync::watch;

/// Why work is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
