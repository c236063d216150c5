//! What a template or expression can refer to.

use std::borrow::Cow;

use super::Value;

/// The names that a text can use, and their values.
pub trait Scope {
    /// Looks a dotted path up, part by part: `["states", "build", "Output"]`.
    ///
    /// The scope knows both spellings of its own names (`ExitCode`, `exit_code`). What lies
    /// inside a value (`inputs.user.name`, `states.x.JSON.items`) is found here too.
    fn look_up(&self, path: &[&str]) -> Found<'_>;

    /// Reads a file for the function `readFile`. The error is a fragment for a message.
    fn read_file(&self, path: &str) -> Result<String, String>;
}

/// What a look-up found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found<'a> {
    /// A value.
    Value(Cow<'a, Value>),
    /// Nothing: `part` (an index into the path) is not there. `known` lists what is, for a hint.
    Missing {
        /// Which part of the path is not there.
        part: usize,
        /// The names that are there instead.
        known: Vec<String>,
    },
}
