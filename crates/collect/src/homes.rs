//! Where on this machine agents leave their sessions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use quipu_provider::{PROVIDERS, Provider, SessionFiles};

/// Where agents have their homes: below the user's own, or where a variable says.
#[derive(Clone, Debug)]
pub struct Homes {
    user: PathBuf,
    obeys_variables: bool,
}

/// A folder, and what session files may lie below it.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub(crate) provider: &'static Provider,
    pub(crate) files: &'static SessionFiles,
    pub(crate) folder: PathBuf,
}

impl Homes {
    /// The homes of whoever runs this, as the environment has them.
    ///
    /// Nothing if the user has no home.
    pub fn of_user() -> Option<Self> {
        let user = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
        Some(Homes { user: user.into(), obeys_variables: true })
    }

    /// The homes below another user's home, such as a copy of one. Variables mean nothing there.
    pub fn below(user: impl Into<PathBuf>) -> Self {
        Homes { user: user.into(), obeys_variables: false }
    }

    /// Returns the user's home.
    pub fn user(&self) -> &Path {
        &self.user
    }

    /// Returns the folders of `providers`, each once for each of its patterns.
    pub(crate) fn roots(&self, providers: &[&'static Provider]) -> Vec<Root> {
        let mut roots = Vec::new();
        for provider in providers {
            for files in provider.files {
                for folder in self.folders(files) {
                    roots.push(Root { provider, files, folder });
                }
            }
        }
        roots
    }

    fn folders(&self, files: &SessionFiles) -> Vec<PathBuf> {
        let moved = files
            .home_variable
            .filter(|_| self.obeys_variables)
            .and_then(std::env::var_os)
            .filter(|value| !value.is_empty());
        match moved {
            Some(value) => divide(value),
            None => vec![self.user.join(files.home)],
        }
    }
}

/// Returns the providers whose sessions can be found on a disk.
pub fn collectable() -> Vec<&'static Provider> {
    PROVIDERS.iter().copied().filter(|provider| !provider.files.is_empty()).collect()
}

/// A variable may name several folders, with commas between them.
fn divide(value: OsString) -> Vec<PathBuf> {
    match value.to_str() {
        Some(text) if text.contains(',') && !Path::new(text).is_dir() => {
            text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Into::into).collect()
        }
        _ => vec![value.into()],
    }
}
