//! Expressions: `states.build.ExitCode == 0 and not (inputs.fast)`.
//!
//! Unlike in a template, a name that is not there is null, so that a step can ask whether another
//! ran. A template action in an expression (`{{.inputs.n}} > 3`) is the value that it names.

mod evaluate;
mod functions;
mod lex;
mod node;
mod operators;
mod parse;

use self::node::Node;
use super::{Reference, Scope, SyntaxError, Value};

/// An expression, read and ready to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    node: Node,
}

/// An expression that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// Where in the expression, in bytes.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
}

impl Expression {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        Ok(Expression { text: text.to_owned(), node: parse::parse(text)? })
    }

    /// Returns the text it was read from.
    pub fn source(&self) -> &str {
        &self.text
    }

    /// Works its value out. A name that is not there is null.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<Value, EvalError> {
        evaluate::evaluate(&self.node, scope)
    }

    /// Tells whether it holds: true, a number that is not 0, a text or list that is not empty.
    ///
    /// A text that reads as a truth or a number is taken as that: `"false"` does not hold.
    pub fn holds(&self, scope: &dyn Scope) -> Result<bool, EvalError> {
        self.evaluate(scope).map(|value| evaluate::holds(&value))
    }

    /// Lists what it looks up, in order.
    pub fn references(&self) -> Vec<Reference> {
        let mut found = Vec::new();
        self.node.references(&mut found);
        found
    }
}
