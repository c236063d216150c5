//! Ctrl-C once asks a run to end in order, twice ends it at once; so does a polite kill.

use std::io;
use std::sync::Arc;

use quipu_workflow::process::{StopReason, StopSignal};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::watch::Watch;

/// Begins to listen for signals. Must be called within the runtime.
pub(super) fn listen(watch: &Arc<Watch>) -> io::Result<StopSignal> {
    let (stop, stopped) = watch::channel(None);
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    let watch = Arc::clone(watch);
    tokio::spawn(async move {
        loop {
            let by_hand = tokio::select! {
                _ = interrupted.recv() => true,
                _ = terminated.recv() => false,
                _ = hung_up.recv() => false,
            };
            let again = stop.borrow().is_some();
            let reason = if again && by_hand { StopReason::Now } else { StopReason::Canceled };
            watch.line(match reason {
                StopReason::Now => "stopping at once",
                _ if by_hand => "stopping in order; press Ctrl-C again to stop at once",
                _ => "stopping in order",
            });
            stop.send_if_modified(|known| {
                let stronger = *known < Some(reason);
                if stronger {
                    *known = Some(reason);
                }
                stronger
            });
        }
    });
    Ok(stopped)
}
