//! An expression as a tree: what was read, before anything is looked up.

use super::functions::Function;
use super::lex::Part;
use super::operators::Operator;
use crate::language::template::LoneAction;
use crate::language::{Reference, Value};

/// A part of an expression that has a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Literal(Value),
    /// A text with template actions in it.
    Mixed(Vec<Part>),
    /// A template action that is more than a path.
    Action(LoneAction, usize),
    List(Vec<Node>),
    /// A path from the root of the scope; keys in brackets may be worked out.
    Path(Reference, Vec<Access>),
    /// Something taken from a value that is not a path.
    Taken(Box<Node>, Vec<Access>),
    Not(Box<Node>),
    Negative(Box<Node>, usize),
    Binary {
        operator: Operator,
        left: Box<Node>,
        right: Box<Node>,
        offset: usize,
    },
    Choice {
        condition: Box<Node>,
        yes: Box<Node>,
        no: Box<Node>,
    },
    Call {
        function: Function,
        arguments: Vec<Node>,
        offset: usize,
    },
}

/// One step further into a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Access {
    Name(String),
    Key(Node),
}

impl Node {
    /// Lists what it looks up in the scope, in the order it is written.
    pub(super) fn references(&self, into: &mut Vec<Reference>) {
        match self {
            Node::Literal(_) => {}
            Node::Mixed(parts) => {
                for part in parts {
                    if let Part::Action(action) = part {
                        action.references(into);
                    }
                }
            }
            Node::Action(action, _) => action.references(into),
            Node::List(nodes) | Node::Call { arguments: nodes, .. } => {
                nodes.iter().for_each(|node| node.references(into));
            }
            Node::Path(path, accesses) => {
                into.push(path.clone());
                keys(accesses, into);
            }
            Node::Taken(node, accesses) => {
                node.references(into);
                keys(accesses, into);
            }
            Node::Not(node) | Node::Negative(node, _) => node.references(into),
            Node::Binary { left, right, .. } => {
                left.references(into);
                right.references(into);
            }
            Node::Choice { condition, yes, no } => {
                [condition, yes, no].iter().for_each(|node| node.references(into));
            }
        }
    }
}

fn keys(accesses: &[Access], into: &mut Vec<Reference>) {
    for access in accesses {
        if let Access::Key(node) = access {
            node.references(into);
        }
    }
}
