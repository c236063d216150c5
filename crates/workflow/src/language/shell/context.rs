//! Follows a script letter by letter and knows, between any two letters, what is open there.
//!
//! It reads POSIX sh and the parts of bash that change what a value may do. It does not check the
//! script: where a script is broken, any answer is right as long as no value becomes code.

use super::UnsafePlace;
use super::document::end_of_line;
use super::frame::{Code, Delimiter, Ends, Frame, ParameterPart};
use super::word::{check_test, end_word};

/// The reader's place in a script.
#[derive(Clone, Debug)]
pub(super) struct Context {
    stack: Vec<Frame>,
    /// A backslash that waits for its letter.
    pub(super) is_escaped: bool,
    /// A `$` that waits for what it expands.
    pub(super) after_dollar: bool,
    /// How many `<` were just read.
    pub(super) less: usize,
}

// Deeper than this, the innermost frame stays: more brackets cannot make a value more dangerous.
const DEEPEST: usize = 1000;

impl Context {
    /// Starts at the start of a script.
    pub(super) fn new() -> Self {
        let stack = vec![Frame::Code(Code::new(Ends::Script))];
        Context { stack, is_escaped: false, after_dollar: false, less: 0 }
    }

    /// Returns what is open, innermost last.
    pub(super) fn frames(&self) -> &[Frame] {
        &self.stack
    }

    /// Returns the innermost frame.
    pub(super) fn innermost(&self) -> &Frame {
        self.stack.last().expect("the script's own frame is never closed")
    }

    /// Reads on.
    pub(super) fn feed(&mut self, text: &str) -> Result<(), UnsafePlace> {
        text.chars().try_for_each(|letter| self.letter(letter))
    }

    /// Takes note of a value that stands here as a variable, not as letters.
    pub(super) fn pass_value(&mut self, is_whole_number: bool) {
        self.is_escaped = false;
        self.after_dollar = false;
        self.less = 0;
        if let Frame::Document(document) = self.top() {
            document.holds_value = true;
            return;
        }
        if let Frame::Parameter { part: part @ ParameterPart::Colon, .. } = self.top() {
            *part = ParameterPart::Offset;
        }
        if let Some(code) = self.code() {
            code.is_fresh = false;
            // Whatever it is, it is neither a keyword nor the end of the word.
            code.word.push('"');
        }
        self.note_value(is_whole_number);
    }

    /// Takes note that what was just read is a value: some lines and tests may not hold any.
    pub(super) fn note_value(&mut self, is_whole_number: bool) {
        if let Frame::Document(document) = self.top() {
            document.holds_value = true;
        } else if let Some(test) = self.code().and_then(|code| code.test.as_mut()) {
            test.holds_text |= !is_whole_number;
        }
    }

    /// Ends the script: what is still open is closed.
    pub(super) fn finish(mut self) -> Result<(), UnsafePlace> {
        while let Some(frame) = self.stack.last_mut() {
            match frame {
                Frame::Document(document) => drop(end_of_line(document)?),
                Frame::Code(code) => {
                    end_word(code)?;
                    check_test(code)?;
                }
                _ => {}
            }
            self.stack.pop();
        }
        Ok(())
    }

    pub(super) fn top(&mut self) -> &mut Frame {
        self.stack.last_mut().expect("the script's own frame is never closed")
    }

    // The innermost commands, whatever quotes stand around the place in them.
    fn code(&mut self) -> Option<&mut Code> {
        self.stack.iter_mut().rev().find_map(|frame| match frame {
            Frame::Code(code) => Some(code),
            _ => None,
        })
    }

    pub(super) fn push(&mut self, frame: Frame) {
        if self.stack.len() < DEEPEST {
            self.stack.push(frame);
        }
    }

    pub(super) fn pop(&mut self) {
        if self.stack.len() > 1 {
            self.stack.pop();
        }
    }

