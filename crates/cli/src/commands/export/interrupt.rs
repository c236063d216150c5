//! An export that is interrupted leaves nothing behind either.

use std::fs;
use std::io;
use std::thread;

use quipu_export::Folder;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;

/// Whoever holds it has what is staged taken away when the program is told to end.
pub(super) struct Tidying(Option<Handle>);

impl Drop for Tidying {
    fn drop(&mut self) {
        if let Some(handle) = &self.0 {
            handle.close();
        }
    }
}

/// Takes away what `folder` has staged if the program is told to end; it ends then as it would have.
pub(super) fn tidy_up(folder: &Folder) -> io::Result<Tidying> {
    let Some(staging) = folder.staging().map(ToOwned::to_owned) else { return Ok(Tidying(None)) };
    let made = staging.parent().filter(|_| folder.is_made()).map(ToOwned::to_owned);
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let handle = signals.handle();
    thread::Builder::new().name("tidying".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Moved aside first, so that what is being written finds its place gone. What cannot be
            // taken away stays: there is nobody left to tell.
            let aside = staging.with_extension("gone");
            let _ = fs::rename(&staging, &aside);
            let _ = fs::remove_dir_all(&aside);
            let _ = fs::remove_dir_all(&staging);
            let _ = made.map(fs::remove_dir);
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(Tidying(Some(handle)))
}
