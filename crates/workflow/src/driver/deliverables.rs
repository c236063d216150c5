//! Whether the files that a run was to make are there.
//!
//! It looks and never changes anything. What does not pass is told; what follows from that is not
//! decided here.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use quipu_event::payload::{DeliverableCheck, DeliverableResult};

/// Why a deliverable does not pass.
enum Fault {
    /// It is not there, or there is nothing in it.
    Missing(&'static str),
    /// It is there and cannot be read.
    Unreadable(String),
    /// It lies outside of the working directory.
    Outside,
}

/// Looks for `required` below `dir`.
pub(super) fn check(dir: &Path, required: &[String]) -> DeliverableCheck {
    let root = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let mut check = DeliverableCheck { required: required.to_vec(), ..DeliverableCheck::default() };
    let (mut is_outside, mut is_unreadable) = (false, false);
    for path in required {
        let why = match look_at(&root, Path::new(path)) {
            Ok(()) => continue,
            Err(Fault::Missing(why)) => {
                check.missing.push(path.clone());
                why.to_owned()
            }
            Err(Fault::Unreadable(why)) => {
                is_unreadable = true;
                why
            }
            Err(Fault::Outside) => {
                is_outside = true;
                "lies outside of the working directory".to_owned()
            }
        };
        check.problems.push(format!("{path}: {why}"));
    }
    check.result = Some(match () {
        () if is_outside => DeliverableResult::Blocked,
        () if is_unreadable => DeliverableResult::Failed,
        () if !check.missing.is_empty() => DeliverableResult::Incomplete,
        () => DeliverableResult::Passed,
    });
    check
}

fn look_at(root: &Path, path: &Path) -> Result<(), Fault> {
    if path.as_os_str().is_empty() {
        return Err(Fault::Missing("has no name"));
    }
    let path = plain(&root.join(path));
    if !path.starts_with(root) {
        return Err(Fault::Outside);
    }
    // A link may lead out where a name does not.
    let real = fs::canonicalize(&path).map_err(|error| fault(&error))?;
    if !real.starts_with(root) {
        return Err(Fault::Outside);
    }
    let found = fs::metadata(&real).map_err(|error| fault(&error))?;
    match is_empty(&real, &found) {
        Ok(true) => Err(Fault::Missing("is empty")),
        Ok(false) => Ok(()),
        Err(error) => Err(fault(&error)),
    }
}

fn is_empty(path: &Path, found: &Metadata) -> io::Result<bool> {
    if found.is_dir() {
        return Ok(fs::read_dir(path)?.next().is_none());
    }
    if !found.is_file() {
        return Err(io::Error::other("is neither a file nor a directory"));
    }
    // Whether it can be read is known when it was opened.
    File::open(path)?;
    Ok(found.len() == 0)
}

fn fault(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Fault::Missing("is not there"),
        _ => Fault::Unreadable(error.to_string()),
    }
}

/// Returns a path without `.` and `..`, as far as its names tell.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_says_what_is_missing_unreadable_and_out_of_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let (root, other) = (dir.path().join("work"), dir.path().join("other"));
        for folder in [root.join("full"), root.join("hollow"), other.clone()] {
            fs::create_dir_all(folder).unwrap();
        }
        for file in [root.join("a.md"), root.join("full/b"), other.join("secret")] {
            fs::write(file, "x").unwrap();
        }
        fs::write(root.join("empty"), "").unwrap();
        std::os::unix::fs::symlink(&other, root.join("way_out")).unwrap();
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
        std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
        let absolute = root.join("a.md").display().to_string();
        let cases: [(&str, &str, bool); 14] = [
            ("a.md", "passed", false),
            ("./full/../a.md", "passed", false),
            ("full", "passed", false),
            (&absolute, "passed", false),
            ("nothing", "incomplete", true),
            ("a.md/below", "incomplete", true),
            ("empty", "incomplete", true),
            ("hollow", "incomplete", true),
            ("", "incomplete", true),
            ("loop", "failed", false),
            ("socket", "failed", false),
            ("../other/secret", "blocked", false),
            ("way_out/secret", "blocked", false),
            ("/etc/hostname", "blocked", false),
        ];
        for (path, result, is_missing) in cases {
            let check = check(&root, &[path.to_owned()]);
            assert_eq!(check.result, Some(DeliverableResult::from(result)), "{path}");
            assert_eq!(check.missing.len(), usize::from(is_missing), "{path}");
            assert_eq!(check.problems.is_empty(), result == "passed", "{path}");
        }
        let all = ["a.md", "empty", "loop"].map(str::to_owned);
        assert_eq!(check(&root, &all).result, Some(DeliverableResult::Failed), "the worst counts");
    }
}
