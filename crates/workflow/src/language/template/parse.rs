//! Text → tree: blocks and the text between them. What stands inside an action is read by `operand`.

use super::lex::{Action, Token, TokenKind, error, read_action};
use super::node::{Command, Node, Operand, Pipeline};
use super::operand::OperandReader;
use crate::language::SyntaxError;
use crate::language::value::text_of;

/// How deep blocks and parentheses may nest: deeper is a mistake, and would cost the stack.
pub(super) const DEEPEST: usize = 64;

/// Reads a whole template.
pub(super) fn parse(source: &str) -> Result<Vec<Node>, SyntaxError> {
    let mut reader = BlockReader {
        source,
        position: 0,
        trims_next: false,
        depth: 0,
        dot_is_root: true,
        in_range: false,
        variables: Vec::new(),
    };
    let (nodes, end) = reader.nodes()?;
    match end {
        None => Ok(nodes),
        Some(action) => {
            let word = keyword(&action).unwrap_or_default();
            Err(error(action.start, format!("`{word}` without a block that it belongs to")))
        }
    }
}

/// Reads the one action at `start` as a pipeline, and says where it ends.
pub(super) fn parse_action(source: &str, start: usize) -> Result<(Pipeline, usize), SyntaxError> {
    let action = read_action(source, start)?;
    if let Some(word) = keyword(&action).filter(|word| is_reserved(word)) {
        return Err(error(start, format!("`{word}` cannot stand here: expected a value")));
    }
    let pipeline = OperandReader::new(&action, 0, true, &[]).whole()?;
    Ok((pipeline, action.end))
}

struct BlockReader<'a> {
    source: &'a str,
    position: usize,
    trims_next: bool,
    depth: usize,
    dot_is_root: bool,
    in_range: bool,
    variables: Vec<String>,
}

