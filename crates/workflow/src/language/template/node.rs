//! A template as a tree: what was read, before anything is filled in.

use crate::language::{Reference, Value};

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// Text of the author.
    Text(String),
    /// A pipeline whose value is filled in.
    Print(Pipeline),
    /// `$x := …` and `$x = …`.
    Set {
        name: String,
        declares: bool,
        pipeline: Pipeline,
    },
    /// `if`, `else if`, `else`.
    If {
        branches: Vec<(Pipeline, Vec<Node>)>,
        otherwise: Vec<Node>,
    },
    /// `range`: over a list, an object or a number.
    Range {
        names: Vec<String>,
        over: Pipeline,
        body: Vec<Node>,
        otherwise: Vec<Node>,
    },
    /// `with`: another dot, when there is one.
    With {
        names: Vec<String>,
        subject: Pipeline,
        body: Vec<Node>,
        otherwise: Vec<Node>,
    },
    Break,
    Continue,
}

/// Commands of which each gets the value of the one before.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pipeline {
    pub(super) commands: Vec<Command>,
    pub(super) offset: usize,
}

/// One command of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command {
    /// A value.
    Operand(Operand),
    /// A function with its arguments.
    Call { function: &'static str, arguments: Vec<Operand>, offset: usize },
}

/// A value, before it is looked up.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Literal(Value),
    /// A path from the root of the scope.
    Path(Reference),
    /// A path from the dot that `range` or `with` set.
    Dot(Reference),
    /// A path from a variable.
    Variable {
        name: String,
        path: Reference,
    },
    /// A pipeline in parentheses, and what is taken from its value.
    Group {
        pipeline: Box<Pipeline>,
        path: Reference,
    },
}

/// Lists what the nodes look up in the scope, in the order it is written.
pub(super) fn references(nodes: &[Node], into: &mut Vec<Reference>) {
    for node in nodes {
        match node {
            Node::Text(_) | Node::Break | Node::Continue => {}
            Node::Print(pipeline) | Node::Set { pipeline, .. } => pipeline.references(into),
            Node::If { branches, otherwise } => {
                for (condition, body) in branches {
                    condition.references(into);
                    references(body, into);
                }
                references(otherwise, into);
            }
            Node::Range { over: subject, body, otherwise, .. }
            | Node::With { subject, body, otherwise, .. } => {
                subject.references(into);
                references(body, into);
                references(otherwise, into);
            }
        }
    }
}

impl Pipeline {
    /// Lists what the pipeline looks up in the scope.
    pub(super) fn references(&self, into: &mut Vec<Reference>) {
        for command in &self.commands {
            match command {
                Command::Operand(operand) => operand.references(into),
                Command::Call { arguments, .. } => {
                    arguments.iter().for_each(|argument| argument.references(into));
                }
            }
        }
    }
}

impl Operand {
    fn references(&self, into: &mut Vec<Reference>) {
        match self {
            Operand::Path(path) => into.push(path.clone()),
            Operand::Group { pipeline, .. } => pipeline.references(into),
            Operand::Literal(_) | Operand::Dot(_) | Operand::Variable { .. } => {}
        }
    }
}
