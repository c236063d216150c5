//! The other files that a workflow can name: workflows it calls, templates its steps are made of.
//!
//! Checking asks for them through this door, and so opens no file itself.

use std::path::{Path, PathBuf};

use super::suggest::did_you_mean;

/// Finds files by name.
pub trait Library {
    /// Finds the workflow that `caller` calls by this name or path.
    fn workflow(&self, name: &str, caller: &Path) -> Result<Document, NotFound>;

    /// Finds the template of steps that `user` uses by this name.
    fn template(&self, name: &str, user: &Path) -> Result<Document, NotFound>;

    /// Returns the names of the plugins that every workflow has.
    fn plugins(&self) -> Vec<String> {
        Vec::new()
    }

    /// Lists where a file that `user` names was looked for, if it is nowhere.
    fn missing(&self, _named: &NamedFile, _user: &Path) -> Option<Vec<PathBuf>> {
        None
    }

    /// Returns what two paths to the same file have in common.
    fn identity(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// A file that a step reads, by a name that is known before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedFile {
    /// A prompt or script, by its path.
    Text(String),
    /// A skill, by its name.
    Skill(String),
    /// A skill, by its path.
    SkillAt(String),
    /// A role, by its name.
    Role(String),
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Where.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// A file that was not found, or could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.told())]
pub struct NotFound {
    /// The name.
    pub name: String,
    /// Where it was looked for, in order.
    pub places: Vec<PathBuf>,
    /// The names that would have been found.
    pub known: Vec<String>,
    /// What went wrong, when the file is there.
    pub cause: Option<String>,
}

impl NotFound {
    /// Returns the name that was most likely meant, as a hint.
    pub fn hint(&self) -> Option<String> {
        did_you_mean(&self.name, self.known.iter().map(String::as_str))
    }

    /// Lists where it was looked for.
    pub fn looked(&self) -> String {
        let places: Vec<String> =
            self.places.iter().map(|place| place.display().to_string()).collect();
        places.join(", ")
    }

    fn told(&self) -> String {
        match &self.cause {
            Some(cause) => format!("`{}` cannot be read: {cause}", self.name),
            None => format!("there is no `{}`; looked for {}", self.name, self.looked()),
        }
    }
}

/// A library without a single file.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLibrary;

impl Library for NoLibrary {
    fn workflow(&self, name: &str, _caller: &Path) -> Result<Document, NotFound> {
        Err(NotFound { name: name.to_owned(), ..NotFound::default() })
    }

    fn template(&self, name: &str, _user: &Path) -> Result<Document, NotFound> {
        Err(NotFound { name: name.to_owned(), ..NotFound::default() })
    }
}