    fn letter(&mut self, letter: char) -> Result<(), UnsafePlace> {
        let after_dollar = std::mem::take(&mut self.after_dollar);
        if std::mem::take(&mut self.is_escaped) {
            self.escaped(letter);
            return Ok(());
        }
        if self.less > 0 && letter != '<' {
            self.less = 0;
        }
        // A shell looks for the closing backtick before it looks at quotes and comments.
        if letter == '`' && self.close_backticks() {
            return Ok(());
        }
        if after_dollar && self.expansion(letter) {
            return Ok(());
        }
        match self.top() {
            Frame::Code(_) => return self.in_code(letter),
            Frame::Document(_) => return self.in_document(letter),
            Frame::Comment => return self.in_comment(letter),
            Frame::Delimiter(_) => return self.in_delimiter(letter),
            Frame::Single => self.in_quotes(letter, '\''),
            Frame::AnsiC => {
                self.is_escaped = letter == '\\';
                self.in_quotes(letter, '\'');
            }
            Frame::Double => {
                if !self.starts_expansion(letter) {
                    self.in_quotes(letter, '"');
                }
            }
            Frame::Parameter { .. } => self.in_parameter(letter),
            Frame::Arithmetic { .. } => self.in_arithmetic(letter),
        }
        Ok(())
    }

    fn in_quotes(&mut self, letter: char, quote: char) {
        if letter == quote {
            self.pop();
        } else if letter == '='
            && let Some(code) = self.code()
        {
            // `export "x=…"`: what follows is no longer a name.
            code.word.push('=');
        }
    }

    fn escaped(&mut self, letter: char) {
        match self.top() {
            Frame::Code(code) if letter != '\n' => {
                code.is_fresh = false;
                code.word.push('"');
            }
            Frame::Document(document) if letter == '\n' => document.line.clear(),
            Frame::Document(document) => document.line.extend(['\\', letter]),
            _ => {}
        }
    }

    // What may follow a `$`. Returns whether the letter was used up.
    fn expansion(&mut self, letter: char) -> bool {
        let in_double = self.is_in_double();
        let frame = match letter {
            '(' => Frame::Code(Code::new(Ends::Parenthesis)),
            '{' => Frame::Parameter { part: ParameterPart::Name, in_double },
            '[' => Frame::Arithmetic { close: ']', depth: 0, is_closing: false },
            '\'' if matches!(self.top(), Frame::Code(_)) => Frame::AnsiC,
            '\'' if !in_double && matches!(self.top(), Frame::Parameter { .. }) => Frame::AnsiC,
            // `$$`, `$!` and `$#` are whole: the second letter starts nothing.
            '$' | '!' | '#' => {
                self.note_in_word('"');
                return true;
            }
            _ => return false,
        };
        self.note_in_word('"');
        self.push(frame);
        true
    }

    // `$`, `\` and backticks mean the same in code, in double quotes and in what behaves like them.
    pub(super) fn starts_expansion(&mut self, letter: char) -> bool {
        match letter {
            '$' => self.after_dollar = true,
            '\\' => self.is_escaped = true,
            '`' => {
                self.note_in_word('"');
                self.push(Frame::Code(Code::new(Ends::Backtick)));
            }
            _ => return false,
        }
        true
    }

    // Backticks do not nest without backslashes: one that is met inside closes.
    fn close_backticks(&mut self) -> bool {
        let open = self
            .stack
            .iter()
            .rposition(|frame| matches!(frame, Frame::Code(code) if code.ends == Ends::Backtick));
        if let Some(at) = open {
            self.stack.truncate(at);
        }
        open.is_some()
    }

    fn is_in_double(&self) -> bool {
        for frame in self.stack.iter().rev() {
            match frame {
                Frame::Double | Frame::Document(_) => return true,
                Frame::Parameter { in_double, .. } => return *in_double,
                Frame::Arithmetic { .. } => {}
                _ => return false,
            }
        }
        false
    }

    fn note_in_word(&mut self, letter: char) {
        if let Frame::Code(code) = self.top() {
            code.is_fresh = false;
            code.word.push(letter);
        }
    }

