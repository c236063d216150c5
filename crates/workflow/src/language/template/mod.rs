//! Templates: text with `{{ … }}` in it, the part of Go's `text/template` that workflows use.
//!
//! A value that is missing is an error, never an empty text; a value that is null is empty. Paths
//! are written with or without the leading dot, and a name may hold a dash (`states.my-step`).

mod functions;
mod lex;
mod mend;
mod node;
mod operand;
mod parse;
mod printf;
mod render;

use std::borrow::Cow;

use self::node::{Command, Node, Operand, Pipeline};
use super::{Reference, Scope, SyntaxError, Value};

/// How many errors of one template are told: nobody reads more.
const MOST_ERRORS: usize = 20;

/// A template, read and ready to be filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    text: String,
    nodes: Vec<Node>,
}

/// A piece of a filled-in template: which part of the result the author wrote, and which is a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// What the author wrote.
    Literal(&'a str),
    /// What was filled in.
    Value(String),
    /// What was filled in through `escape`, before it was quoted: one word for a shell.
    Quoted(String),
}

/// A template that could not be filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RenderError {
    /// Where in the template, in bytes.
    pub offset: usize,
    /// What is missing or wrong: names the key.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
    /// Whether a value is missing, rather than something done wrong with one.
    pub is_missing: bool,
}

impl Piece<'_> {
    /// Returns its text: what stands in the filled-in template.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Piece::Literal(text) => Cow::Borrowed(text),
            Piece::Value(text) => Cow::Borrowed(text),
            Piece::Quoted(raw) => Cow::Owned(quote_word(raw)),
        }
    }
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        Ok(Template { text: text.to_owned(), nodes: parse::parse(text)? })
    }

    /// Reads a template as far as it can be read, and says all that is wrong with it.
    ///
    /// Each action that is wrong is passed by; places in the text stay what they are.
    pub fn parse_all(text: &str) -> (Option<Self>, Vec<SyntaxError>) {
        let mut rest = text.to_owned();
        let mut errors: Vec<SyntaxError> = Vec::new();
        loop {
            let error = match Template::parse(&rest) {
                Ok(template) => return (Some(template), errors),
                Err(error) => error,
            };
            if errors.contains(&error) {
                return (None, errors);
            }
            let passed = mend::pass_by(&rest, error.offset);
            errors.push(error);
            match passed {
                Some(passed) if errors.len() < MOST_ERRORS => rest = passed,
                _ => return (None, errors),
            }
        }
    }

    /// Returns the text it was read from.
    pub fn source(&self) -> &str {
        &self.text
    }

    /// Tells whether nothing is to be filled in.
    pub fn is_literal(&self) -> bool {
        self.nodes.iter().all(|node| matches!(node, Node::Text(_)))
    }

    /// Fills it in.
    pub fn render(&self, scope: &dyn Scope) -> Result<String, RenderError> {
        let mut text = String::new();
        for piece in self.pieces(scope)? {
            text.push_str(&piece.text());
        }
        Ok(text)
    }

    /// Fills it in and says which piece came from where.
    pub fn pieces(&self, scope: &dyn Scope) -> Result<Vec<Piece<'_>>, RenderError> {
        render::render(&self.nodes, scope)
    }

    /// Returns the value itself, not its text, when the whole template is one action.
    ///
    /// `items: "{{.inputs.files}}"` then keeps its list, and `retries: "{{.inputs.n}}"` its number.
    pub fn value(&self, scope: &dyn Scope) -> Result<Value, RenderError> {
        match self.nodes.as_slice() {
            [Node::Print(pipeline)] => render::evaluate(pipeline, scope),
            _ => self.render(scope).map(Value::String),
        }
    }

    /// Lists what it looks up, in order.
    pub fn references(&self) -> Vec<Reference> {
        let mut found = Vec::new();
        node::references(&self.nodes, &mut found);
        found
    }
}

/// One `{{ … }}` that stands inside something else than a template: an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LoneAction {
    pipeline: Pipeline,
}

impl LoneAction {
    /// Reads the action at `start`, and says where it ends.
    pub(super) fn read(source: &str, start: usize) -> Result<(Self, usize), SyntaxError> {
        let (pipeline, end) = parse::parse_action(source, start)?;
        Ok((LoneAction { pipeline }, end))
    }

    /// Works its value out. What is missing is null, as everywhere in an expression.
    pub(super) fn evaluate(&self, scope: &dyn Scope) -> Result<Value, RenderError> {
        match render::evaluate(&self.pipeline, scope) {
            Err(error) if error.is_missing => Ok(Value::Null),
            other => other,
        }
    }

    /// Returns the path, if it is nothing but one.
    pub(super) fn path(&self) -> Option<&Reference> {
        match self.pipeline.commands.as_slice() {
            [Command::Operand(Operand::Path(path))] => Some(path),
            _ => None,
        }
    }

    /// Lists what it looks up.
    pub(super) fn references(&self, into: &mut Vec<Reference>) {
        self.pipeline.references(into);
    }
}

/// Returns a text as one word for a POSIX shell: in single quotes.
pub(super) fn quote_word(raw: &str) -> String {
    format!("'{}'", raw.replace('\'', r"'\''"))
}
