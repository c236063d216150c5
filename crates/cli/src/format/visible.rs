//! Recorded text, made safe for a terminal.
//!
//! A terminal obeys escape sequences and control characters, and it reorders text at the word of
//! bidirectional marks. None of these ever reach it: each is replaced by something to look at.

use std::borrow::Cow;

/// How many columns stand between two tab stops.
const TAB: usize = 8;

/// Returns `text` with every control character but line feed and tab made visible.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_control(c) && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => out.push(c),
            // The end of a line as other systems write it is still only the end of a line.
            '\r' if rest.peek() == Some(&'\n') => {}
            c => push_visible(&mut out, c),
        }
    }
    Cow::Owned(out)
}

/// Returns `text` as one safe line of at most `width` columns, with `…` where it was cut.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    if text.len() <= width && is_one_plain_line(text.as_bytes()) {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut taken = 0;
    let mut fits_with_mark = 0;
    for word in text.split_whitespace() {
        let gap = usize::from(!out.is_empty());
        for c in std::iter::repeat_n(' ', gap).chain(word.chars()) {
            let before = out.len();
            push_visible(&mut out, c);
            taken += columns(&out[before..]);
            if taken < width {
                fits_with_mark = out.len();
            } else if taken > width {
                out.truncate(fits_with_mark);
                out.push('…');
                return out;
            }
        }
    }
    out
}

/// Returns how many columns `text` takes, as most terminals count.
pub(crate) fn columns(text: &str) -> usize {
    if is_one_plain_line(text.as_bytes()) {
        return text.len();
    }
    text.chars().map(columns_of).sum()
}

/// Returns the byte at which the first `width` columns of `text` end.
pub(crate) fn cut_at(text: &str, width: usize) -> usize {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += columns_of(c);
        if taken > width {
            return at;
        }
    }
    text.len()
}

/// Returns the first `width` columns of a line with our own colours in it, which end with it.
pub(crate) fn cut_styled(line: &str, width: usize) -> String {
    let mut out = String::with_capacity(line.len());
    let mut taken = 0;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            // A colour ends with its `m`.
            out.push(c);
            for c in rest.by_ref() {
                out.push(c);
                if c == 'm' {
                    break;
                }
            }
            continue;
        }
        taken += columns_of(c);
        if taken > width {
            out.push_str("\u{1b}[0m");
            break;
        }
        out.push(c);
    }
    out
}

/// Returns the byte at which a line of `text` is to be broken to fit into `width` columns: at a
/// space if there is one far enough out. At least one character is always taken.
pub(crate) fn break_at(text: &str, width: usize) -> usize {
    let end = cut_at(text, width);
    if end == text.len() {
        return end;
    }
    // A space just behind the last column is a good place too.
    let reach = text[end..].chars().next().map_or(end, |c| end + c.len_utf8());
    match text[..reach].rfind(' ') {
        Some(space) if space > end / 2 => space,
        _ if end == 0 => reach,
        _ => end,
    }
}

/// Tells whether text is what most text is, so that it can be taken as it stands: printable ASCII
/// with nothing but single spaces between its words.
fn is_one_plain_line(text: &[u8]) -> bool {
    let edges = [text.first(), text.last()];
    text.iter().all(|byte| (b' '..0x7f).contains(byte))
        && !edges.contains(&Some(&b' '))
        && !text.windows(2).any(|pair| pair == b"  ")
}

fn push_visible(out: &mut String, c: char) {
    match c {
        '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('␦')),
        '\u{7f}' => out.push('␡'),
        c if is_control(c) => out.push_str(&format!("<U+{:04X}>", c as u32)),
        c => out.push(c),
    }
}

/// Tells whether a terminal would do something at `c` rather than show it.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the columns of one character: none for marks that sit on another, two for the scripts
/// and pictures that are drawn wide. An estimate that errs only on rare characters.
fn columns_of(c: char) -> usize {
    match c as u32 {
        0x09 => TAB,
        0x300..=0x36f | 0x200b..=0x200d | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_but_line_feed_and_tab_is_left() {
        let all: String = (0..=0x10_ffff).filter_map(char::from_u32).collect();
        let shown = visible(&all);
        assert!(shown.chars().all(|c| !is_control(c) || matches!(c, '\n' | '\t')));
        let line = one_line(&all, usize::MAX);
        assert!(!line.chars().any(is_control));
    }

    #[test]
    fn what_is_replaced_can_still_be_told() {
        let cases = [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\u{1b}[31mred\u{7}", "␛[31mred␇"),
            ("a\r\nb\rc", "a\nb␍c"),
            ("\u{7f}\u{9b}2J", "␡<U+009B>2J"),
            ("user\u{202e}nimda", "user<U+202E>nimda"),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn a_coloured_line_is_cut_by_what_is_seen_of_it() {
        let cases = [
            ("plain", 9, "plain"),
            ("plain", 3, "pla\u{1b}[0m"),
            ("\u{1b}[31mred\u{1b}[0m and", 3, "\u{1b}[31mred\u{1b}[0m\u{1b}[0m"),
            ("\u{1b}[31m漢字\u{1b}[0m", 3, "\u{1b}[31m漢\u{1b}[0m"),
        ];
        for (line, width, expected) in cases {
            assert_eq!(cut_styled(line, width), expected, "{line:?} in {width}");
        }
    }

    #[test]
    fn a_line_is_broken_at_a_space_where_there_is_one() {
        let cases = [
            ("short", 10, "short"),
            ("one two three", 7, "one two"),
            ("one two three", 9, "one two"),
            ("unbreakable", 4, "unbr"),
            ("a unbreakable", 8, "a unbrea"),
            ("漢字漢字", 5, "漢字"),
            ("漢字", 1, "漢"),
        ];
        for (text, width, expected) in cases {
            assert_eq!(&text[..break_at(text, width)], expected, "{text:?} in {width}");
        }
    }

    #[test]
    fn one_line_joins_words_and_marks_where_it_was_cut() {
        let cases = [
            ("  two\n  lines ", 20, "two lines"),
            ("exactly", 7, "exactly"),
            ("too long", 7, "too lo…"),
            ("漢字漢字", 5, "漢字…"),
            ("漢字", 4, "漢字"),
            ("any", 0, "…"),
            ("", 0, ""),
        ];
        for (text, width, expected) in cases {
            assert_eq!(one_line(text, width), expected, "{text:?} in {width}");
        }
    }
}