impl BlockReader<'_> {
    // Reads until the end of the text, or to an `else` or `end` that a caller must judge.
    fn nodes(&mut self) -> Result<(Vec<Node>, Option<Action>), SyntaxError> {
        let mut nodes = Vec::new();
        loop {
            let rest = &self.source[self.position..];
            let Some(length) = rest.find("{{") else {
                self.position = self.source.len();
                push_text(&mut nodes, if self.trims_next { rest.trim_start() } else { rest });
                return Ok((nodes, None));
            };
            let action = read_action(self.source, self.position + length)?;
            let mut text = &rest[..length];
            if self.trims_next {
                text = text.trim_start();
            }
            if action.trims_before {
                text = text.trim_end();
            }
            push_text(&mut nodes, text);
            self.position = action.end;
            self.trims_next = action.trims_after;
            if action.is_comment {
                continue;
            }
            if matches!(keyword(&action), Some("else" | "end")) {
                return Ok((nodes, Some(action)));
            }
            nodes.push(self.node(&action)?);
        }
    }

    fn node(&mut self, action: &Action) -> Result<Node, SyntaxError> {
        let Some(word) = keyword(action).filter(|word| is_reserved(word)) else {
            return self.statement(action);
        };
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(error(action.start, format!("blocks nest deeper than {DEEPEST}")));
        }
        let variables = self.variables.len();
        let node = match word {
            "if" => self.branches(action),
            "range" | "with" => self.loop_or_with(action, word),
            "break" | "continue" if !self.in_range => {
                Err(error(action.start, format!("`{word}` outside `range`")))
            }
            "break" => Ok(Node::Break),
            "continue" => Ok(Node::Continue),
            _ => Err(error(action.start, format!("`{word}` is not part of the template language"))),
        };
        self.variables.truncate(variables);
        self.depth -= 1;
        node
    }

    // `$x := …`, `$x = …`, or a value to fill in.
    fn statement(&mut self, action: &Action) -> Result<Node, SyntaxError> {
        let (names, declares, skip) = assignment(&action.tokens);
        let pipeline = self.pipeline(action, skip)?;
        match names.into_iter().next() {
            Some(name) => {
                if declares {
                    self.variables.push(name.clone());
                } else if !self.variables.contains(&name) {
                    return Err(error(
                        action.start,
                        format!("`${name}` was never declared with `:=`"),
                    ));
                }
                Ok(Node::Set { name, declares, pipeline })
            }
            // What the author wrote stays the author's, also inside braces.
            None => match pipeline.commands.as_slice() {
                [Command::Operand(Operand::Literal(value))] => {
                    Ok(Node::Text(text_of(value).into_owned()))
                }
                _ => Ok(Node::Print(pipeline)),
            },
        }
    }

    fn branches(&mut self, action: &Action) -> Result<Node, SyntaxError> {
        let (names, _, skip) = assignment(&action.tokens[1..]);
        if let Some(name) = names.first() {
            return Err(error(
                action.start,
                format!("`if` cannot set `${name}`: set it before the `if`"),
            ));
        }
        let mut condition = self.pipeline(action, 1 + skip)?;
        let mut branches = Vec::new();
        loop {
            let (body, end) = self.nodes()?;
            branches.push((condition, body));
            let end = end.ok_or_else(|| unclosed(action, "if"))?;
            if is_end(&end) {
                return Ok(Node::If { branches, otherwise: Vec::new() });
            }
            match end.tokens.get(1).map(|token| &token.kind) {
                None => {
                    let otherwise = self.last_body(action, "if")?;
                    return Ok(Node::If { branches, otherwise });
                }
                Some(TokenKind::Name(name)) if name == &["if"] => {
                    condition = self.pipeline(&end, 2)?
                }
                Some(_) => {
                    return Err(error(end.tokens[1].offset, "expected `if` or `}}` after `else`"));
                }
            }
        }
    }

    fn loop_or_with(&mut self, action: &Action, word: &str) -> Result<Node, SyntaxError> {
        let is_range = word == "range";
        let (names, _, skip) = assignment(&action.tokens[1..]);
        if names.len() > if is_range { 2 } else { 1 } {
            return Err(error(action.start, format!("too many variables after `{word}`")));
        }
        let subject = self.pipeline(action, 1 + skip)?;
        let outer = (self.dot_is_root, self.in_range, self.variables.len());
        self.dot_is_root = false;
        self.in_range |= is_range;
        self.variables.extend(names.iter().cloned());
        let (body, end) = self.nodes()?;
        self.dot_is_root = outer.0;
        self.in_range = outer.1;
        self.variables.truncate(outer.2);
        let end = end.ok_or_else(|| unclosed(action, word))?;
        let otherwise = if is_end(&end) { Vec::new() } else { self.last_body(action, word)? };
        Ok(match is_range {
            true => Node::Range { names, over: subject, body, otherwise },
            false => Node::With { names, subject, body, otherwise },
        })
    }

    // What follows `else`: nothing but `end` may close it.
    fn last_body(&mut self, opener: &Action, word: &str) -> Result<Vec<Node>, SyntaxError> {
        let (body, end) = self.nodes()?;
        match end {
            Some(end) if is_end(&end) => Ok(body),
            Some(end) => Err(error(end.start, "expected `end`: this block already has its `else`")),
            None => Err(unclosed(opener, word)),
        }
    }

    fn pipeline(&self, action: &Action, skip: usize) -> Result<Pipeline, SyntaxError> {
        OperandReader::new(action, skip, self.dot_is_root, &self.variables).whole()
    }
}

fn push_text(nodes: &mut Vec<Node>, text: &str) {
    if !text.is_empty() {
        nodes.push(Node::Text(text.to_owned()));
    }
}

fn keyword(action: &Action) -> Option<&str> {
    match &action.tokens.first()?.kind {
        TokenKind::Name(parts) if parts.len() == 1 => parts.first().map(String::as_str),
        _ => None,
    }
}

fn is_reserved(word: &str) -> bool {
    const WORDS: [&str; 10] =
        ["if", "else", "end", "range", "with", "break", "continue", "define", "template", "block"];
    WORDS.contains(&word)
}

fn is_end(action: &Action) -> bool {
    keyword(action) == Some("end")
}

fn unclosed(opener: &Action, word: &str) -> SyntaxError {
    error(opener.start, format!("`{word}` is not closed: expected `{{{{end}}}}`"))
}

// The variables before `:=` or `=`, whether they are new, and how many tokens that took.
fn assignment(tokens: &[Token]) -> (Vec<String>, bool, usize) {
    let mut names = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Variable(name, path) if path.is_empty() && !name.is_empty() => {
                names.push(name.clone());
            }
            TokenKind::Comma => {}
            TokenKind::Declare if !names.is_empty() => return (names, true, at + 1),
            TokenKind::Assign if !names.is_empty() => return (names, false, at + 1),
            _ => break,
        }
    }
    (Vec::new(), false, 0)
}
