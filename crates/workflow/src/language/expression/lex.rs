//! An expression, cut into tokens. It does not know which operator binds how.

use serde_json::Number;

use crate::language::template::LoneAction;
use crate::language::{SyntaxError, Value};

/// A word of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Where in the expression, in bytes.
    pub(super) offset: usize,
}

/// What kind of word it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Literal(Value),
    /// A text with template actions in it.
    Mixed(Vec<Part>),
    /// A template action outside a text.
    Action(LoneAction),
    Name(String),
    /// An operator or a bracket.
    Mark(&'static str),
    End,
}

/// A part of a text with template actions in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    Action(LoneAction),
}

// Longer marks first: `<=` is not `<` and `=`.
const MARKS: [&str; 29] = [
    "**", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "<", ">", "!", "+", "-", "*", "/", "%",
    "(", ")", "[", "]", ",", ".", "?", ":", "^", "=", "&", "|",
];

/// Cuts an expression into tokens; the last one is the end.
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut position = 0;
    loop {
        let rest = &source[position..];
        position += rest.len() - rest.trim_start().len();
        let rest = &source[position..];
        let offset = position;
        let Some(first) = rest.chars().next() else {
            tokens.push(Token { kind: TokenKind::End, offset });
            return Ok(tokens);
        };
        let (kind, length) = match first {
            '"' | '\'' => quoted(source, position, first)?,
            '`' => raw(rest, offset)?,
            '0'..='9' => number(rest, offset)?,
            '{' if rest.starts_with("{{") => {
                let (action, end) = LoneAction::read(source, position)?;
                (TokenKind::Action(action), end - position)
            }
            _ if is_name_start(first) => name(rest),
            _ => mark(rest, first, offset)?,
        };
        tokens.push(Token { kind, offset });
        position += length;
    }
}

pub(super) fn error(offset: usize, message: impl Into<String>) -> SyntaxError {
    SyntaxError { offset, message: message.into() }
}

fn is_name_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_' || letter == '$'
}

fn name(rest: &str) -> (TokenKind, usize) {
    let length = rest
        .find(|letter: char| !(is_name_start(letter) || letter.is_alphanumeric()))
        .unwrap_or(rest.len());
    (TokenKind::Name(rest[..length].to_owned()), length)
}

fn mark(rest: &str, first: char, offset: usize) -> Result<(TokenKind, usize), SyntaxError> {
    let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) else {
        return Err(error(offset, format!("unexpected `{first}`")));
    };
    let meant = match *mark {
        "=" => "`==`",
        "&" => "`&&`",
        "|" => "`||`",
        _ => return Ok((TokenKind::Mark(mark), mark.len())),
    };
    Err(error(offset, format!("unexpected `{mark}`: did you mean {meant}?")))
}

fn number(rest: &str, offset: usize) -> Result<(TokenKind, usize), SyntaxError> {
    let mut length = 0;
    let mut letters = rest.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let exponent = rest[..at].ends_with(['e', 'E']) && matches!(letter, '+' | '-');
        // `1.` is not a number here: the dot must have a digit after it.
        let point = letter == '.' && letters.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        if !(letter.is_ascii_alphanumeric() || letter == '_' || exponent || point) {
            break;
        }
        length = at + letter.len_utf8();
    }
    let text = rest[..length].replace('_', "");
    let number = text
        .parse::<i64>()
        .ok()
        .map(Number::from)
        .or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64))
        .ok_or_else(|| error(offset, format!("`{text}` is not a number")))?;
    Ok((TokenKind::Literal(Value::Number(number)), length))
}

fn raw(rest: &str, offset: usize) -> Result<(TokenKind, usize), SyntaxError> {
    let text = &rest[1..];
    let length =
        text.find('`').ok_or_else(|| error(offset, "a text is not closed: expected a backtick"))?;
    Ok((TokenKind::Literal(Value::String(text[..length].to_owned())), length + 2))
}

fn quoted(source: &str, start: usize, quote: char) -> Result<(TokenKind, usize), SyntaxError> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut position = start + 1;
    while let Some(letter) = source[position..].chars().next() {
        if letter == quote {
            let length = position + 1 - start;
            if parts.is_empty() {
                return Ok((TokenKind::Literal(Value::String(text)), length));
            }
            parts.push(Part::Text(text));
            return Ok((TokenKind::Mixed(parts), length));
        }
        // Braces that are no action are text: `Output contains "{{"`.
        if source[position..].starts_with("{{")
            && let Ok((action, end)) = LoneAction::read(source, position)
        {
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(Part::Action(action));
            position = end;
            continue;
        }
        position += letter.len_utf8();
        match letter {
            '\\' => position += unescape(&source[position..], &mut text),
            _ => text.push(letter),
        }
    }
    Err(error(start, format!("a text is not closed: expected `{quote}`")))
}

// Returns how long the escape is. What is no escape is kept, so that `\d` works in a pattern.
fn unescape(rest: &str, text: &mut String) -> usize {
    let Some(letter) = rest.chars().next() else {
        text.push('\\');
        return 0;
    };
    let plain = match letter {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        '\\' | '"' | '\'' | '`' => Some(letter),
        _ => None,
    };
    if let Some(plain) = plain {
        text.push(plain);
        return 1;
    }
    let code = rest.get(1..5).filter(|_| letter == 'u');
    let coded = code.and_then(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?));
    match coded {
        Some(coded) => {
            text.push(coded);
            5
        }
        None => {
            text.extend(['\\', letter]);
            letter.len_utf8()
        }
    }
}
