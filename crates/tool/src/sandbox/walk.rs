//! All that is below a directory, in the order of the names, from open directory to open directory.
//!
//! Links are found and not followed. Ignored is what `.gitignore` and `.ignore` say, if anybody wants
//! that; a version control's own directory always is. The `ignore` crate's own walk goes by path, which
//! a link could bend between two looks; only its matcher is used.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::root::{Place, Root};

/// How deep directories are entered.
const DEEPEST: usize = 100;
/// The longest file of patterns that is believed, in bytes.
const LONGEST_PATTERNS: u64 = 1 << 20;
/// Directories that belong to a version control.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// Something that was found.
pub(crate) struct Found<'a> {
    /// The open directory that it is in.
    pub(crate) dir: &'a Dir,
    /// Its name there.
    pub(crate) name: &'a OsStr,
    /// Where that is.
    pub(crate) place: &'a Place,
    /// What it is.
    pub(crate) kind: FoundKind,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundKind {
    /// A directory.
    Dir,
    /// A link, wherever it leads.
    Link,
    /// A file, or whatever else there is.
    File,
}

/// A walk below a directory.
pub(crate) struct Walk<'a> {
    root: &'a Root,
    /// Patterns and the directory that has them, the innermost last; none are kept if none count.
    ignored: Option<Vec<(PathBuf, Gitignore)>>,
    is_wanted: &'a dyn Fn() -> bool,
}

impl<'a> Walk<'a> {
    /// Makes a walk that finds everything, for as long as it is wanted.
    pub(crate) fn everything(root: &'a Root, is_wanted: &'a dyn Fn() -> bool) -> Walk<'a> {
        Walk { root, ignored: None, is_wanted }
    }

    /// Makes a walk that leaves out what is ignored, for as long as it is wanted.
    pub(crate) fn unignored(root: &'a Root, is_wanted: &'a dyn Fn() -> bool) -> Walk<'a> {
        Walk { root, ignored: Some(Vec::new()), is_wanted }
    }

    /// Shows everything below a directory to `visit`, until it has seen enough.
    pub(crate) fn below(
        mut self,
        dir: &Dir,
        at: &Place,
        visit: &mut dyn FnMut(&Found<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for above in at.path().ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
            let above = Place::new(above);
            if let Ok(dir) = self.root.open_dir(&above) {
                self.read_patterns(&dir, &above);
            }
        }
        self.enter(dir, at, 0, visit)
    }

    fn enter(
        &mut self,
        dir: &Dir,
        at: &Place,
        depth: usize,
        visit: &mut dyn FnMut(&Found<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let kept = self.ignored.as_ref().map(Vec::len);
        self.read_patterns(dir, at);
        for (name, kind) in names_in(dir) {
            if !(self.is_wanted)() {
                return ControlFlow::Break(());
            }
            let place = at.join(Path::new(&name));
            if self.is_ignored(&name, &place, kind) {
                continue;
            }
            visit(&Found { dir, name: &name, place: &place, kind })?;
            // A directory that has become a link meanwhile leads to something in this one, or nowhere.
            if kind == FoundKind::Dir
                && depth < DEEPEST
                && let Ok(inner) = dir.open_dir(&name)
            {
                self.enter(&inner, &place, depth + 1, visit)?;
            }
        }
        if let (Some(ignored), Some(kept)) = (&mut self.ignored, kept) {
            ignored.truncate(kept);
        }
        ControlFlow::Continue(())
    }

    fn read_patterns(&mut self, dir: &Dir, at: &Place) {
        let Some(ignored) = &mut self.ignored else { return };
        let mut builder = GitignoreBuilder::new("");
        for name in [".gitignore", ".ignore"] {
            let place = at.join(Path::new(name));
            let Ok(opened) = self.root.open_found(dir, name.as_ref(), &place) else { continue };
            let mut patterns = Vec::new();
            // What cannot be read ignores nothing.
            let _ = opened.file.take(LONGEST_PATTERNS).read_to_end(&mut patterns);
            for line in String::from_utf8_lossy(&patterns).lines() {
                // A pattern that is none ignores nothing, as it does for git.
                let _ = builder.add_line(None, line);
            }
        }
        if let Ok(patterns) = builder.build()
            && !patterns.is_empty()
        {
            ignored.push((at.path().to_owned(), patterns));
        }
    }

    fn is_ignored(&self, name: &OsStr, place: &Place, kind: FoundKind) -> bool {
        let is_dir = kind == FoundKind::Dir;
        if is_dir && VERSION_CONTROL.iter().any(|known| name == *known) {
            return true;
        }
        let patterns = self.ignored.iter().flatten().rev();
        let verdicts = patterns.map(|(dir, patterns)| {
            let path = place.path().strip_prefix(dir).unwrap_or(place.path());
            patterns.matched(path, is_dir)
        });
        let mut decided = verdicts.filter(|verdict| !verdict.is_none());
        matches!(decided.next(), Some(Match::Ignore(_)))
    }
}

/// Returns what is in a directory. One that cannot be read is empty.
pub(crate) fn names_in(dir: &Dir) -> Vec<(OsString, FoundKind)> {
    let entries = dir.entries().into_iter().flatten().flatten();
    let mut names: Vec<(OsString, FoundKind)> = entries
        .map(|entry| {
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => FoundKind::Dir,
                Ok(kind) if kind.is_symlink() => FoundKind::Link,
                _ => FoundKind::File,
            };
            (entry.file_name(), kind)
        })
        .collect();
    names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    names
}
