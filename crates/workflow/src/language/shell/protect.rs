//! Pieces → a script in which every value is data: put in as it is where that is harmless,
//! otherwise through a variable, otherwise not at all.

use super::context::Context;
use super::frame::{Ends, Frame, ParameterPart, Takes};
use super::{ShellScript, UnsafePlace};
use crate::language::Piece;
use crate::language::template::quote_word;

/// What the variables of a script are called, before their number.
const VARIABLE: &str = "QUIPU_VALUE_";

/// Makes a script of pieces.
pub(super) fn protect(pieces: &[Piece<'_>]) -> Result<ShellScript, UnsafePlace> {
    let mut writer = Writer { context: Context::new(), script: String::new(), values: Vec::new() };
    let mut shown = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        let text = piece.text();
        shown.push_str(&text);
        match piece {
            Piece::Literal(text) => writer.literal(text)?,
            Piece::Value(text) | Piece::Quoted(text) if text.contains('\0') => {
                return Err(unsafe_place("a value holds a NUL byte, which no shell can take"));
            }
            Piece::Value(value) => {
                let next = pieces[at + 1..].iter().find(|next| !next.text().is_empty());
                writer.value(value, next.and_then(|next| next.text().chars().next()))?;
            }
            Piece::Quoted(raw) => writer.word(raw, &text)?,
        }
    }
    let Writer { context, script, values } = writer;
    context.finish()?;
    Ok(ShellScript { shown, run: with_prelude(&script, &values) })
}

fn with_prelude(script: &str, values: &[String]) -> String {
    if values.is_empty() {
        return script.to_owned();
    }
    let mut prelude = String::new();
    for (at, value) in values.iter().enumerate() {
        prelude.push_str(&format!("{VARIABLE}{}={}; ", at + 1, quote_word(value)));
    }
    // The line that names the interpreter must stay the first.
    let start = match script.starts_with("#!") {
        true => script.find('\n').map_or(script.len(), |end| end + 1),
        false => 0,
    };
    format!("{}{prelude}{}", &script[..start], &script[start..])
}

struct Writer {
    context: Context,
    script: String,
    values: Vec<String>,
}

impl Writer {
    fn literal(&mut self, text: &str) -> Result<(), UnsafePlace> {
        self.script.push_str(text);
        self.context.feed(text)
    }

    // A value where its text would stand.
    fn value(&mut self, value: &str, next: Option<char>) -> Result<(), UnsafePlace> {
        if value.is_empty() {
            return Ok(());
        }
        if self.is_evaluated() {
            return self.whole_number(value);
        }
        if self.is_name_with_subscript(value) {
            return Err(unsafe_place(
                "a value with `[` in it cannot be the name of a variable: the shell would evaluate it",
            ));
        }
        self.settle_dollar(value);
        if self.can_stand_as_it_is(value, next) {
            return self.as_it_is(value);
        }
        match self.context.innermost() {
            Frame::Document(document) if document.delimiter.is_quoted => {
                self.in_quoted_document(value)
            }
            Frame::Delimiter(_) => Err(unsafe_place(
                "a value cannot be the end mark of a here-document unless it is a plain word",
            )),
            Frame::Parameter { part: ParameterPart::Name | ParameterPart::Named, .. } => {
                Err(unsafe_place(
                    "a value cannot be the name of a variable unless it is letters, digits and `_`",
                ))
            }
            Frame::Single => self.variable(value, "'\"", "\"'"),
            Frame::AnsiC => self.variable(value, "'\"", "\"$'"),
            _ => {
                self.settle_backslash();
                self.variable(value, "", "")
            }
        }
    }

    // A value that came through `escape`: one word where a word can stand, and its quoted text inside
    // quotes, so that `sh -c "echo {{escape .inputs.x}}"` hands the inner shell one word as well.
    fn word(&mut self, raw: &str, quoted: &str) -> Result<(), UnsafePlace> {
        let is_word = match self.context.innermost() {
            Frame::Code(_) => true,
            Frame::Parameter { part: ParameterPart::Word, in_double } => !in_double,
            _ => false,
        };
        if !is_word || self.is_evaluated() {
            return self.value(if self.is_evaluated() { raw } else { quoted }, None);
        }
        if self.is_name_with_subscript(raw) {
            return self.value(raw, None);
        }
        self.settle_dollar("");
        self.settle_backslash();
        if !self.is_in_backticks() && is_plain_text(raw) {
            return self.as_it_is(quoted);
        }
        self.variable(raw, "\"", "\"")
    }

    fn as_it_is(&mut self, value: &str) -> Result<(), UnsafePlace> {
        self.script.push_str(value);
        self.context.feed(value)?;
        self.context.note_value(read_whole_number(value).is_some());
        Ok(())
    }

    fn variable(&mut self, value: &str, before: &str, after: &str) -> Result<(), UnsafePlace> {
        let number = match self.values.iter().position(|known| known == value) {
            Some(at) => at + 1,
            None => {
                self.values.push(value.to_owned());
                self.values.len()
            }
        };
        self.script.push_str(&format!("{before}${{{VARIABLE}{number}}}{after}"));
        self.context.pass_value(read_whole_number(value).is_some());
        Ok(())
    }

