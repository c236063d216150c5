//! A place in JSON text, and the steps that lead on from there.
//!
//! Every step answers nothing where the text does not go that way, and the walk is over then: who
//! takes it has a slower way that knows what to say. Nothing is decoded and nothing is copied here.
//!
//! Control bytes inside of strings are passed over. In text that is known to be JSON there are none;
//! who walks along anything else asks [`has_control_byte`] once for the whole of it.

use std::ops::Range;

use memchr::memchr2;

const WORD: usize = 8;
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
/// So many words are looked at before a string is taken for a long one.
const NEAR: usize = 3;

/// A place in JSON text.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A string literal that was passed.
pub(crate) struct Literal {
    /// Where its inside is, without the quotes.
    pub(crate) inside: Range<usize>,
    /// Whether something in it is escaped.
    pub(crate) is_escaped: bool,
}

impl<'a> Cursor<'a> {
    /// Begins at the beginning of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    /// Returns where it stands.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the byte that stands here.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Passes white space; returns the byte that stands behind it.
    #[inline]
    pub(crate) fn mark(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                mark => return Some(mark),
            }
        }
    }

    /// Passes white space and then `mark`.
    pub(crate) fn pass(&mut self, mark: u8) -> Option<()> {
        (self.mark()? == mark).then(|| self.at += 1)
    }

    /// Passes exactly these bytes.
    ///
    /// They are known when this is compiled, and compared without a call.
    #[inline(always)]
    pub(crate) fn literal(&mut self, expected: &[u8]) -> Option<()> {
        self.bytes[self.at..].starts_with(expected).then(|| self.at += expected.len())
    }

    /// Passes a string that begins here.
    pub(crate) fn string(&mut self) -> Option<Literal> {
        self.literal(b"\"")?;
        self.string_inside()
    }

    /// Passes a string whose first quote has been passed already.
    pub(crate) fn string_inside(&mut self) -> Option<Literal> {
        let start = self.at;
        let mut is_escaped = false;
        loop {
            let end = self.find_quote_or_backslash()?;
            if self.bytes[end] == b'"' {
                self.at = end + 1;
                return Some(Literal { inside: start..end, is_escaped });
            }
            is_escaped = true;
            self.at = end + 1;
            self.escape()?;
        }
    }

    /// Passes what stands behind a backslash.
    fn escape(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                let digits = self.bytes.get(self.at + 1..self.at + 5)?;
                self.at += 5;
                return digits.iter().all(u8::is_ascii_hexdigit).then_some(());
            }
            _ => return None,
        }
        Some(())
    }

    /// Keys and words end within a few bytes, which are not worth the call that long text is.
    fn find_quote_or_backslash(&self) -> Option<usize> {
        let mut at = self.at;
        let (words, _) = self.bytes[at..].as_chunks::<WORD>();
        for word in words.iter().take(NEAR) {
            let word = u64::from_le_bytes(*word);
            let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
            let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
            // A borrow can mark bytes above a true mark, never below: the lowest is a true one.
            let marks = (quote | backslash) & !word & HIGHS;
            if marks != 0 {
                return Some(at + (marks.trailing_zeros() / 8) as usize);
            }
            at += WORD;
        }
        memchr2(b'"', b'\\', &self.bytes[at..]).map(|found| at + found)
    }

    /// Passes a whole number without a sign; answers nothing for one that does not fit.
    pub(crate) fn whole_number(&mut self) -> Option<u64> {
        let start = self.at;
        let mut value = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            self.at += 1;
        }
        let digits = self.at - start;
        let has_leading_zero = digits > 1 && self.bytes[start] == b'0';
        // A fraction or an exponent would make it another number.
        let goes_on = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        (digits > 0 && !has_leading_zero && !goes_on).then_some(value)
    }

    /// Passes any number.
    pub(crate) fn number(&mut self) -> Option<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek()? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// Passes a value, with white space before it, that nests no deeper than `room`.
    pub(crate) fn value(&mut self, room: usize) -> Option<()> {
        match self.mark()? {
            b'"' => self.string().map(drop),
            b'{' => self.members(b'}', room.checked_sub(1)?),
            b'[' => self.members(b']', room.checked_sub(1)?),
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            _ => self.number(),
        }
    }

    /// Passes an object or a list, from its bracket to the one that closes it.
    fn members(&mut self, close: u8, room: usize) -> Option<()> {
        self.at += 1;
        if self.mark()? == close {
            self.at += 1;
            return Some(());
        }
        loop {
            if close == b'}' {
                self.mark()?;
                self.string()?;
                self.pass(b':')?;
            }
            self.value(room)?;
            let mark = self.mark()?;
            self.at += 1;
            match mark {
                b',' => {}
                _ => return (mark == close).then_some(()),
            }
        }
    }
}

