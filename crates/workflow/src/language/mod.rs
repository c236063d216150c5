//! The small languages inside a workflow file: templates, expressions, and what a shell may see of them.
//!
//! Pure: everything a text can refer to comes from a [`Scope`] that the caller hands in.

mod expression;
mod lookup;
pub(crate) mod nearest;
mod scope;
mod shell;
mod template;
mod value;

pub use expression::{EvalError, Expression};
pub use scope::{Found, Scope};
pub use shell::{ShellScript, UnsafePlace, protect};
pub use template::{Piece, RenderError, Template};

/// A value of the language: what inputs, results and literals are.
pub type Value = serde_json::Value;

/// A template or expression that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// Where in the text, in bytes.
    pub offset: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

/// A dotted path that a template or expression looks up: `states.build.Output`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its parts, from the namespace inward.
    pub parts: Vec<String>,
    /// Where in the text, in bytes.
    pub offset: usize,
}
