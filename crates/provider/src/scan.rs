//! Where the parts of a JSON text begin and end.
//!
//! Most of a record is long text, and a record is looked at more than once: whole, then the part
//! that says something. `serde_json` looks at it byte by byte each time. This accepts exactly what
//! `serde_json` accepts (a test holds it to that), looks for the ends of strings many bytes at a
//! time, and decodes nothing.

use memchr::memchr2;

/// Strings longer than this are remembered once they have been seen.
const LONG: usize = 64;
/// So far is looked for the end of a string before it is taken for a long one.
const NEAR: usize = 32;

/// Where the long strings of a record begin and end, in their order.
///
/// They are most of its bytes: who looks into a part of a record need not pass them again.
#[derive(Debug, Default)]
pub(crate) struct LongStrings(Vec<(usize, usize)>);

impl LongStrings {
    /// Of a text that has none, or has not been looked at.
    pub(crate) const NONE: &LongStrings = &LongStrings(Vec::new());

    /// Returns how long the string is that begins at `start`, if it is long.
    fn len_of(&self, start: &u8) -> Option<usize> {
        let start = std::ptr::from_ref(start).addr();
        let found = self.0.binary_search_by_key(&start, |string| string.0).ok()?;
        Some(self.0[found].1)
    }
}

/// A place in a JSON text.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    known: &'a LongStrings,
    /// The long strings that have been passed.
    passed: LongStrings,
    /// What ends the lists and objects around this place.
    open: Vec<u8>,
    /// Whether no string can hold a control byte.
    is_plain: bool,
}

/// One member of an object: its key as it stands without quotes, and its value.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: &'a str,
}

impl<'a> Scanner<'a> {
    /// Begins at the beginning of a text that may be anything.
    pub(crate) fn new(text: &'a str) -> Self {
        Scanner {
            is_plain: !has_control_byte(text.as_bytes()),
            ..Scanner::of_value(text, LongStrings::NONE)
        }
    }

    /// Begins at the beginning of a text that is known to be a value.
    pub(crate) fn of_value(text: &'a str, known: &'a LongStrings) -> Self {
        let passed = LongStrings::default();
        Scanner { text, at: 0, known, passed, open: Vec::new(), is_plain: true }
    }

    /// Calls `each` with the members of the object that the text is; nothing if it is none.
    ///
    /// Returns the long strings that it passed.
    pub(crate) fn members(mut self, mut each: impl FnMut(Member<'a>)) -> Option<LongStrings> {
        self.skip_space();
        self.expect(b'{')?;
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return self.end().map(|()| self.passed);
        }
        loop {
            let key = self.pass_key()?;
            let value = self.pass_value()?;
            each(Member { key, value });
            match self.next_mark()? {
                b',' => self.skip_space(),
                b'}' => return self.end().map(|()| self.passed),
                _ => return None,
            }
        }
    }

    /// Calls `each` with the items of the list that the text is; nothing if it is none.
    pub(crate) fn items(mut self, mut each: impl FnMut(&'a str)) -> Option<()> {
        self.skip_space();
        self.expect(b'[')?;
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return self.end();
        }
        loop {
            each(self.pass_value()?);
            match self.next_mark()? {
                b',' => {}
                b']' => return self.end(),
                _ => return None,
            }
        }
    }

