//! The root of a call, and places in it.

use std::borrow::Cow;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::nearby::name_like;
use super::trouble::{Refusal, Trouble, is_escape, is_link_trouble};

/// An open directory that everything is resolved from.
pub(crate) struct Root {
    pub(super) dir: Dir,
    given: PathBuf,
}

/// A path from the root on. It may still lead outside: only opening it tells.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    path: PathBuf,
}

impl Root {
    /// Opens the directory that a call works in.
    pub(crate) fn open(root: &Path) -> Result<Root, Trouble> {
        let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(|cause| {
            let root = root.display();
            Trouble::Failed(format!("{root}: the directory to work in cannot be opened: {cause}"))
        })?;
        Ok(Root { dir, given: root.to_owned() })
    }

    /// Returns the place that a path means: one relative to the root, or an absolute one within.
    pub(crate) fn place(&self, asked: &str) -> Result<Place, Trouble> {
        if asked.is_empty() {
            return Err(Trouble::Failed("the path is empty".to_owned()));
        }
        let path = Path::new(asked);
        if !path.is_absolute() {
            return Ok(Place::new(path));
        }
        if let Ok(rest) = path.strip_prefix(&self.given) {
            return Ok(Place::new(rest));
        }
        let canonical = self.given.canonicalize().unwrap_or_default();
        match path.strip_prefix(&canonical) {
            Ok(rest) if canonical.is_absolute() => Ok(Place::new(rest)),
            _ => Err(Trouble::Refused { file: asked.to_owned(), why: Refusal::Outside }),
        }
    }

    /// Opens a directory.
    pub(crate) fn open_dir(&self, place: &Place) -> Result<Dir, Trouble> {
        self.dir.open_dir(place.path()).map_err(|cause| self.explain(place, cause))
    }

    /// Returns the same place without links and detours, if it is there.
    pub(crate) fn straightened(&self, place: Place) -> Place {
        self.dir.canonicalize(place.path()).map_or(place, |path| Place::new(&path))
    }

    /// Returns the open directory.
    pub(crate) fn into_std_file(self) -> std::fs::File {
        self.dir.into_std_file()
    }

    /// Says what is wrong with a place that could not be opened.
    pub(super) fn explain(&self, place: &Place, cause: io::Error) -> Trouble {
        let file = place.to_string();
        let is_missing =
            matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        if is_escape(&cause) || (is_missing && place.leaves()) {
            return Trouble::Refused { file, why: Refusal::Outside };
        }
        if is_link_trouble(&cause) {
            return Trouble::Refused { file, why: Refusal::Links };
        }
        if cause.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) {
            let why = Refusal::NotRegular { what: "socket or a device without a driver" };
            return Trouble::Refused { file, why };
        }
        match cause.kind() {
            io::ErrorKind::NotFound => Trouble::Failed(self.missing(place)),
            io::ErrorKind::NotADirectory => Trouble::Failed(format!("{file}: not a directory")),
            _ => Trouble::Failed(format!("{file}: {cause}")),
        }
    }

    fn missing(&self, place: &Place) -> String {
        let (parent, name) = place.split();
        let Some(name) = name else { return format!("{place}: no such directory") };
        let Ok(dir) = self.dir.open_dir(parent.path()) else {
            return format!("{place}: no such file or directory (there is no directory {parent})");
        };
        match name_like(&dir, name) {
            Some(like) => {
                format!(
                    "{place}: no such file or directory (did you mean {}?)",
                    parent.join(Path::new(&like))
                )
            }
            None => format!("{place}: no such file or directory"),
        }
    }
}

impl Place {
    /// Returns the place of a relative path.
    pub(crate) fn new(path: &Path) -> Place {
        let parts = path.components().filter(|part| *part != Component::CurDir);
        let path: PathBuf = parts.collect();
        Place { path: if path.as_os_str().is_empty() { ".".into() } else { path } }
    }

    /// Returns the root itself.
    pub(crate) fn root() -> Place {
        Place::new(Path::new("."))
    }

    /// Returns the path, relative to the root.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a place below or beside this one.
    pub(crate) fn join(&self, path: &Path) -> Place {
        Place::new(&self.path.join(path))
    }

    /// Returns where it is and its name there; no name if it is named by a way to it.
    pub(crate) fn split(&self) -> (Place, Option<&std::ffi::OsStr>) {
        let parent = self.path.parent().unwrap_or(Path::new("."));
        (Place::new(parent), self.path.file_name())
    }

    /// Tells whether the words alone lead outside, were there no links.
    pub(super) fn leaves(&self) -> bool {
        let mut depth = 0_i64;
        self.path.components().any(|part| {
            match part {
                Component::ParentDir => depth -= 1,
                Component::Normal(_) => depth += 1,
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
            depth < 0
        })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text: Cow<'_, str> = self.path.to_string_lossy();
        f.write_str(&text)
    }
}
