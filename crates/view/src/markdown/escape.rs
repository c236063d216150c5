//! Foreign words inside a line of ours: names, paths, ids, reasons.
//!
//! What is written here stays on its line and means nothing to a Markdown reader. Texts with lines
//! of their own go through [`super::speech`] or [`super::fence`].

/// Appends `text` as plain words.
pub(crate) fn plain(out: &mut String, text: &str) {
    let mut in_word = false;
    let mut rest = text.chars().peekable();
    one_line(out, text, |out, c| {
        // Keeps pace with the characters that are handed out.
        rest.by_ref().find(|next| *next == c);
        let goes_on = rest.peek().is_some_and(|next| next.is_alphanumeric());
        let means_something = match c {
            // Inside a word an underscore is only itself.
            '_' => !(in_word && goes_on),
            c => matches!(
                c,
                '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '#' | '&' | '|' | '~' | '$' | '!'
            ),
        };
        if means_something {
            out.push('\\');
        }
        out.push(c);
        in_word = c.is_alphanumeric();
    });
}

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
    one_line(out, text, String::push);
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

/// Hands out the characters of `text`, with everything that could end the line as one blank.
fn one_line(out: &mut String, text: &str, mut push: impl FnMut(&mut String, char)) {
    let mut broken = false;
    for c in text.chars() {
        let breaks = c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        if !breaks {
            push(out, c);
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
