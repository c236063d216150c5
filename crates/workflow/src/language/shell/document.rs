//! Here-documents: the word that will end one, and the lines until it does.

use super::UnsafePlace;
use super::context::Context;
use super::frame::{Document, Frame};

impl Context {
    pub(super) fn in_delimiter(&mut self, letter: char) -> Result<(), UnsafePlace> {
        let is_third_less = self.less == 2 && letter == '<';
        self.less = 0;
        let Frame::Delimiter(delimiter) = self.top() else { return Ok(()) };
        if is_third_less {
            self.pop();
            return Ok(());
        }
        if std::mem::take(&mut delimiter.is_escaped) {
            delimiter.text.push(letter);
            return Ok(());
        }
        match (letter, delimiter.quote) {
            (_, Some(quote)) if letter == quote => delimiter.quote = None,
            (_, Some(_)) => delimiter.text.push(letter),
            ('-', None) if !delimiter.is_started && !delimiter.drops_tabs => {
                delimiter.drops_tabs = true
            }
            (' ' | '\t', None) if !delimiter.is_started => {}
            ('\'' | '"', None) => {
                (delimiter.quote, delimiter.is_quoted, delimiter.is_started) =
                    (Some(letter), true, true);
            }
            ('\\', None) => {
                (delimiter.is_escaped, delimiter.is_quoted, delimiter.is_started) =
                    (true, true, true);
            }
            (' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '`', None) => {
                let delimiter = delimiter.clone();
                self.pop();
                if let Frame::Code(code) = self.top()
                    && delimiter.is_started
                {
                    code.documents.push(delimiter);
                }
                return self.in_code(letter);
            }
            (_, None) => {
                delimiter.text.push(letter);
                delimiter.is_started = true;
            }
        }
        Ok(())
    }

    pub(super) fn start_document(&mut self) {
        let Frame::Code(code) = self.top() else { return };
        if code.documents.is_empty() {
            return;
        }
        let delimiter = code.documents.remove(0);
        self.push(Frame::Document(Document { delimiter, line: String::new(), holds_value: false }));
    }

    pub(super) fn in_document(&mut self, letter: char) -> Result<(), UnsafePlace> {
        let Frame::Document(document) = self.top() else { return Ok(()) };
        if letter == '\n' {
            if end_of_line(document)? {
                self.pop();
                self.start_document();
            }
            return Ok(());
        }
        let expands = !document.delimiter.is_quoted;
        if !(expands && letter == '\\') {
            document.line.push(letter);
        }
        if expands {
            self.starts_expansion(letter);
        }
        Ok(())
    }
}

// Returns whether the line ends the document. A line that only ends it because of a value is refused,
// also when more follows the delimiter: some shells take that for the end inside `$(…)`.
pub(super) fn end_of_line(document: &mut Document) -> Result<bool, UnsafePlace> {
    let line = document.compared_line();
    let delimiter = document.delimiter.text.as_str();
    let ends = line == delimiter;
    let nearly_ends = ends || (!delimiter.is_empty() && line.starts_with(delimiter));
    if document.holds_value && nearly_ends && document.delimiter.is_quoted {
        let message =
            format!("a value holds a line that would end the here-document: `{delimiter}`");
        return Err(UnsafePlace { message });
    }
    let ends = ends && !document.holds_value;
    document.line.clear();
    document.holds_value = false;
    Ok(ends)
}
