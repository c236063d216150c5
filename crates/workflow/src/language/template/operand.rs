//! The inside of an action → a pipeline: paths, literals, calls, parentheses.

use super::functions;
use super::lex::{Action, Token, TokenKind, error};
use super::node::{Command, Operand, Pipeline};
use super::parse::DEEPEST;
use crate::language::nearest::nearest;
use crate::language::{Reference, SyntaxError, Value};

/// Reads the tokens of one action.
pub(super) struct OperandReader<'a> {
    tokens: &'a [Token],
    position: usize,
    /// Where the action ends, for messages about what is missing there.
    end: usize,
    dot_is_root: bool,
    variables: &'a [String],
    depth: usize,
}

impl<'a> OperandReader<'a> {
    /// Starts after the first `skip` tokens.
    pub(super) fn new(
        action: &'a Action,
        skip: usize,
        dot_is_root: bool,
        variables: &'a [String],
    ) -> Self {
        let end = action.end.saturating_sub(2);
        OperandReader {
            tokens: &action.tokens,
            position: skip,
            end,
            dot_is_root,
            variables,
            depth: 0,
        }
    }

    /// Reads one pipeline that takes up all the tokens.
    pub(super) fn whole(mut self) -> Result<Pipeline, SyntaxError> {
        let pipeline = self.pipeline()?;
        match self.peek() {
            None => Ok(pipeline),
            Some(token) => Err(error(token.offset, "unexpected word: expected `|` or `}}`")),
        }
    }

    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.position)
    }

    fn offset(&self) -> usize {
        self.peek().map_or(self.end, |token| token.offset)
    }

    fn pipeline(&mut self) -> Result<Pipeline, SyntaxError> {
        let offset = self.offset();
        let mut commands = vec![self.command()?];
        while self.peek().is_some_and(|token| token.kind == TokenKind::Pipe) {
            self.position += 1;
            let start = self.offset();
            match self.command()? {
                call @ Command::Call { .. } => commands.push(call),
                Command::Operand(_) => return Err(error(start, "expected a function after `|`")),
            }
        }
        Ok(Pipeline { commands, offset })
    }

    fn command(&mut self) -> Result<Command, SyntaxError> {
        let offset = self.offset();
        if let Some(TokenKind::Name(parts)) = self.peek().map(|token| &token.kind)
            && let [name] = parts.as_slice()
            && let Some(function) = functions::known(name)
        {
            self.position += 1;
            let mut arguments = Vec::new();
            while self.peek().is_some_and(starts_operand) {
                arguments.push(self.operand()?);
            }
            return Ok(call(function, arguments, offset));
        }
        let operand = self.operand()?;
        match self.peek().filter(|token| starts_operand(token)) {
            None => Ok(Command::Operand(operand)),
            Some(_) => Err(self.not_a_function(offset, &operand)),
        }
    }

    fn not_a_function(&self, offset: usize, operand: &Operand) -> SyntaxError {
        let Operand::Path(path) = operand else {
            return error(offset, "a value cannot be called: expected a function");
        };
        let name = path.parts.join(".");
        match nearest(&name, functions::names()) {
            Some(near) => {
                error(offset, format!("`{name}` is not a function: did you mean `{near}`?"))
            }
            None => error(offset, format!("`{name}` is not a function")),
        }
    }

    fn operand(&mut self) -> Result<Operand, SyntaxError> {
        let Some(token) = self.peek() else {
            return Err(error(self.end, "expected a value"));
        };
        self.position += 1;
        let offset = token.offset;
        let path = |parts: &[String]| Reference { parts: parts.to_vec(), offset };
        Ok(match &token.kind {
            TokenKind::Literal(value) => Operand::Literal(value.clone()),
            TokenKind::Field(parts) if self.dot_is_root => Operand::Path(path(parts)),
            TokenKind::Field(parts) => Operand::Dot(path(parts)),
            TokenKind::Variable(name, parts) if name.is_empty() => Operand::Path(path(parts)),
            TokenKind::Variable(name, parts) => {
                if !self.variables.contains(name) {
                    return Err(error(offset, format!("`${name}` was never declared")));
                }
                Operand::Variable { name: name.clone(), path: path(parts) }
            }
            TokenKind::Name(parts) => self.named(parts, offset)?,
            TokenKind::Open => return self.group(offset),
            _ => return Err(error(offset, "expected a value")),
        })
    }

    fn named(&self, parts: &[String], offset: usize) -> Result<Operand, SyntaxError> {
        let literal = match parts {
            [word] if word == "true" => Value::Bool(true),
            [word] if word == "false" => Value::Bool(false),
            [word] if word == "nil" || word == "null" => Value::Null,
            [word] if functions::known(word).is_some() => {
                return Err(error(offset, format!("put the call of `{word}` in parentheses")));
            }
            _ => return Ok(Operand::Path(Reference { parts: parts.to_vec(), offset })),
        };
        Ok(Operand::Literal(literal))
    }

    fn group(&mut self, offset: usize) -> Result<Operand, SyntaxError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(error(offset, format!("parentheses nest deeper than {DEEPEST}")));
        }
        let pipeline = self.pipeline()?;
        if self.peek().is_none_or(|token| token.kind != TokenKind::Close) {
            return Err(error(self.offset(), "expected `)`"));
        }
        self.position += 1;
        self.depth -= 1;
        let mut parts = Vec::new();
        if let Some(token) = self.peek()
            && !token.spaced
            && let TokenKind::Field(fields) = &token.kind
        {
            self.position += 1;
            parts.clone_from(fields);
        }
        // `(index .states "my-step").Output` is one path, so that it can be checked as one.
        if let [Command::Operand(Operand::Path(path))] = pipeline.commands.as_slice() {
            let mut path = path.clone();
            path.parts.extend(parts);
            return Ok(Operand::Path(path));
        }
        Ok(Operand::Group { pipeline: Box::new(pipeline), path: Reference { parts, offset } })
    }
}

fn starts_operand(token: &Token) -> bool {
    matches!(
        token.kind,
        TokenKind::Field(_)
            | TokenKind::Name(_)
            | TokenKind::Variable(..)
            | TokenKind::Literal(_)
            | TokenKind::Open
    )
}

// `index .states "my-step"` with nothing but texts is the path `states.my-step`.
fn call(function: &'static str, arguments: Vec<Operand>, offset: usize) -> Command {
    if function == "index"
        && let [Operand::Path(path), keys @ ..] = arguments.as_slice()
        && !keys.is_empty()
    {
        let texts: Option<Vec<String>> = keys
            .iter()
            .map(|key| match key {
                Operand::Literal(Value::String(text)) => Some(text.clone()),
                _ => None,
            })
            .collect();
        if let Some(texts) = texts {
            let mut path = path.clone();
            path.parts.extend(texts);
            return Command::Operand(Operand::Path(path));
        }
    }
    Command::Call { function, arguments, offset }
}
