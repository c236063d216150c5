//! The files of this repository, as a fresh clone would have them.
//!
//! The tree is walked rather than asked of git, so that the checks also run on an unpacked
//! archive. Of `.gitignore` only the plain names that this repository uses are understood.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::report::Report;

/// Whether generated text is compared or rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Compare, and report what differs.
    Check,
    /// Rewrite what differs.
    Bless,
}

/// The root of the working copy.
#[derive(Debug)]
pub(crate) struct Repository {
    root: PathBuf,
}

impl Repository {
    /// Finds the repository this program was started in by cargo.
    pub(crate) fn here() -> Self {
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let root = package.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
        Repository { root: root.to_owned() }
    }

    /// Returns the root directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the text of a file, or nothing if it is not there or is not text.
    pub(crate) fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.root.join(file)).ok()
    }

    /// Returns the paths of all files below `folder`, relative to the root, with `/`, in order.
    pub(crate) fn files(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let gitignore = self.read(".gitignore").unwrap_or_default();
        let ignored = ignored_paths(&gitignore);
        let mut found = Vec::new();
        self.walk(folder, &ignored, &mut found)?;
        found.sort();
        Ok(found)
    }

    /// Returns the names of the folders in `crates/`, in order.
    pub(crate) fn crates(&self) -> anyhow::Result<Vec<String>> {
        let manifests = self.files("crates")?.into_iter();
        Ok(manifests
            .filter_map(|file| match file.split('/').collect::<Vec<_>>().as_slice() {
                ["crates", folder, "Cargo.toml"] => Some((*folder).to_owned()),
                _ => None,
            })
            .collect())
    }

    /// Makes sure that `file` says `expected`: by rewriting it, or by reporting that it does not.
    pub(crate) fn settle(
        &self,
        file: &str,
        line: usize,
        expected: &str,
        mode: Mode,
        report: &mut Report,
    ) -> anyhow::Result<()> {
        if self.read(file).as_deref() == Some(expected) {
            return Ok(());
        }
        match mode {
            Mode::Check => report.fail(
                file,
                line,
                "differs from what the types generate; run `cargo xtask tidy --bless` and look \
                 at what changed",
            ),
            Mode::Bless => {
                let path = self.root.join(file);
                fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
                fs::write(&path, expected).with_context(|| format!("cannot write {file}"))?;
                println!("{file}: rewritten");
            }
        }
        Ok(())
    }

    fn walk(&self, folder: &str, ignored: &[&str], found: &mut Vec<String>) -> anyhow::Result<()> {
        let path = self.root.join(folder);
        let entries = fs::read_dir(&path).with_context(|| format!("cannot list {path:?}"))?;
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let file = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if file == ".git" || ignored.contains(&file.as_str()) {
                continue;
            }
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.walk(&file, ignored, found)?;
            } else if kind.is_file() {
                found.push(file);
            }
        }
        Ok(())
    }
}

/// Returns the paths that `.gitignore` names from the root.
fn ignored_paths(gitignore: &str) -> Vec<&str> {
    let paths = gitignore.lines().filter_map(|line| line.trim().strip_prefix('/'));
    paths.map(|path| path.trim_end_matches('/')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_paths_are_those_anchored_at_the_root() {
        let text = "# built\n/target\n/fuzz/corpus/\n\n*.log\n";
        assert_eq!(ignored_paths(text), ["target", "fuzz/corpus"]);
    }
}
