//! What is wrong with a workflow file, and where.
//!
//! A problem is told, never thrown: whoever checks collects all of them before anyone looks.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One thing that is wrong, or looks wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whether the workflow can be run all the same.
    pub severity: Severity,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What was expected instead.
    pub expected: Option<String>,
    /// What to try: a "did you mean", or where a key belongs.
    pub hint: Option<String>,
}

/// Whether a workflow with a problem can be run all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It cannot.
    Error,
    /// It can.
    Warning,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file.
    pub file: Arc<Path>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// All that is wrong with a file, in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
}

impl Severity {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl Problem {
    /// Returns an error at a place.
    pub(crate) fn error(place: &Place, message: impl Into<String>) -> Self {
        Problem::new(Severity::Error, place, message.into())
    }

    /// Returns a warning at a place.
    pub(crate) fn warning(place: &Place, message: impl Into<String>) -> Self {
        Problem::new(Severity::Warning, place, message.into())
    }

    /// Adds what was expected.
    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Adds what to try, if there is anything.
    pub(crate) fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hint = hint.into();
        self
    }

    fn new(severity: Severity, place: &Place, message: String) -> Self {
        Problem {
            severity,
            file: place.file.to_path_buf(),
            line: place.line,
            column: place.column,
            message,
            expected: None,
            hint: None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { severity, file, line, column, message, .. } = self;
        write!(f, "{}:{line}:{column}: {}: {message}", file.display(), severity.word())?;
        if let Some(expected) = &self.expected {
            write!(f, "; expected {expected}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, " ({hint})")?;
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

impl Problems {
    /// Adds one.
    pub(crate) fn push(&mut self, problem: Problem) {
        self.list.push(problem);
    }

    /// Tells whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Returns the errors.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.list.iter().filter(|problem| problem.severity == Severity::Error)
    }

    /// Returns the warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Problem> {
        self.list.iter().filter(|problem| problem.severity == Severity::Warning)
    }

    /// Returns all of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.list.iter()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Puts them in the order of the file, each once: an alias repeats what its anchor said.
    pub(crate) fn settle(&mut self) {
        self.list.sort_by(|a, b| {
            (&a.file, a.line, a.column, a.severity).cmp(&(&b.file, b.line, b.column, b.severity))
        });
        self.list.dedup();
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Problems {
        Problems { list: vec![problem] }
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'p> IntoIterator for &'p Problems {
    type Item = &'p Problem;
    type IntoIter = std::slice::Iter<'p, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}
