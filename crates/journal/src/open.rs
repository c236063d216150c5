//! Opening a transcript to read it, without ever waiting for anybody.
//!
//! What lies under a transcript's name may be a pipe or a device that others put there: opening
//! one of those can wait for ever, and reading it can do things.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat};
use rustix::io::Errno;

/// Opens the file at `path` for reading. Fails when it is anything but a file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    must_be_a_file(OpenOptions::new().read(true).custom_flags(flags).open(path)?)
}

/// Opens the file called `name` in the open directory `dir`, as [`open`] does, and says how large it
/// is: the system tells both in one answer.
pub(crate) fn open_in(dir: &File, name: &str) -> io::Result<(File, u64)> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::openat(dir, name, flags, Mode::empty())?);
    let bytes = size_of_file(&file)?;
    Ok((file, bytes))
}

/// Gives back what is a file.
pub(crate) fn must_be_a_file(file: File) -> io::Result<File> {
    size_of_file(&file)?;
    Ok(file)
}

/// Returns how large a file is. Fails when it is none.
fn size_of_file(file: &File) -> io::Result<u64> {
    let found = fstat(file)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok(found.st_size.cast_unsigned()),
        FileType::Directory => Err(Errno::ISDIR.into()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")),
    }
}
