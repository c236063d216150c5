//! A text that is looked for, in any case.

use std::ops::Range;

/// A text that is looked for. Never empty.
#[derive(Clone, Debug)]
pub(super) struct Needle {
    lower: Vec<char>,
}

impl Needle {
    pub(super) fn new(text: &str) -> Self {
        Needle { lower: text.chars().flat_map(char::to_lowercase).collect() }
    }

    /// Tells whether `text` has it.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// Returns where `text` first has it.
    pub(super) fn find(&self, text: &str) -> Option<Range<usize>> {
        text.char_indices().find_map(|(at, _)| {
            let len = self.len_at(&text[at..])?;
            Some(at..at + len)
        })
    }

    /// Returns how many bytes of the beginning of `text` are it, if they are.
    ///
    /// Compared letter by letter, since a letter and its lower case may differ in length.
    fn len_at(&self, text: &str) -> Option<usize> {
        let mut wanted = self.lower.iter().peekable();
        for (at, c) in text.char_indices() {
            if wanted.peek().is_none() {
                return Some(at);
            }
            for lower in c.to_lowercase() {
                if *wanted.next()? != lower {
                    return None;
                }
            }
        }
        wanted.peek().is_none().then_some(text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_in_any_case() {
        let cases = [
            ("denied", "Permission DENIED", Some(11..17)),
            ("É", "café", Some(3..5)),
            ("x", "", None),
            ("abc", "ab", None),
            ("b", "aab", Some(2..3)),
            ("i", "İstanbul", None),
        ];
        for (needle, text, expected) in cases {
            assert_eq!(Needle::new(needle).find(text), expected, "{needle} in {text}");
        }
    }
}