/// Tells whether there is a byte that no string may hold, a line feed among them.
pub(crate) fn has_control_byte(bytes: &[u8]) -> bool {
    // Without a way out of each piece the machine compares many bytes at once.
    let is_clean = |piece: &[u8]| piece.iter().fold(true, |clean, byte| clean & (*byte >= b' '));
    let (pieces, rest) = bytes.as_chunks::<128>();
    !(pieces.iter().all(|piece| is_clean(piece)) && is_clean(rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    /// The first value of a text that is nothing else, if it is a value.
    fn only_value(text: &str) -> Option<&str> {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.mark()?;
        let start = cursor.at();
        cursor.value(100)?;
        let value = &text[start..cursor.at()];
        cursor.mark().is_none().then_some(value)
    }

    fn agrees(text: &str) {
        let theirs = serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get);
        // A line feed between two values is white space, which is not what is asked here.
        if !has_control_byte(text.as_bytes()) {
            assert_eq!(only_value(text), theirs, "{text:?}");
        } else if let Some(theirs) = theirs {
            assert_eq!(only_value(text), Some(theirs), "{text:?}");
        }
    }

    #[test]
    fn what_is_passed_as_a_value_is_what_serde_json_takes_for_one() {
        let texts = "{} [] [1,] [,1] {\"a\":1,} {\"a\"1} {a:1} 01 -0 -  1. .5 1.5e 1e+9 1E-9 1e400 \
            tru true nulll \"a \"\\x\" \"\\u12g4\" \"\\ud800\" \"\\/\" [1}{ ] {\"a\":[{}]} [[]]] \"\\ \
            \"\\u \"\\u123 123456789012345678901234567890 -1.50E+05 {\"\\\"\":\"\\\\\"} [[{}],{},[]]";
        texts.split(' ').for_each(agrees);
        for text in ["", " ", " [ 1 , { \"a\" : null } ] ", "1 2", "\"a\nb\"", "\"\u{7f}\u{2028}\""]
        {
            agrees(text);
        }
    }

    #[test]
    fn a_value_that_nests_deeper_than_there_is_room_is_not_passed() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(only_value(&nested(100)).is_some());
        assert!(only_value(&nested(101)).is_none());
        assert!(only_value(&"[".repeat(1_000_000)).is_none());
    }

    #[test]
    fn a_whole_number_is_one_that_json_spells_so_and_that_fits() {
        let number = |text: &str| Cursor::new(text.as_bytes()).whole_number();
        assert_eq!(number("18446744073709551615,"), Some(u64::MAX));
        assert_eq!((number("0"), number("7]")), (Some(0), Some(7)));
        for other in ["", "x", "-1", "01", "1.0", "1e2", "2E", "18446744073709551616"] {
            assert_eq!(number(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_serde_json_on_whatever_looks_like_json(
            text in r#"([\[\]{},: ]|"([a\\"\x01é]{0,12}|[a-z]{6,40})"|\\[nu"x]|-?[0-9.eE]{1,4}|true|null|\n){0,24}"#
        ) {
            agrees(&text);
        }

        #[test]
        fn a_control_byte_is_found_wherever_it_stands(
            before in "[ a-zé\u{7f}]{0,300}", byte in 0_u8..0x20, after in "[ a-z]{0,200}"
        ) {
            let clean = format!("{before}{after}");
            prop_assert!(!has_control_byte(clean.as_bytes()));
            let bent = format!("{before}{}{after}", char::from(byte));
            prop_assert!(has_control_byte(bent.as_bytes()));
        }
    }
}
