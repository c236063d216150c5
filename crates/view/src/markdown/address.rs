//! Bare addresses among foreign words.
//!
//! Readers of GitHub's Markdown make a link of `http://…` and `www.…` and take every sign up to the next
//! blank or `<` for a part of it: a backslash there hides nothing, and a backtick begins no code. So
//! an address stays a link only if no sign in its word must be hidden. Otherwise it is written
//! such that nobody takes it for one. Where exactly an address ends is not decided here.

/// The addresses of a text, looked at once from its beginning to its end.
pub(crate) struct Addresses<'a> {
    text: &'a str,
    /// Signs that are hidden where they stand.
    signs: &'static [u8],
    /// Where the word ends that was looked at last.
    word_end: usize,
    has_signs: bool,
}

impl<'a> Addresses<'a> {
    /// Begins at the beginning of `text`, in which `signs` are hidden.
    pub(crate) fn of(text: &'a str, signs: &'static [u8]) -> Self {
        Addresses { text, signs, word_end: 0, has_signs: false }
    }

    /// Tells whether there may be one.
    pub(crate) fn are_there(&self) -> bool {
        let bytes = self.text.as_bytes();
        // What stands in their middle is rarer than letters, and is looked for many bytes at a time.
        let is_scheme = |at: usize| bytes[at..].starts_with(b"://") && at + 3 < bytes.len();
        let is_www = |at: usize| at >= 3 && bytes[at - 3..at].eq_ignore_ascii_case(b"www");
        self.text.match_indices(':').any(|(at, _)| is_scheme(at))
            || self.text.match_indices('.').any(|(at, _)| is_www(at))
    }

    /// Tells whether the sign at `at` makes an address of its word that must not be one.
    ///
    /// Asked for one place after the other.
    pub(crate) fn must_be_broken(&mut self, at: usize) -> bool {
        let (before, rest) = self.text.as_bytes().split_at(at);
        let begins = match rest.first() {
            Some(b':') => rest.starts_with(b"://"),
            Some(b'.') => before.len() >= 3 && before[at - 3..].eq_ignore_ascii_case(b"www"),
            _ => false,
        };
        if begins && at >= self.word_end {
            let word = rest.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            self.word_end = at + word.len();
            self.has_signs = word.iter().any(|byte| self.signs.contains(byte));
        }
        begins && self.has_signs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_broken_if_a_sign_in_its_word_is_hidden() {
        let cases = [
            ("a: b. ://", false, ""),
            ("http://a.b <", true, ""),
            ("x:https://a.b/www.c< http://d", true, "://a.b/www"),
            ("(WWW.a.b< www.c <", true, "."),
            ("ww.a<\t:/a<", false, ""),
        ];
        for (text, are_there, broken) in cases {
            let mut addresses = Addresses::of(text, b"<");
            assert_eq!(addresses.are_there(), are_there, "{text}");
            let places: Vec<usize> =
                (0..text.len()).filter(|at| addresses.must_be_broken(*at)).collect();
            let expected: Vec<usize> = match broken {
                "" => Vec::new(),
                "." => vec![4],
                between => {
                    let begin = text.find(between).unwrap();
                    vec![begin, begin + between.len()]
                }
            };
            assert_eq!(places, expected, "{text}");
        }
    }
}
