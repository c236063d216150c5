//! Foreign words inside a line of ours: names, paths, ids, reasons.
//!
//! What is written here stays on its line and means nothing to a Markdown reader. Texts with lines
//! of their own go through [`super::speech`] or [`super::fence`].

use super::address::Addresses;

/// Appends `text` as plain words.
pub(crate) fn plain(out: &mut String, text: &str) {
    let mut addresses = Addresses::of(text, SIGNS);
    let mut in_word = false;
    one_line(out, text, |out, at, c| {
        let means_something = match c {
            // Inside a word an underscore is only itself.
            '_' => !(in_word && text[at + 1..].starts_with(char::is_alphanumeric)),
            ':' | '.' => addresses.must_be_broken(at),
            c => u8::try_from(c).is_ok_and(|byte| SIGNS.contains(&byte)),
        };
        if means_something {
            out.push('\\');
        }
        out.push(c);
        in_word = c.is_alphanumeric();
    });
}

/// Signs that mean something to a Markdown reader.
const SIGNS: &[u8] = b"\\`*_[]<>#&|~$!";

/// Appends `text` as code.
pub(crate) fn code(out: &mut String, text: &str) {
    let marks = longest_run(text) + 1;
    let touches = |c: char| c == '`' || c.is_whitespace();
    // A mark at either end would be taken for a part of ours, and blanks there would be dropped.
    let padded = text.is_empty() || text.starts_with(touches) || text.ends_with(touches);
    (0..marks).for_each(|_| out.push('`'));
    if padded {
        out.push(' ');
    }
    one_line(out, text, |out, _, c| out.push(c));
    if padded {
        out.push(' ');
    }
    (0..marks).for_each(|_| out.push('`'));
}

/// Returns the length of the longest run of backticks in `text`.
pub(crate) fn longest_run(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut longest, mut at) = (0, 0);
    while let Some(found) = text[at..].find('`') {
        let begin = at + found;
        let run = bytes[begin..].iter().take_while(|byte| **byte == b'`').count();
        longest = longest.max(run);
        at = begin + run;
    }
    longest
}

/// Hands out the characters of `text` and where they stand, with everything that could end the line as one blank.
fn one_line(out: &mut String, text: &str, mut push: impl FnMut(&mut String, usize, char)) {
    let mut broken = false;
    for (at, c) in text.char_indices() {
        let breaks = c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        if !breaks {
            push(out, at, c);
        } else if !broken {
            out.push(' ');
        }
        broken = breaks;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: fn(&mut String, &str), text: &str) -> String {
        let mut out = String::new();
        write(&mut out, text);
        out
    }

    #[test]
    fn a_name_stays_on_its_line_and_means_nothing() {
        let cases = [
            ("review-repository", "review-repository"),
            ("each_file", "each_file"),
            ("_a_ b__c", "\\_a\\_ b\\_\\_c"),
            ("a\r\n# b", "a \\# b"),
            ("<script>", "\\<script\\>"),
            ("[x](javascript:y)", "\\[x\\](javascript:y)"),
            ("http://a.b/_<b c=d> <b>", "http\\://a.b/\\_\\<b c=d\\> \\<b\\>"),
        ];
        for (text, expected) in cases {
            assert_eq!(written(plain, text), expected);
        }
    }

    #[test]
    fn code_is_marked_with_more_marks_than_it_has() {
        let cases = [
            ("a", "`a`"),
            ("a`b", "``a`b``"),
            ("`", "`` ` ``"),
            ("", "`  `"),
            ("a\nb", "`a b`"),
            (" x", "`  x `"),
        ];
        for (text, expected) in cases {
            assert_eq!(written(code, text), expected, "{text:?}");
        }
    }
}