    // Nothing is expanded there, so that the text itself is the only way in.
    fn in_quoted_document(&mut self, value: &str) -> Result<(), UnsafePlace> {
        for (at, line) in value.split('\n').enumerate() {
            if at > 0 {
                self.as_it_is("\n")?;
            }
            self.as_it_is(line)?;
        }
        Ok(())
    }

    fn whole_number(&mut self, value: &str) -> Result<(), UnsafePlace> {
        let Some(number) = read_whole_number(value) else {
            return Err(unsafe_place(
                "a value that the shell evaluates as arithmetic must be a whole number",
            ));
        };
        // A sign right after another sign would be an operator: `1--2`.
        if number.starts_with(['-', '+']) {
            self.script.push(' ');
            self.context.feed(" ")?;
        }
        self.as_it_is(number)
    }

    fn can_stand_as_it_is(&self, value: &str, next: Option<char>) -> bool {
        if self.context.is_escaped {
            return false;
        }
        if self.context.after_dollar {
            // `$` and a name is the variable that the author asked for.
            return is_variable_name(value);
        }
        match self.context.innermost() {
            Frame::Code(code) => {
                let changes_word = code.word.is_empty()
                    && (value.contains('=')
                        || is_keyword(value)
                        || (is_digits(value) && matches!(next, Some('<' | '>'))));
                is_plain_word(value) && !changes_word
            }
            Frame::Single | Frame::Double | Frame::AnsiC | Frame::Comment => is_plain_text(value),
            Frame::Delimiter(_) => is_plain_word(value),
            Frame::Parameter { part: ParameterPart::Name | ParameterPart::Named, .. } => {
                value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            }
            Frame::Parameter { .. } => is_plain_word(value) && !value.contains(['/', '%', ',']),
            Frame::Document(document) => {
                let line = format!("{}{value}", document.compared_line());
                let delimiter = document.delimiter.text.as_str();
                let near_the_end = line.starts_with(delimiter) || delimiter.starts_with(&line);
                !document.delimiter.is_quoted && is_plain_text(value) && !near_the_end
            }
            Frame::Arithmetic { .. } => false,
        }
    }

    // Tells whether the shell would evaluate the text that stands here, also between quotes.
    fn is_evaluated(&self) -> bool {
        for frame in self.context.frames().iter().rev() {
            match frame {
                Frame::Single | Frame::Double | Frame::AnsiC => {}
                Frame::Parameter { part, .. } => match part {
                    ParameterPart::Subscript | ParameterPart::Colon | ParameterPart::Offset => {
                        return true;
                    }
                    ParameterPart::Name | ParameterPart::Named | ParameterPart::Word => {}
                },
                Frame::Arithmetic { .. } => return true,
                Frame::Code(code) => {
                    return code.is_in_subscript() || code.takes == Takes::Arithmetic;
                }
                Frame::Comment | Frame::Delimiter(_) | Frame::Document(_) => return false,
            }
        }
        false
    }

    fn is_name_with_subscript(&self, value: &str) -> bool {
        let mut frames = self.context.frames().iter().rev();
        let code =
            frames.find(|frame| !matches!(frame, Frame::Single | Frame::Double | Frame::AnsiC));
        value.contains('[') && matches!(code, Some(Frame::Code(code)) if code.is_in_name())
    }

    fn is_in_backticks(&self) -> bool {
        self.context
            .frames()
            .iter()
            .any(|frame| matches!(frame, Frame::Code(code) if code.ends == Ends::Backtick))
    }

    // A `$` before a value that is no name is the sign itself: `$5.00` is a price, not `$5`.
    fn settle_dollar(&mut self, value: &str) {
        if self.context.after_dollar && !is_variable_name(value) {
            self.script.pop();
            self.script.push_str("\\$");
            self.context.after_dollar = false;
        }
    }

    // A backslash before a value would take the variable's `$` for itself.
    fn settle_backslash(&mut self) {
        if !self.context.is_escaped {
            return;
        }
        match self.context.innermost() {
            Frame::Code(_) => drop(self.script.pop()),
            _ => self.script.push('\\'),
        }
        self.context.is_escaped = false;
    }
}

fn unsafe_place(message: &str) -> UnsafePlace {
    UnsafePlace { message: message.to_owned() }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./:=@%+,-".contains(&byte)
}

// No shell reads anything but letters into it, wherever it stands.
fn is_plain_word(value: &str) -> bool {
    value.bytes().all(is_plain)
}

// The same for a place between quotes.
fn is_plain_text(value: &str) -> bool {
    value.chars().all(|letter| match u8::try_from(letter) {
        Ok(byte) if byte.is_ascii() => is_plain(byte) || byte == b' ',
        _ => letter.is_alphanumeric(),
    })
}

fn is_digits(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_variable_name(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !value.starts_with(|letter: char| letter.is_ascii_digit())
        && !value.is_empty()
}

fn read_whole_number(value: &str) -> Option<&str> {
    let value = value.trim();
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    (!digits.is_empty() && is_digits(digits)).then_some(value)
}

fn is_keyword(value: &str) -> bool {
    const WORDS: [&str; 20] = [
        "case", "coproc", "do", "done", "elif", "else", "esac", "eval", "fi", "for", "function",
        "if", "in", "select", "source", "then", "time", "until", "while", "exec",
    ];
    WORDS.contains(&value)
}
