//! Files that may be read: regular ones, with no other name.

use std::fs::File;

use cap_std::fs::{Dir, FileType, FileTypeExt, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use super::root::{Place, Root};
use super::trouble::{Refusal, Trouble};

/// A file that was opened for reading, and may be read.
pub(crate) struct Opened {
    /// The file.
    pub(crate) file: File,
    /// How long it was.
    pub(crate) size: u64,
}

impl Root {
    /// Opens a file for reading. Never waits for anybody at the other end of a pipe.
    pub(crate) fn open_file(&self, place: &Place) -> Result<Opened, Trouble> {
        open_in(&self.dir, place.path(), place, |cause| self.explain(place, cause))
    }

    /// Opens a file that was found in a directory.
    pub(crate) fn open_found(
        &self,
        dir: &Dir,
        name: &std::ffi::OsStr,
        place: &Place,
    ) -> Result<Opened, Trouble> {
        open_in(dir, name.as_ref(), place, |cause| self.explain(place, cause))
    }
}

/// Looks at what was found, and refuses what is not simply a file.
pub(super) fn vet(place: &Place, metadata: &Metadata) -> Result<(), Trouble> {
    let file = place.to_string();
    if metadata.is_dir() {
        return Err(Trouble::Failed(format!("{file}: is a directory")));
    }
    if !metadata.is_file() {
        let why = Refusal::NotRegular { what: kind_of(metadata.file_type()) };
        return Err(Trouble::Refused { file, why });
    }
    match metadata.nlink() {
        0 | 1 => Ok(()),
        names => Err(Trouble::Refused { file, why: Refusal::HardLink { names } }),
    }
}

fn open_in(
    dir: &Dir,
    path: &std::path::Path,
    place: &Place,
    explain: impl Fn(std::io::Error) -> Trouble,
) -> Result<Opened, Trouble> {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.read(true).custom_flags(flags.bits().cast_signed());
    let file = dir.open_with(path, &options).map_err(&explain)?;
    let metadata = file.metadata().map_err(&explain)?;
    vet(place, &metadata)?;
    Ok(Opened { file: file.into_std(), size: metadata.len() })
}

fn kind_of(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        "named pipe"
    } else if kind.is_socket() {
        "socket"
    } else if kind.is_symlink() {
        "link"
    } else {
        "device"
    }
}
