//! What happened to a plugin, in words.

use std::fmt;

use super::stdio::Program;

/// What happened to a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) reason: String,
    /// What its program said last.
    pub(super) stderr: Option<String>,
}

impl Trouble {
    /// Describes a trouble.
    pub(super) fn new(reason: impl Into<String>) -> Trouble {
        Trouble { reason: reason.into(), stderr: None }
    }

    /// Describes a trouble, with what the program said last.
    pub(super) fn with(reason: impl Into<String>, program: Option<&Program>) -> Trouble {
        let stderr = program.and_then(|program| program.stderr.text());
        Trouble { reason: reason.into(), stderr }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        match &self.stderr {
            Some(said) => write!(f, "; it said last: {said}"),
            None => Ok(()),
        }
    }
}
