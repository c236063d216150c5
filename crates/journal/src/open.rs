//! Opening a transcript to read it, without ever waiting for anybody.
//!
//! What lies under a transcript's name may be a pipe or a device that others put there: opening
//! one of those can wait for ever, and reading it can do things.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Opens the file at `path` for reading. Fails when it is anything but a file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    must_be_a_file(OpenOptions::new().read(true).custom_flags(flags).open(path)?)
}

/// Opens the file called `name` in the open directory `dir`, as [`open`] does.
pub(crate) fn open_in(dir: &File, name: impl AsRef<Path>) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::openat(dir, name.as_ref(), flags, Mode::empty())?;
    must_be_a_file(file.into())
}

/// Gives back what is a file.
pub(crate) fn must_be_a_file(file: File) -> io::Result<File> {
    let found = file.metadata()?.file_type();
    if found.is_file() {
        return Ok(file);
    }
    Err(match found.is_dir() {
        true => Errno::ISDIR.into(),
        false => io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"),
    })
}
