//! The files of one foreign run, wherever they are: in a directory, in an archive, in memory.
//!
//! Names are labels here: nothing is ever written under them, and links are not followed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::ImportError;
use super::zipped::Archive;
use super::{Problem, System};

/// A file that holds records may be this large.
pub(super) const MOST_BYTES: u64 = 1 << 30;
/// So many files of one run are looked at.
pub(super) const MOST_FILES: usize = 100_000;
/// So many folders may lie in each other.
const DEEPEST: usize = 32;

/// The files of one run.
#[derive(Debug)]
pub(super) struct Folder {
    place: Place,
    /// Each file's name within the run, and its size.
    files: BTreeMap<String, u64>,
    problems: Vec<Problem>,
}

#[derive(Debug)]
enum Place {
    Directory(PathBuf),
    Archive(Box<Archive>),
    Memory(BTreeMap<String, Vec<u8>>),
}

impl Folder {
    /// Takes all files below `root`.
    pub(super) fn directory(root: &Path) -> Result<Self, ImportError> {
        let mut folder = Folder::empty(Place::Directory(root.to_owned()));
        folder.walk(root, "", 0)?;
        Ok(folder)
    }

    /// Takes the files called `names` that lie directly in `root`.
    pub(super) fn some_of(root: &Path, names: Vec<String>) -> Result<Self, ImportError> {
        let mut folder = Folder::empty(Place::Directory(root.to_owned()));
        for name in names {
            let path = root.join(&name);
            let bytes = path.metadata().map_err(|source| ImportError::io(&path, source))?.len();
            folder.files.insert(name, bytes);
        }
        Ok(folder)
    }

    /// Takes the files of a debug bundle in an archive.
    pub(super) fn archive(path: &Path) -> Result<Self, ImportError> {
        let (archive, files, problems) = Archive::open(path)?;
        Ok(Folder { place: Place::Archive(Box::new(archive)), files, problems })
    }

    /// Takes files that are here already.
    pub(super) fn in_memory(files: Vec<(String, Vec<u8>)>) -> Self {
        let files: BTreeMap<_, _> = files.into_iter().collect();
        let sizes = files.iter().map(|(name, bytes)| (name.clone(), bytes.len() as u64)).collect();
        Folder { place: Place::Memory(files), files: sizes, problems: Vec::new() }
    }

    fn empty(place: Place) -> Self {
        Folder { place, files: BTreeMap::new(), problems: Vec::new() }
    }

    fn walk(&mut self, dir: &Path, prefix: &str, depth: usize) -> Result<(), ImportError> {
        let failed = |source| ImportError::io(dir, source);
        for entry in dir.read_dir().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let shown = entry.file_name().to_string_lossy().into_owned();
            let name = format!("{prefix}{shown}");
            let refuse =
                |what: &str| Problem { file: name.clone(), line: None, what: what.to_owned() };
            if entry.file_name().to_str().is_none() {
                self.problems.push(refuse("its name is no text; it was left out"));
            } else if kind.is_dir() && depth < DEEPEST {
                self.walk(&entry.path(), &format!("{name}/"), depth + 1)?;
            } else if kind.is_dir() {
                self.problems.push(refuse("lies too deep; it was left out"));
            } else if !kind.is_file() {
                self.problems.push(refuse("is a link or no plain file; it was left out"));
            } else if self.files.len() >= MOST_FILES {
                self.problems.push(refuse("is one file too many; it was left out"));
                return Ok(());
            } else {
                let bytes = entry.metadata().map_err(failed)?.len();
                self.files.insert(name, bytes);
            }
        }
        Ok(())
    }

    /// Returns the name of each file and its size, in the order of names.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, u64)> {
        self.files.iter().map(|(name, bytes)| (name.as_str(), *bytes))
    }

    /// Returns what was left out, and why.
    pub(super) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns what a file holds; nothing if there is none.
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ImportError> {
        let Some(&bytes) = self.files.get(name) else { return Ok(None) };
        match &self.place {
            Place::Memory(files) => Ok(files.get(name).cloned()),
            Place::Archive(archive) => archive.read(name).map(Some),
            Place::Directory(root) => {
                let path = root.join(name);
                if bytes > MOST_BYTES {
                    return Err(ImportError::TooLarge { path, bytes, limit: MOST_BYTES });
                }
                read_at_most(&path, MOST_BYTES).map(Some)
            }
        }
    }

    /// Returns a document as JSON, if there is one and it is.
    pub(super) fn read_json(&self, name: &str) -> Result<Option<serde_json::Value>, ImportError> {
        Ok(self.read(name)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Returns the name of the directory, for runs that have no other.
    pub(super) fn name(&self) -> Option<String> {
        match &self.place {
            Place::Directory(root) => {
                Some(root.canonicalize().ok()?.file_name()?.to_str()?.to_owned())
            }
            Place::Archive(_) | Place::Memory(_) => None,
        }
    }
}

/// Reads a file that may have grown since somebody looked at its size.
fn read_at_most(path: &Path, limit: u64) -> Result<Vec<u8>, ImportError> {
    let failed = |source| ImportError::io(path, source);
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Reads the beginning of a file.
pub(super) fn head_of(path: &Path, bytes: u64) -> Result<Vec<u8>, ImportError> {
    read_at_most(path, bytes)
}

impl System {
    /// Returns whether its work products lie below `name`: files of the user, not of the recorder.
    pub(super) fn is_work(self, name: &str) -> bool {
        let folders: &[&str] = match self {
            System::Kgent => &["workspace/", "deliverables/", "archive/"],
            System::Wink => &["filesystem/"],
            System::Awf | System::FlowStudio => &[],
        };
        folders.iter().any(|folder| name.starts_with(folder))
    }
}
