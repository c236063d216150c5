//! An export that is interrupted leaves nothing behind either.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use quipu_export::Folder;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;

/// Whoever holds it has what is staged taken away when the program is told to end.
pub(super) struct Tidying {
    handle: Handle,
    leavings: Arc<Mutex<Leavings>>,
}

impl Drop for Tidying {
    fn drop(&mut self) {
        // Who takes away lets go of it no more: then this is as far as the program comes.
        drop(self.leavings.lock());
        self.handle.close();
    }
}

/// What is taken away.
#[derive(Default)]
struct Leavings {
    staging: Option<PathBuf>,
    /// The directory around it, if it was made for it.
    made: Option<PathBuf>,
}

impl Leavings {
    /// What cannot be taken away stays: there is nobody left to tell.
    fn take_away(&self) {
        if let Some(staging) = &self.staging {
            // Moved aside first, so that what is being written finds its place gone.
            let aside = staging.with_extension("gone");
            let _ = fs::rename(staging, &aside);
            let _ = fs::remove_dir_all(&aside);
        }
        let _ = self.made.as_ref().map(fs::remove_dir);
    }
}

/// Makes a folder, and takes away what it has staged if the program is told to end; it ends then as
/// it would have.
pub(super) fn tidied<E: From<io::Error>>(
    stage: impl FnOnce() -> Result<Folder, E>,
) -> Result<(Folder, Tidying), E> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let leavings = Arc::new(Mutex::new(Leavings::default()));
    let tidying = Tidying { handle: signals.handle(), leavings: Arc::clone(&leavings) };
    // Held while the folder is made, so that a signal meanwhile waits until it is known.
    let mut known = leavings.lock().unwrap_or_else(PoisonError::into_inner);
    let told = Arc::clone(&leavings);
    thread::Builder::new().name("tidying".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let leavings = told.lock().unwrap_or_else(PoisonError::into_inner);
            leavings.take_away();
            let _ = emulate_default_handler(signal);
        }
    })?;
    let folder = stage()?;
    known.staging = folder.staging().map(ToOwned::to_owned);
    let around = known.staging.as_deref().and_then(|staging| staging.parent());
    known.made = around.filter(|_| folder.is_made()).map(ToOwned::to_owned);
    drop(known);
    Ok((folder, tidying))
}
