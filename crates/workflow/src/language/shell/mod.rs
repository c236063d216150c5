//! Values in shell commands: each value reaches the shell as data, never as code.
//!
//! A harmless value stands in the script as it is. Any other becomes a variable of the script, so
//! that `;`, `$(…)`, quotes and redirections in it are only letters: between quotes the program gets
//! exactly the value, without quotes the shell splits it into words. Where a shell would evaluate
//! even a variable (arithmetic, subscripts) only whole numbers are taken. A value in place of a command
//! names the program and its arguments, no more. A command that itself takes code (`eval`, `sh -c`,
//! `trap`, `test -v`, `awk`, `ssh`) is the author's own to guard: with `escape`.

mod context;
mod document;
mod frame;
mod protect;
mod word;

use super::Piece;

/// A command for a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellScript {
    /// The command as a person would read it, values filled in as they are.
    pub shown: String,
    /// The command as the shell gets it: the same, with every value kept from being code.
    pub run: String,
}

/// A place in a command where no value can be put safely.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UnsafePlace {
    /// What is wrong.
    pub message: String,
}

/// Makes a shell command of a filled-in template.
pub fn protect(pieces: &[Piece<'_>]) -> Result<ShellScript, UnsafePlace> {
    protect::protect(pieces)
}
