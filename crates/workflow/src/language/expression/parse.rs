//! Tokens → tree, by how tightly operators bind.

use super::functions::Function;
use super::lex::{Token, TokenKind, error, tokens};
use super::node::{Access, Node};
use super::operators::{NOT, Operator, SIGN, pattern};
use crate::language::nearest::nearest;
use crate::language::{Reference, SyntaxError, Value};

/// Reads a whole expression.
pub(super) fn parse(source: &str) -> Result<Node, SyntaxError> {
    let tokens = tokens(source)?;
    let mut reader = Reader { tokens: &tokens, position: 0, depth: 0 };
    let node = reader.expression(0)?;
    match &reader.peek().kind {
        TokenKind::End => Ok(node),
        found => {
            Err(error(reader.peek().offset, format!("expected an operator, found {}", show(found))))
        }
    }
}

// Deeper is a mistake, and would cost the stack. An operator chain also makes the tree deeper.
const DEEPEST: usize = 200;

struct Reader<'a> {
    tokens: &'a [Token],
    position: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> &'a Token {
        &self.tokens[self.position.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> &'a Token {
        let token = self.peek();
        self.position += 1;
        token
    }

    fn is(&self, mark: &str) -> bool {
        matches!(&self.peek().kind, TokenKind::Mark(found) if *found == mark)
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        self.position += usize::from(found);
        found
    }

    fn expect(&mut self, mark: &str) -> Result<(), SyntaxError> {
        if self.take(mark) {
            return Ok(());
        }
        let token = self.peek();
        Err(error(token.offset, format!("expected `{mark}`, found {}", show(&token.kind))))
    }

    fn expression(&mut self, least: u8) -> Result<Node, SyntaxError> {
        let depth = self.depth;
        self.deeper()?;
        let mut left = self.prefix()?;
        while let Some((operator, negated, offset)) = self.operator(least) {
            self.deeper()?;
            // A power takes the next power with it: 2 ** 3 ** 2 is 2 ** 9.
            let bound = operator.binding() + u8::from(operator != Operator::Power);
            let right_offset = self.peek().offset;
            let right = self.expression(bound)?;
            check_pattern(operator, &right, right_offset)?;
            left = Node::Binary { operator, left: Box::new(left), right: Box::new(right), offset };
            if negated {
                left = Node::Not(Box::new(left));
            }
        }
        if least == 0 && self.take("?") {
            let yes = self.expression(0)?;
            self.expect(":")?;
            let no = self.expression(0)?;
            left = Node::Choice { condition: Box::new(left), yes: Box::new(yes), no: Box::new(no) };
        }
        self.depth = depth;
        Ok(left)
    }

    fn deeper(&mut self) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(error(
                self.peek().offset,
                format!("the expression nests deeper than {DEEPEST}"),
            ));
        }
        Ok(())
    }

    // Takes the next operator if it binds tightly enough, with the `not` before it.
    fn operator(&mut self, least: u8) -> Option<(Operator, bool, usize)> {
        let word = |token: &'a Token| match &token.kind {
            TokenKind::Mark(mark) => Some(*mark),
            TokenKind::Name(name) => Some(name.as_str()),
            _ => None,
        };
        let token = self.peek();
        let negated = word(token)? == "not";
        let operator = match negated {
            true => Operator::named(word(self.tokens.get(self.position + 1)?)?)
                .filter(|operator| operator.can_be_negated())?,
            false => Operator::named(word(token)?)?,
        };
        if operator.binding() < least {
            return None;
        }
        self.position += 1 + usize::from(negated);
        Some((operator, negated, token.offset))
    }

    fn prefix(&mut self) -> Result<Node, SyntaxError> {
        let token = self.next();
        let offset = token.offset;
        let node = match &token.kind {
            TokenKind::Literal(value) => Node::Literal(value.clone()),
            TokenKind::Mixed(parts) => Node::Mixed(parts.clone()),
            TokenKind::Action(action) => match action.path() {
                Some(path) if !path.parts.is_empty() => Node::Path(path.clone(), Vec::new()),
                _ => Node::Action(action.clone(), offset),
            },
            TokenKind::Mark("!") => return Ok(Node::Not(Box::new(self.expression(NOT)?))),
            TokenKind::Name(name) if name == "not" => {
                return Ok(Node::Not(Box::new(self.expression(NOT)?)));
            }
            TokenKind::Mark("-") => {
                return Ok(Node::Negative(Box::new(self.expression(SIGN)?), offset));
            }
            TokenKind::Mark("+") => return self.expression(SIGN),
            TokenKind::Mark("(") => {
                let inner = self.expression(0)?;
                self.expect(")")?;
                inner
            }
            TokenKind::Mark("[") => Node::List(self.until("]")?),
            // The leading dot of a template's path is welcome here too.
            TokenKind::Mark(".") => match &self.next().kind {
                TokenKind::Name(name) => path(name, offset),
                found => {
                    return Err(error(
                        offset,
                        format!("expected a name after `.`, found {}", show(found)),
                    ));
                }
            },
            TokenKind::Name(name) => self.named(name, offset)?,
            found => return Err(error(offset, format!("expected a value, found {}", show(found)))),
        };
        self.accesses(node)
    }

    fn named(&mut self, name: &str, offset: usize) -> Result<Node, SyntaxError> {
        let literal = match name {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "nil" | "null" => Value::Null,
            _ if self.is("(") => return self.call(name, offset),
            _ if Operator::named(name).is_some() => {
                return Err(error(offset, format!("expected a value before `{name}`")));
            }
            _ => return Ok(path(name, offset)),
        };
        Ok(Node::Literal(literal))
    }

    fn call(&mut self, name: &str, offset: usize) -> Result<Node, SyntaxError> {
        let Some(function) = Function::named(name) else {
            let hint = match nearest(name, Function::names()) {
                Some(near) => format!(": did you mean `{near}`?"),
                None => String::new(),
            };
            return Err(error(offset, format!("`{name}` is not a function{hint}")));
        };
        self.expect("(")?;
        let arguments = self.until(")")?;
        if !(function.least..=function.most).contains(&arguments.len()) {
            let (least, count) = (function.least, arguments.len());
            let message = format!("`{name}` takes {least} arguments, not {count}");
            return Err(error(offset, message));
        }
        Ok(Node::Call { function, arguments, offset })
    }

    fn until(&mut self, close: &str) -> Result<Vec<Node>, SyntaxError> {
        let mut nodes = Vec::new();
        while !self.take(close) {
            if !nodes.is_empty() {
                self.expect(",")?;
                if self.take(close) {
                    break;
                }
            }
            nodes.push(self.expression(0)?);
        }
        Ok(nodes)
    }

    fn accesses(&mut self, node: Node) -> Result<Node, SyntaxError> {
        let mut steps = Vec::new();
        loop {
            if self.take(".") || self.take("?.") {
                steps.push(self.member()?);
            } else if self.take("[") {
                let key = self.expression(0)?;
                self.expect("]")?;
                steps.push(match key {
                    Node::Literal(Value::String(text)) => Access::Name(text),
                    key => Access::Key(key),
                });
            } else if self.is("(") && matches!(node, Node::Path(..)) && !steps.is_empty() {
                // `workflow.Duration()`: what is a method elsewhere is a plain value here.
                self.position += 1;
                self.expect(")")?;
            } else {
                break;
            }
        }
        Ok(attach(node, steps))
    }

    fn member(&mut self) -> Result<Access, SyntaxError> {
        if self.is("[") {
            self.position += 1;
            let key = self.expression(0)?;
            self.expect("]")?;
            return Ok(Access::Key(key));
        }
        let token = self.next();
        match &token.kind {
            TokenKind::Name(name) => Ok(Access::Name(name.clone())),
            TokenKind::Literal(Value::Number(position)) => Ok(Access::Name(position.to_string())),
            found => Err(error(
                token.offset,
                format!("expected a name after `.`, found {}", show(found)),
            )),
        }
    }
}

