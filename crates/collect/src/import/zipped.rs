//! A debug bundle in an archive. Entries are read into memory, bounded; nothing is unpacked.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use zip::ZipArchive;

use super::Problem;
use super::error::ImportError;
use super::folder::MOST_FILES;

/// One entry may be this large once it is unpacked.
const MOST_BYTES: u64 = 256 << 20;

/// An archive, and which entry has which name.
#[derive(Debug)]
pub(super) struct Archive {
    path: PathBuf,
    zip: Mutex<ZipArchive<BufReader<File>>>,
    entries: BTreeMap<String, usize>,
}

type Opened = (Archive, BTreeMap<String, u64>, Vec<Problem>);

impl Archive {
    /// Opens the archive and lists the files below the folder that has the manifest.
    pub(super) fn open(path: &Path) -> Result<Opened, ImportError> {
        let bad = |what: String| ImportError::Archive { path: path.to_owned(), what };
        let file = File::open(path).map_err(|source| ImportError::io(path, source))?;
        let mut zip =
            ZipArchive::new(BufReader::new(file)).map_err(|error| bad(error.to_string()))?;
        if zip.len() > MOST_FILES {
            return Err(bad(format!("it has {} entries", zip.len())));
        }
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        for at in 0..zip.len() {
            let entry = zip.by_index_raw(at).map_err(|error| bad(error.to_string()))?;
            let (name, bytes) =
                (entry.name().map_err(|e| bad(e.to_string()))?.to_string(), entry.size());
            if entry.is_dir() {
                continue;
            }
            if is_safe(&name) && entry.is_file() {
                found.push((name, at, bytes));
            } else {
                let what = "is no plain file with a plain name; it was left out".to_owned();
                problems.push(Problem { file: name, line: None, what });
            }
        }
        let root = root_of(&found);
        let inside = found.into_iter().filter_map(|(name, at, bytes)| {
            Some((name.strip_prefix(&root)?.to_owned(), at, bytes))
        });
        let (mut entries, mut sizes) = (BTreeMap::new(), BTreeMap::new());
        for (name, at, bytes) in inside {
            if entries.insert(name.clone(), at).is_some() {
                let what = "stands twice in the archive; the last one counts".to_owned();
                problems.push(Problem { file: name.clone(), line: None, what });
            }
            sizes.insert(name, bytes);
        }
        Ok((Archive { path: path.to_owned(), zip: Mutex::new(zip), entries }, sizes, problems))
    }

    /// Returns what an entry holds.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, ImportError> {
        let bad = |what: String| ImportError::Archive { path: self.path.clone(), what };
        let Some(&at) = self.entries.get(name) else { return Ok(Vec::new()) };
        let mut zip = self.zip.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let entry = zip.by_index(at).map_err(|error| bad(format!("{name}: {error}")))?;
        let mut bytes = Vec::new();
        // What an entry says of its size is not believed.
        let read = entry.take(MOST_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| bad(format!("{name}: {error}")))?;
        if bytes.len() as u64 > MOST_BYTES {
            let path = self.path.join(name);
            return Err(ImportError::TooLarge {
                path,
                bytes: bytes.len() as u64,
                limit: MOST_BYTES,
            });
        }
        Ok(bytes)
    }
}

/// A name may be shown and recorded, so it should at least not pretend to lie elsewhere.
fn is_safe(name: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    !name.contains(['\\', '\0']) && name.split('/').all(plain)
}

/// Returns what stands before `manifest.json`, where that lies highest.
fn root_of(found: &[(String, usize, u64)]) -> String {
    let roots = found.iter().filter_map(|(name, ..)| name.strip_suffix("manifest.json"));
    let roots = roots.filter(|root| root.is_empty() || root.ends_with('/'));
    roots.min_by_key(|root| root.len()).unwrap_or_default().to_owned()
}
