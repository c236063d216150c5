//! A directory that a command has for itself, and that goes away with it.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The directory. Dropping it removes it and all that is in it.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes one that nobody else can enter.
    pub(super) fn make() -> io::Result<Scratch> {
        let name = format!("quipu-bash-{}", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Scratch(path))
    }

    /// Returns where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(cause) = std::fs::remove_dir_all(&self.0) {
            tracing::debug!(%cause, "a scratch directory stays behind");
        }
    }
}