    pub(super) fn in_code(&mut self, letter: char) -> Result<(), UnsafePlace> {
        let less = self.less;
        let Frame::Code(code) = self.top() else { return Ok(()) };
        let is_fresh = std::mem::take(&mut code.is_fresh);
        match letter {
            '(' if is_fresh && code.ends == Ends::Parenthesis => {
                *self.top() = Frame::Arithmetic { close: ')', depth: 0, is_closing: false };
            }
            '(' if code.test.is_none() => {
                end_word(code)?;
                self.push(Frame::Code(Code::new(Ends::Parenthesis)));
            }
            ')' => return self.close_parenthesis(),
            '#' if code.word.is_empty() => self.push(Frame::Comment),
            '\'' | '"' => {
                code.word.push('"');
                self.push(if letter == '"' { Frame::Double } else { Frame::Single });
            }
            '<' => {
                end_word(code)?;
                self.less = if less == 2 { 0 } else { less + 1 };
                self.here_string_or_document(less);
            }
            '\n' | ';' | '&' | '|' => {
                end_word(code)?;
                code.expect_command();
                if letter == '\n' {
                    self.start_document();
                }
            }
            ' ' | '\t' | '>' | '(' => end_word(code)?,
            _ => {
                if !self.starts_expansion(letter) || letter == '$' {
                    self.note_in_word(letter);
                }
            }
        }
        Ok(())
    }

    // `<<` opens a here-document; a third `<` takes that back.
    fn here_string_or_document(&mut self, less: usize) {
        if less == 1 {
            self.push(Frame::Delimiter(Delimiter::default()));
        }
    }

    fn in_comment(&mut self, letter: char) -> Result<(), UnsafePlace> {
        if letter != '\n' {
            return Ok(());
        }
        self.pop();
        self.in_code(letter)
    }

    fn close_parenthesis(&mut self) -> Result<(), UnsafePlace> {
        let Frame::Code(code) = self.top() else { return Ok(()) };
        end_word(code)?;
        // In `case x in a) …` the parenthesis belongs to the pattern.
        if code.ends == Ends::Parenthesis && code.cases == 0 && code.test.is_none() {
            self.pop();
            if let Frame::Code(code) = self.top() {
                // After `$(…)` the word goes on; after `(…)` another command may follow.
                code.is_command = code.word.is_empty();
            }
        } else {
            code.is_command = true;
        }
        Ok(())
    }

    fn in_parameter(&mut self, letter: char) {
        if self.starts_expansion(letter) {
            return;
        }
        let Frame::Parameter { part, in_double } = self.top() else { return };
        match (letter, *part) {
            ('}', _) => self.pop(),
            ('"', _) => self.push(Frame::Double),
            ('\'', _) if !*in_double => self.push(Frame::Single),
            ('[', ParameterPart::Name | ParameterPart::Named) => *part = ParameterPart::Subscript,
            (']', ParameterPart::Subscript) => *part = ParameterPart::Named,
            (':', ParameterPart::Name | ParameterPart::Named) => *part = ParameterPart::Colon,
            ('#', ParameterPart::Named) => *part = ParameterPart::Word,
            ('-' | '=' | '?' | '+', ParameterPart::Colon) => *part = ParameterPart::Word,
            (_, ParameterPart::Colon) => *part = ParameterPart::Offset,
            (_, ParameterPart::Name | ParameterPart::Named) if !is_name(letter) => {
                *part = ParameterPart::Word;
            }
            (_, ParameterPart::Name) if letter.is_ascii_alphanumeric() || letter == '_' => {
                *part = ParameterPart::Named;
            }
            _ => {}
        }
    }

    fn in_arithmetic(&mut self, letter: char) {
        if self.starts_expansion(letter) {
            return;
        }
        let Frame::Arithmetic { close, depth, is_closing } = self.top() else { return };
        let was_closing = std::mem::take(is_closing);
        match letter {
            '(' if *close == ')' => *depth += 1,
            '[' if *close == ']' => *depth += 1,
            _ if letter == *close && *depth > 0 => *depth -= 1,
            ']' if *close == ']' => self.pop(),
            ')' if *close == ')' && was_closing => self.pop(),
            ')' if *close == ')' => *is_closing = true,
            // `$((a) | b)`: these were two parentheses after all, and one of them is closed.
            _ if was_closing => {
                *self.top() = Frame::Code(Code { is_fresh: false, ..Code::new(Ends::Parenthesis) })
            }
            '"' => self.push(Frame::Double),
            '\'' => self.push(Frame::Single),
            _ => {}
        }
    }
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '!' | '#' | '@' | '*')
}
