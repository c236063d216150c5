//! The shelf on a disk: a directory that files are put into.
//!
//! Everything is for its owner only, as transcripts are. An export is staged beside its place and
//! moved there as a whole, so that one that fails leaves nothing behind; a view of a run that is going
//! on is written in place, so that others can watch it grow. Neither takes the place of what was
//! recorded.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use quipu_journal::Layout;
use quipu_view::Shelf;
use tempfile::TempDir;

use crate::trail::Trail;

/// How many files are kept open at once.
const OPEN_FILES: usize = 16;
/// How much is gathered before it is written.
const BUFFER: usize = 64 * 1024;

/// What is done about files that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// They are left alone, and the export fails.
    Refuse,
    /// They are replaced.
    Replace,
}

/// Files could not be put into a folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file is there already.
    #[error("{} is there already{}", first.display(), and_more(*others))]
    Exists {
        /// The file, or the first of them.
        first: PathBuf,
        /// How many others are there too.
        others: usize,
    },
    /// A view named a place outside of the folder.
    #[error("{path:?} is no path inside a folder")]
    Outside {
        /// The place.
        path: String,
    },
    /// A file would take the place of what was recorded.
    #[error("{} belongs to the storage that is read", path.display())]
    Recorded {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

fn and_more(others: usize) -> String {
    if others == 0 { String::new() } else { format!(", and {others} more") }
}

/// How much was put into a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many files.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// A directory as a shelf.
#[derive(Debug)]
pub struct Folder {
    out: PathBuf,
    existing: Existing,
    /// The storage whose files are nobody's to replace.
    storage: Option<Layout>,
    /// The file that others add to as well.
    trail: Option<Trail>,
    /// Where files wait until all are there; nothing when they are written in place.
    staging: Option<TempDir>,
    open: Vec<(String, BufWriter<File>)>,
    known: BTreeSet<String>,
    bytes: u64,
    /// Whether the directory was made for this.
    is_made: bool,
    /// The first thing that went wrong; nothing is written after it.
    failure: Option<FolderError>,
}

impl Folder {
    /// Makes a folder whose files appear in `out` when it is [committed](Folder::commit).
    pub fn staged(out: &Path, existing: Existing) -> Result<Self, FolderError> {
        let folder = Folder::in_place(out, existing)?;
        let staging = tempfile::Builder::new()
            .prefix(".quipu-export-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(out);
        let staging =
            staging.map_err(|source| FolderError::Write { path: out.to_owned(), source })?;
        Ok(folder.with_staging(staging))
    }

    /// Makes a folder whose files grow in `out` itself.
    pub fn in_place(out: &Path, existing: Existing) -> Result<Self, FolderError> {
        let is_made = out.symlink_metadata().is_err();
        make_dirs(out)?;
        Ok(Folder {
            out: out.to_owned(),
            existing,
            storage: None,
            trail: None,
            staging: None,
            open: Vec::new(),
            known: BTreeSet::new(),
            bytes: 0,
            is_made,
            failure: None,
        })
    }

    /// Lets no file take the place of one that a storage keeps, whatever is done about others.
    #[must_use]
    pub fn apart_from(mut self, storage: &Layout) -> Self {
        self.storage = storage.storage().canonicalize().ok().map(Layout::new);
        self
    }

    /// Adds to the file at `path` what it has not yet, instead of refusing or replacing it.
    ///
    /// For a folder whose files grow in place.
    #[must_use]
    pub fn adding_to(mut self, path: Option<&'static str>) -> Self {
        self.trail = path.map(Trail::new);
        self
    }

    /// Returns where files wait until all are there, unless they are written in place.
    pub fn staging(&self) -> Option<&Path> {
        self.staging.as_ref().map(TempDir::path)
    }

    /// Tells whether its directory was made for it.
    pub fn is_made(&self) -> bool {
        self.is_made
    }

    /// Hands to the system what is still gathered here, and tells what went wrong so far.
    pub fn flush(&mut self) -> Result<(), FolderError> {
        let base = self.base();
        for (path, file) in &mut self.open {
            if let Err(source) = file.flush() {
                let path = base.join(path.as_str());
                self.failure.get_or_insert(FolderError::Write { path, source });
            }
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Moves everything to its place.
    ///
    /// Nothing is moved when a file is in the way and must not be replaced.
    pub fn commit(mut self) -> Result<Written, FolderError> {
        self.flush()?;
        self.open.clear();
        let written = Written { files: self.known.len() as u64, bytes: self.bytes };
        let Some(staging) = self.staging.take() else { return Ok(written) };
        if self.existing == Existing::Refuse {
            self.refuse_existing()?;
        }
        for path in &self.known {
            let place = self.out.join(path);
            if let Some(parent) = place.parent() {
                make_dirs(parent)?;
            }
            fs::rename(staging.path().join(path), &place)
                .map_err(|source| FolderError::Write { path: place, source })?;
        }
        Ok(written)
    }

    fn with_staging(mut self, staging: TempDir) -> Self {
        self.staging = Some(staging);
        self
    }

    fn refuse_existing(&self) -> Result<(), FolderError> {
        let is_there = |path: &&String| self.out.join(path.as_str()).symlink_metadata().is_ok();
        let mut there = self.known.iter().filter(is_there);
        match there.next() {
            None => Ok(()),
            Some(first) => {
                Err(FolderError::Exists { first: self.out.join(first), others: there.count() })
            }
        }
    }

    fn base(&self) -> PathBuf {
        self.staging.as_ref().map_or_else(|| self.out.clone(), |staging| staging.path().to_owned())
    }

    /// Returns the file at `path`, opened to be written on, or from its beginning.
    fn file(&mut self, path: &str, mode: Mode) -> Result<&mut BufWriter<File>, FolderError> {
        let at = self.open.iter().position(|(open, _)| open == path);
        let at = match at {
            Some(at) if mode == Mode::Append => at,
            _ => {
                if let Some(at) = at {
                    // What was gathered for it is to be replaced.
                    let (_, file) = self.open.swap_remove(at);
                    drop(file.into_parts());
                }
                let file = self.create(path, mode)?;
                if self.open.len() == OPEN_FILES {
                    self.close_oldest()?;
                }
                self.open.push((path.to_owned(), BufWriter::with_capacity(BUFFER, file)));
                self.open.len() - 1
            }
        };
        Ok(&mut self.open[at].1)
    }

    fn create(&mut self, path: &str, mode: Mode) -> Result<File, FolderError> {
        if !is_inside(path) {
            return Err(FolderError::Outside { path: path.to_owned() });
        }
        let end = self.out.join(path);
        if self.storage.as_ref().is_some_and(|storage| is_kept_by(storage, &end)) {
            return Err(FolderError::Recorded { path: end });
        }
        let base = self.base();
        let place = base.join(path);
        if let Some(inner) = Path::new(path).parent() {
            make_dirs_in(&base, inner)?;
        }
        let is_new = self.known.insert(path.to_owned());
        let mut options = OpenOptions::new();
        options.mode(0o600).write(true);
        if self.trail.as_ref().is_some_and(|trail| trail.is_at(path)) {
            options.append(true).create(true);
        } else if !is_new && mode == Mode::Append {
            options.append(true);
        } else if is_new && self.existing == Existing::Refuse {
            options.create_new(true);
        } else {
            options.create(true).truncate(true);
        }
        options.open(&place).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => FolderError::Exists { first: place, others: 0 },
            _ => FolderError::Write { path: place, source },
        })
    }

    fn close_oldest(&mut self) -> Result<(), FolderError> {
        let (path, mut file) = self.open.remove(0);
        file.flush().map_err(|source| FolderError::Write { path: self.base().join(path), source })
    }

    fn move_file(&mut self, from: &str, to: &str) -> Result<(), FolderError> {
        let base = self.base();
        for path in [from, to] {
            if let Some(at) = self.open.iter().position(|(open, _)| open == path) {
                let (path, mut file) = self.open.remove(at);
                file.flush()
                    .map_err(|source| FolderError::Write { path: base.join(path), source })?;
            }
        }
        // Opened first, so that a file of others is not replaced unasked.
        self.create(to, Mode::Replace)?;
        fs::rename(base.join(from), base.join(to))
            .map_err(|source| FolderError::Write { path: base.join(to), source })?;
        self.known.remove(from);
        Ok(())
    }

    fn write(&mut self, path: &str, bytes: &[u8], mode: Mode) {
        let trail = self.trail.as_mut().filter(|trail| trail.is_at(path));
        if self.failure.is_some() || trail.is_some_and(|trail| trail.held(&self.out, bytes)) {
            return;
        }
        let written = self.file(path, mode).map(|file| file.write_all(bytes));
        self.failure = match written {
            Ok(Ok(())) => None,
            Ok(Err(source)) => Some(FolderError::Write { path: self.base().join(path), source }),
            Err(error) => Some(error),
        };
        self.bytes += bytes.len() as u64;
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.staging.take());
        if self.is_made {
            // Succeeds only when nothing came of it.
            let _ = fs::remove_dir(&self.out);
        }
    }
}

impl Shelf for Folder {
    fn append(&mut self, path: &str, bytes: &[u8]) {
        self.write(path, bytes, Mode::Append);
    }

    fn put(&mut self, path: &str, bytes: &[u8]) {
        self.write(path, bytes, Mode::Replace);
    }

    fn rename(&mut self, from: &str, to: &str) {
        if self.failure.is_none() && self.known.contains(from) {
            self.failure = self.move_file(from, to).err();
        }
    }
}

/// Whether a file is written on or from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Append,
    Replace,
}

fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Tells whether `path` is one of a storage's own files: those beside its transcripts, and those.
fn is_kept_by(storage: &Layout, path: &Path) -> bool {
    let real = |dir: &Path| dir.canonicalize().ok();
    // Directories that are not there yet are nobody's.
    path.parent()
        .and_then(real)
        .is_some_and(|dir| dir == storage.storage() || dir.starts_with(storage.transcripts()))
}

/// Makes directories in `base`, which is not made again if somebody took it away.
fn make_dirs_in(base: &Path, inner: &Path) -> Result<(), FolderError> {
    let mut dir = base.to_owned();
    if dir.join(inner).is_dir() {
        return Ok(());
    }
    for part in inner.components() {
        dir.push(part);
        if let Err(source) = DirBuilder::new().mode(0o700).create(&dir)
            && !dir.is_dir()
        {
            return Err(FolderError::Write { path: dir, source });
        }
    }
    Ok(())
}

fn make_dirs(path: &Path) -> Result<(), FolderError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|source| FolderError::Write { path: path.to_owned(), source })
}