    /// Returns the one value that the text is; nothing if it is none.
    pub(crate) fn whole(mut self) -> Option<&'a str> {
        let value = self.pass_value()?;
        self.end()?;
        Some(value)
    }

    fn pass_value(&mut self) -> Option<&'a str> {
        self.skip_space();
        let start = self.at;
        let outer = self.open.len();
        loop {
            self.skip_space();
            if !self.pass_opening()? {
                continue;
            }
            // A value has ended, and with it perhaps what it stands in.
            loop {
                if self.open.len() == outer {
                    return Some(&self.text[start..self.at]);
                }
                match self.next_mark()? {
                    b',' if self.open.last() == Some(&b'}') => {
                        self.skip_space();
                        self.pass_key()?;
                        break;
                    }
                    b',' => break,
                    mark if self.open.last() == Some(&mark) => drop(self.open.pop()),
                    _ => return None,
                }
            }
        }
    }

    /// Passes a simple value, an empty list or object, or the beginning of one with something in
    /// it; returns whether the value has ended.
    fn pass_opening(&mut self) -> Option<bool> {
        match self.peek()? {
            b'"' => self.pass_string()?,
            bracket @ (b'{' | b'[') => {
                let close = bracket + 2;
                self.at += 1;
                self.skip_space();
                if self.peek()? == close {
                    self.at += 1;
                    return Some(true);
                }
                self.open.push(close);
                if bracket == b'{' {
                    self.pass_key()?;
                }
                return Some(false);
            }
            b'-' | b'0'..=b'9' => self.pass_number()?,
            b't' => self.pass_word("true")?,
            b'f' => self.pass_word("false")?,
            b'n' => self.pass_word("null")?,
            _ => return None,
        }
        Some(true)
    }

    /// Passes a key and its colon; returns the key without its quotes.
    fn pass_key(&mut self) -> Option<&'a str> {
        let start = self.at + 1;
        self.pass_string()?;
        let key = &self.text[start..self.at - 1];
        self.skip_space();
        self.expect(b':')?;
        Some(key)
    }

    fn pass_string(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        self.expect(b'"')?;
        if self.is_plain {
            let near = &bytes[self.at..bytes.len().min(self.at + NEAR)];
            match memchr2(b'"', b'\\', near) {
                Some(end) if near[end] == b'"' => {
                    self.at += end + 1;
                    return Some(());
                }
                _ => {}
            }
            if let Some(len) = self.known.len_of(&bytes[start]) {
                self.at = start + len;
                return Some(());
            }
        }
        self.pass_long_string()?;
        if self.at - start > LONG {
            let address = std::ptr::from_ref(&bytes[start]).addr();
            self.passed.0.push((address, self.at - start));
        }
        Some(())
    }

    fn pass_long_string(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        loop {
            let end = self.at + memchr2(b'"', b'\\', bytes.get(self.at..)?)?;
            if !self.is_plain && has_control_byte(&bytes[self.at..end]) {
                return None;
            }
            self.at = end;
            match bytes[end] {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => match bytes.get(self.at + 1)? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
                    b'u' => {
                        let digits = bytes.get(self.at + 2..self.at + 6)?;
                        if !digits.iter().all(u8::is_ascii_hexdigit) {
                            return None;
                        }
                        self.at += 6;
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    fn pass_number(&mut self) -> Option<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek()? {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.pass_digits()?,
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.pass_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.pass_digits()?;
        }
        Some(())
    }

    fn pass_digits(&mut self) -> Option<()> {
        let digits = self.text.as_bytes()[self.at..].iter().take_while(|b| b.is_ascii_digit());
        let count = digits.count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn pass_word(&mut self, word: &str) -> Option<()> {
        let is_here = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        is_here.then_some(())
    }

    fn next_mark(&mut self) -> Option<u8> {
        self.skip_space();
        let mark = self.peek()?;
        self.at += 1;
        Some(mark)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        let is_here = self.peek()? == byte;
        self.at += 1;
        is_here.then_some(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn end(&mut self) -> Option<()> {
        self.skip_space();
        self.peek().is_none().then_some(())
    }
}

/// Tells whether there is a byte that no string may hold.
fn has_control_byte(bytes: &[u8]) -> bool {
    // Without a way out of each piece the machine compares many bytes at once.
    bytes.chunks(64).any(|piece| piece.iter().fold(false, |found, byte| found | (*byte < b' ')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn agrees(text: &str) {
        let theirs = serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get);
        assert_eq!(Scanner::new(text).whole(), theirs, "{text:?}");
    }

    #[test]
    fn what_it_accepts_is_what_serde_json_accepts() {
        let texts = "{} [] [1,] [,1] {\"a\":1,} {\"a\"1} {a:1} 01 -0 -  1. .5 1.5e 1e+9 1E-9 1e400 \
            tru true nulll \"a \"\\x\" \"\\u12g4\" \"\\ud800\" \"\\/\" [1}{ ] {\"a\":[{}]} [[]]] \"\\";
        texts.split(' ').for_each(agrees);
        for text in ["", " ", " [ 1 , { \"a\" : null } ] ", "1 2", "\"a\nb\"", "\"\u{7f}\u{2028}\""]
        {
            agrees(text);
        }
        agrees(&("[".repeat(5000) + &"]".repeat(5000)));
    }

    proptest! {
        #[test]
        fn it_agrees_with_serde_json_on_whatever_looks_like_json(
            text in r#"([\[\]{},: ]|"[a\\"\x01é]{0,12}"|\\[nu"x]|-?[0-9.eE]{1,4}|true|null|\n){0,24}"#
        ) {
            agrees(&text);
        }
    }
}
