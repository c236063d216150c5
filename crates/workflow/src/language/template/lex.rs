//! The inside of an action, cut into tokens. It does not know what the words mean.

use serde_json::Number;

use crate::language::{SyntaxError, Value};

/// A word of an action.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Where in the template, in bytes.
    pub(super) offset: usize,
    /// Whether white space stands before it: `(a).b` is not `(a) .b`.
    pub(super) spaced: bool,
}

/// What kind of word it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// `.` or `.a.b`.
    Field(Vec<String>),
    /// `a` or `a.b`.
    Name(Vec<String>),
    /// `$`, `$x` or `$x.a`: the name (empty for the root) and what is taken from it.
    Variable(String, Vec<String>),
    /// A text or a number.
    Literal(Value),
    Open,
    Close,
    Pipe,
    Comma,
    Assign,
    Declare,
}

/// An action cut into tokens.
pub(super) struct Action {
    pub(super) tokens: Vec<Token>,
    /// Where the action starts: its first brace.
    pub(super) start: usize,
    /// Where the text after the action starts.
    pub(super) end: usize,
    pub(super) trims_before: bool,
    pub(super) trims_after: bool,
    pub(super) is_comment: bool,
}

/// Reads the action whose `{{` stands at `start`.
pub(super) fn read_action(source: &str, start: usize) -> Result<Action, SyntaxError> {
    let mut lexer = Lexer { source, position: start + 2 };
    let rest = lexer.rest();
    let trims_before = rest.starts_with('-') && rest[1..].starts_with(char::is_whitespace);
    if trims_before {
        lexer.position += 1;
    }
    let mut action = Action {
        tokens: Vec::new(),
        start,
        end: start,
        trims_before,
        trims_after: false,
        is_comment: false,
    };
    lexer.skip_space();
    if lexer.rest().starts_with("/*") {
        let Some(length) = lexer.rest().find("*/") else {
            return Err(error(start, "a comment is not closed: expected `*/}}`"));
        };
        lexer.position += length + 2;
        action.is_comment = true;
    }
    loop {
        let spaced = lexer.skip_space();
        let rest = lexer.rest();
        action.trims_after = rest.starts_with("-}}");
        if rest.starts_with("}}") || action.trims_after {
            action.end = lexer.position + if action.trims_after { 3 } else { 2 };
            return Ok(action);
        }
        if rest.is_empty() {
            return Err(error(start, "an action is not closed: expected `}}`"));
        }
        if action.is_comment {
            return Err(error(lexer.position, "expected `}}` after the comment"));
        }
        let offset = lexer.position;
        let kind = lexer.token()?;
        action.tokens.push(Token { kind, offset, spaced });
    }
}

pub(super) fn error(offset: usize, message: impl Into<String>) -> SyntaxError {
    SyntaxError { offset, message: message.into() }
}

struct Lexer<'a> {
    source: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.position..]
    }

    fn skip_space(&mut self) -> bool {
        let rest = self.rest();
        let skipped = rest.len() - rest.trim_start().len();
        self.position += skipped;
        skipped > 0
    }

    fn token(&mut self) -> Result<TokenKind, SyntaxError> {
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or_default();
        let simple = match first {
            '(' => Some(TokenKind::Open),
            ')' => Some(TokenKind::Close),
            '|' => Some(TokenKind::Pipe),
            ',' => Some(TokenKind::Comma),
            '=' => Some(TokenKind::Assign),
            _ => None,
        };
        if let Some(kind) = simple {
            self.position += 1;
            return Ok(kind);
        }
        if rest.starts_with(":=") {
            self.position += 2;
            return Ok(TokenKind::Declare);
        }
        match first {
            '"' | '\'' => self.quoted(first),
            '`' => self.raw(),
            '.' => Ok(TokenKind::Field(self.fields())),
            '$' => {
                self.position += 1;
                let name = self.name();
                Ok(TokenKind::Variable(name, self.fields()))
            }
            '0'..='9' | '+' | '-' => self.number(),
            _ if is_name(first) => {
                let mut parts = vec![self.name()];
                parts.extend(self.fields());
                Ok(TokenKind::Name(parts))
            }
            _ => Err(error(self.position, format!("unexpected `{first}` in an action"))),
        }
    }

    // `.a.b.c`: a lone dot gives no part.
    fn fields(&mut self) -> Vec<String> {
        let mut parts = Vec::new();
        while self.rest().starts_with('.') {
            self.position += 1;
            let part = self.name();
            if part.is_empty() {
                break;
            }
            parts.push(part);
        }
        parts
    }

    fn name(&mut self) -> String {
        let rest = self.rest();
        let length = rest
            .char_indices()
            .find(|(at, letter)| !is_name(*letter) && !is_joint(rest, *at, *letter))
            .map_or(rest.len(), |(at, _)| at);
        self.position += length;
        rest[..length].to_owned()
    }

    fn number(&mut self) -> Result<TokenKind, SyntaxError> {
        let rest = self.rest();
        let length = rest
            .char_indices()
            .skip(1)
            .find(|(at, letter)| {
                let exponent = rest[..*at].ends_with(['e', 'E']) && matches!(letter, '+' | '-');
                !(letter.is_ascii_alphanumeric() || *letter == '.' || exponent)
            })
            .map_or(rest.len(), |(at, _)| at);
        let text = &rest[..length];
        let number = text
            .parse::<i64>()
            .ok()
            .map(Number::from)
            .or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64))
            .ok_or_else(|| error(self.position, format!("`{text}` is not a number")))?;
        self.position += length;
        Ok(TokenKind::Literal(Value::Number(number)))
    }

    fn raw(&mut self) -> Result<TokenKind, SyntaxError> {
        let start = self.position;
        let text = &self.rest()[1..];
        let length = text
            .find('`')
            .ok_or_else(|| error(start, "a text is not closed: expected a backtick"))?;
        self.position += length + 2;
        Ok(TokenKind::Literal(Value::String(text[..length].to_owned())))
    }

    fn quoted(&mut self, quote: char) -> Result<TokenKind, SyntaxError> {
        let start = self.position;
        let mut text = String::new();
        let mut letters = self.rest().char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                _ if letter == quote => {
                    self.position += at + 1;
                    return Ok(TokenKind::Literal(Value::String(text)));
                }
                '\n' => break,
                '\\' => {
                    let escaped = letters.next().map(|(_, escaped)| escaped);
                    text.push(
                        escaped
                            .and_then(|letter| unescape(letter, &mut letters))
                            .ok_or_else(|| error(start + at, "unknown escape in a text"))?,
                    );
                }
                _ => text.push(letter),
            }
        }
        Err(error(start, format!("a text is not closed: expected `{quote}`")))
    }
}

fn unescape(letter: char, rest: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    let digits = match letter {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        '0' => return Some('\0'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        '\\' | '"' | '\'' | '`' => return Some(letter),
        _ => return None,
    };
    let code: String = rest.take(digits).map(|(_, digit)| digit).collect();
    char::from_u32(u32::from_str_radix(&code, 16).ok()?)
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

// A dash joins two halves of a name (`my-step`); elsewhere it is a sign or trims white space.
fn is_joint(rest: &str, at: usize, letter: char) -> bool {
    letter == '-' && at > 0 && rest[at + 1..].starts_with(is_name)
}