fn path(name: &str, offset: usize) -> Node {
    Node::Path(Reference { parts: vec![name.to_owned()], offset }, Vec::new())
}

// Names up to the first key that must be worked out are the path, which can be checked beforehand.
fn attach(node: Node, steps: Vec<Access>) -> Node {
    if steps.is_empty() {
        return node;
    }
    let Node::Path(mut path, mut accesses) = node else {
        return Node::Taken(Box::new(node), steps);
    };
    for step in steps {
        match step {
            Access::Name(name) if accesses.is_empty() => path.parts.push(name),
            step => accesses.push(step),
        }
    }
    Node::Path(path, accesses)
}

fn check_pattern(operator: Operator, right: &Node, offset: usize) -> Result<(), SyntaxError> {
    match (operator, right) {
        (Operator::Matches, Node::Literal(Value::String(text))) => {
            pattern(text).map(|_| ()).map_err(|message| error(offset, message))
        }
        _ => Ok(()),
    }
}

fn show(found: &TokenKind) -> String {
    match found {
        TokenKind::Literal(value) => format!("`{value}`"),
        TokenKind::Mixed(_) => "a text".to_owned(),
        TokenKind::Action(_) => "`{{`".to_owned(),
        TokenKind::Name(name) => format!("`{name}`"),
        TokenKind::Mark(mark) => format!("`{mark}`"),
        TokenKind::End => "the end".to_owned(),
    }
}
