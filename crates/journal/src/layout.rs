//! Where a run's files live, and who may read them.
//!
//! The only place that knows paths and modes. It creates directories; it never opens a run.

use std::fs::{DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use quipu_event::RunId;

/// The mode of every file we write.
pub(crate) const FILE_MODE: u32 = 0o600;
/// The mode of every directory we make.
pub(crate) const DIR_MODE: u32 = 0o700;
/// The directory of all transcripts.
const TRANSCRIPTS: &str = "transcripts";
/// What may lie in a storage directory for it to count as ours alone.
const OUR_ENTRIES: &[&str] = &[TRANSCRIPTS, "notes", "audit.jsonl", "cache", "demo"];

/// A storage directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    storage: PathBuf,
}

impl Layout {
    /// Takes `storage` as the storage directory. It need not exist yet.
    pub fn new(storage: impl Into<PathBuf>) -> Self {
        Layout { storage: storage.into() }
    }

    /// Returns the storage directory.
    pub fn storage(&self) -> &Path {
        &self.storage
    }

    /// Returns the directory of all transcripts.
    pub fn transcripts(&self) -> PathBuf {
        self.storage.join(TRANSCRIPTS)
    }

    /// Returns the transcript of `run`.
    pub fn transcript(&self, run: &RunId) -> PathBuf {
        let name = Layout::transcript_name(run);
        let storage = self.storage.as_os_str();
        let room = storage.len() + TRANSCRIPTS.len() + name.len() + "//".len();
        // A list holds a path for each run: it is made in one piece, and no larger than it is.
        let mut path = PathBuf::with_capacity(room);
        path.extend([Path::new(storage), Path::new(TRANSCRIPTS), Path::new(&name)]);
        path
    }

    /// Returns what the transcript of `run` is called.
    pub(crate) fn transcript_name(run: &RunId) -> String {
        [run.as_str(), ".jsonl"].concat()
    }

    /// Returns where torn bytes of `run` are kept.
    pub fn torn(&self, run: &RunId) -> PathBuf {
        self.transcripts().join(format!("{run}.torn"))
    }

    /// Returns where notes wait that others leave for `run`.
    pub fn notes(&self, run: &RunId) -> PathBuf {
        self.storage.join("notes").join(run.as_str())
    }

    /// Returns the run whose transcript is called `file_name`, if it is a transcript's name.
    pub fn run_of(file_name: &str) -> Option<RunId> {
        RunId::parse(file_name.strip_suffix(".jsonl")?).ok()
    }

    /// Makes the directories where they are missing and narrows them where they are too wide.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(DIR_MODE).create(self.transcripts())?;
        self.closed_directories()?.iter().try_for_each(|dir| narrow(dir, DIR_MODE))
    }

    /// Returns the directories that must be closed to others.
    ///
    /// A storage directory that also holds other people's files may be as wide as it is:
    /// `--storage .` must not lock anybody out of their project.
    pub(crate) fn closed_directories(&self) -> io::Result<Vec<PathBuf>> {
        let mut closed = vec![self.transcripts()];
        if self.is_ours_alone()? {
            closed.push(self.storage.clone());
        }
        Ok(closed)
    }

    fn is_ours_alone(&self) -> io::Result<bool> {
        for entry in self.storage.read_dir()? {
            let name = entry?.file_name();
            if !OUR_ENTRIES.iter().any(|ours| name == *ours) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Takes away the permission bits of `path` that `mode` does not have.
pub(crate) fn narrow(path: &Path, mode: u32) -> io::Result<()> {
    match excess_mode(&path.metadata()?, mode) {
        Some(found) => std::fs::set_permissions(path, Permissions::from_mode(found & mode)),
        None => Ok(()),
    }
}

/// Returns the permission bits found, if they go beyond `mode`.
pub(crate) fn excess_mode(metadata: &Metadata, mode: u32) -> Option<u32> {
    let found = metadata.permissions().mode() & 0o777;
    (found & !mode != 0).then_some(found)
}
