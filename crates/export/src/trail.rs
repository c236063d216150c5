//! A file that others add lines to as well: none is replaced, and none is added twice.
//!
//! The same events always give the same lines. One that is there already is of this run, which is
//! written again because it goes on.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A file of lines that is shared.
#[derive(Debug)]
pub(crate) struct Trail {
    path: &'static str,
    /// What it held at first; nothing before anybody has looked.
    held: Option<BTreeSet<Vec<u8>>>,
}

impl Trail {
    pub(crate) fn new(path: &'static str) -> Self {
        Trail { path, held: None }
    }

    /// Tells whether it is the file at `path`.
    pub(crate) fn is_at(&self, path: &str) -> bool {
        self.path == path
    }

    /// Tells whether `line` was in it before anything was added.
    pub(crate) fn held(&mut self, folder: &Path, line: &[u8]) -> bool {
        let held = self.held.get_or_insert_with(|| {
            // One that cannot be read cannot be added to either, and that is told then.
            let bytes = fs::read(folder.join(self.path)).unwrap_or_default();
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
        });
        held.contains(line)
    }
}
