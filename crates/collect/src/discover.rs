//! Which session files there are: folders are walked, patterns compared, nothing is opened.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use quipu_event::Timestamp;
use quipu_provider::{Provider, Surface};

use crate::homes::Root;

/// A session file as a folder shows it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) provider: &'static Provider,
    pub(crate) surface: &'static Surface,
    pub(crate) path: PathBuf,
    pub(crate) stamp: FileStamp,
    /// When the file came to be, as far as the file system knows.
    pub(crate) born: SystemTime,
}

/// What changes when a file does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileStamp {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) modified_ns: i128,
}

impl FileStamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified_ns =
            i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
        FileStamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified_ns,
        }
    }
}

impl FileStamp {
    /// Returns when the file was last written.
    pub(crate) fn modified(&self) -> Timestamp {
        Timestamp::from_micros(i64::try_from(self.modified_ns / 1_000).unwrap_or_default())
    }
}

/// Finds the files of `roots`, each once, in a stable order.
pub(crate) fn discover(roots: &[Root]) -> Vec<Found> {
    let mut found = Vec::new();
    for root in roots {
        let pattern: Vec<&str> = root.files.pattern.split('/').collect();
        walk(&root.folder, &pattern, &mut |path| found.extend(look(root, path)));
    }
    let mut seen = HashSet::new();
    found.retain(|found: &Found| seen.insert((found.stamp.device, found.stamp.inode)));
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Returns what lies at `path` if one of `roots` looks for such files there.
pub(crate) fn look_at(roots: &[Root], path: &Path) -> Option<Found> {
    let root = roots.iter().find(|root| {
        let below = path.strip_prefix(&root.folder).ok().and_then(Path::to_str);
        below.is_some_and(|below| {
            let names: Vec<&str> = below.split('/').collect();
            let pattern: Vec<&str> = root.files.pattern.split('/').collect();
            fits_path(&pattern, &names)
        })
    })?;
    look(root, path.to_owned())
}

fn look(root: &Root, path: PathBuf) -> Option<Found> {
    let metadata = fs::metadata(&path).ok().filter(Metadata::is_file)?;
    let surface = root.provider.find_surface(root.files.surface)?;
    let stamp = FileStamp::of(&metadata);
    let born =
        metadata.created().or_else(|_| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    Some(Found { provider: root.provider, surface, path, stamp, born })
}

/// Hands on the files below `folder` that fit `pattern`. What cannot be read is not there.
fn walk(folder: &Path, pattern: &[&str], found: &mut impl FnMut(PathBuf)) {
    let Some((first, rest)) = pattern.split_first() else { return };
    if !first.contains('*') && !rest.is_empty() {
        return walk(&folder.join(first), rest, found);
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let is_folder = entry.file_type().is_ok_and(|kind| {
            // Folders may be links to elsewhere; a circle of them ends with the pattern.
            kind.is_dir() || kind.is_symlink() && *first != "**" && entry.path().is_dir()
        });
        match *first {
            "**" if is_folder => walk(&entry.path(), pattern, found),
            "**" => {
                if let [last] = rest
                    && fits(last, name)
                {
                    found(entry.path());
                }
            }
            first if !fits(first, name) => {}
            _ if rest.is_empty() && !is_folder => found(entry.path()),
            _ if is_folder => walk(&entry.path(), rest, found),
            _ => {}
        }
    }
}

fn fits_path(pattern: &[&str], names: &[&str]) -> bool {
    match (pattern, names) {
        ([], []) => true,
        (["**", rest @ ..], _) => {
            (0..=names.len()).any(|skipped| fits_path(rest, &names[skipped..]))
        }
        ([first, rest @ ..], [name, others @ ..]) => fits(first, name) && fits_path(rest, others),
        _ => false,
    }
}

/// Tells whether `name` fits `pattern`, in which `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(head) else { return false };
    rest.char_indices()
        .map(|(at, _)| at)
        .chain([rest.len()])
        .any(|at| rest.is_char_boundary(at) && fits(tail, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_within_a_name() {
        let cases = [
            ("*.jsonl", "a.jsonl", true),
            ("*.jsonl", "a.json", false),
            ("agent-*.jsonl", "agent-.jsonl", true),
            ("rollout-*.jsonl", "rollout-x.jsonl.zst", false),
            ("*", "", true),
            ("a*b*c", "a.b.b.c", true),
            ("a*b*c", "abd", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn two_stars_stand_for_any_folders() {
        let cases = [
            ("s/**/r-*", "s/2026/01/r-1", true),
            ("s/**/r-*", "s/r-1", true),
            ("s/**/r-*", "s/2026/x", false),
            ("s/*/r", "s/a/b/r", false),
        ];
        for (pattern, path, expected) in cases {
            let (pattern, path): (Vec<_>, Vec<_>) =
                (pattern.split('/').collect(), path.split('/').collect());
            assert_eq!(fits_path(&pattern, &path), expected, "{pattern:?} {path:?}");
        }
    }
}
