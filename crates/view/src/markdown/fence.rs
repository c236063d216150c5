//! Texts to the letter, between fences: what tools, commands and records said.
//!
//! A fence is always longer than any run of backticks inside, so that no text can end it. A long
//! text loses its middle, and the page says how much that is.

use super::Length;
use super::escape::longest_run;
use crate::figure;

/// A text with more lines than this, or more bytes, is long.
const LINES: usize = 40;
const BYTES: usize = 6 * 1024;
/// What is kept of a long text at its beginning and at its end.
const HEAD: Part = Part { lines: 24, bytes: 3 * 1024 };
const TAIL: Part = Part { lines: 8, bytes: 1024 };

struct Part {
    lines: usize,
    bytes: usize,
}

/// Appends `text` between fences, each a paragraph of its own. `language` is a word of ours.
pub(crate) fn fenced(out: &mut String, language: &str, text: &str, length: Length) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let Some((head, middle, tail)) = parts(text, length) else {
        return whole(out, language, text);
    };
    whole(out, language, head);
    out.push_str("*… ");
    let ends = middle.bytes().filter(|byte| *byte == b'\n').count() as u64;
    let lines = ends + u64::from(!middle.ends_with('\n'));
    if lines > 1 {
        figure::counted(out, lines, "line");
        out.push_str(", ");
    }
    figure::bytes(out, middle.len() as u64);
    out.push_str(" left out …*\n\n");
    whole(out, "", tail);
}

fn whole(out: &mut String, language: &str, text: &str) {
    let marks = longest_run(text).max(2) + 1;
    let mark = |out: &mut String| (0..marks).for_each(|_| out.push('`'));
    out.reserve(text.len() + 2 * marks + 16);
    mark(out);
    out.push_str(language);
    out.push('\n');
    out.push_str(text);
    if !text.is_empty() {
        out.push('\n');
    }
    mark(out);
    out.push_str("\n\n");
}

/// Divides a long text into what is kept at its beginning, what is left out, and its end.
fn parts(text: &str, length: Length) -> Option<(&str, &str, &str)> {
    let is_long = length == Length::Short
        && (text.len() > BYTES || text.bytes().filter(|byte| *byte == b'\n').count() >= LINES);
    if !is_long {
        return None;
    }
    let head_end = end_of_head(text);
    let tail_begin = begin_of_tail(text).max(head_end);
    let middle = &text[head_end..tail_begin];
    Some((&text[..head_end], middle.strip_prefix('\n').unwrap_or(middle), &text[tail_begin..]))
}

fn end_of_head(text: &str) -> usize {
    let limit = text.floor_char_boundary(HEAD.bytes);
    let mut ends = text[..limit].match_indices('\n').map(|(at, _)| at);
    match ends.clone().nth(HEAD.lines - 1) {
        Some(end) => end,
        // A line that goes on far beyond the limit is cut where it stands.
        None => ends.next_back().filter(|end| limit - end < limit / 2).unwrap_or(limit),
    }
}

fn begin_of_tail(text: &str) -> usize {
    let limit = text.ceil_char_boundary(text.len().saturating_sub(TAIL.bytes));
    let mut begins = text[limit..].rmatch_indices('\n').map(|(at, _)| limit + at + 1);
    begins.nth(TAIL.lines - 1).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(text: &str) -> String {
        let mut out = String::new();
        fenced(&mut out, "", text, Length::Short);
        out
    }

    #[test]
    fn a_fence_is_longer_than_any_run_inside() {
        assert_eq!(short("a\n"), "```\na\n```\n\n");
        assert_eq!(short("````"), "`````\n````\n`````\n\n");
        assert_eq!(short("x\r```\ry"), "````\nx\r```\ry\n````\n\n");
        assert_eq!(short(""), "```\n```\n\n");
    }

    #[test]
    fn a_long_text_loses_its_middle_and_says_how_much() {
        let numbered: String = (1..=100).map(|n| format!("line {n}\n")).collect();
        let shown = short(&numbered);
        assert!(shown.contains("line 24\n```\n\n*… 68 lines, 544 B left out …*\n\n```\nline 93\n"));
        let mut full = String::new();
        fenced(&mut full, "", &numbered, Length::Full);
        assert_eq!(full, format!("```\n{numbered}```\n\n"));
    }

    #[test]
    fn nothing_is_shown_twice_and_nothing_is_forgotten() {
        let cases = [
            "é".repeat(50_000),
            "x".repeat(7000),
            "\n".repeat(60),
            format!("{}\n", "a b\n".repeat(5000)),
            format!("{}\n{}", "x".repeat(4000), "y\n".repeat(4000)),
        ];
        for text in cases {
            let (head, middle, tail) = parts(&text, Length::Short).expect("the text is long");
            let between = text.len() - head.len() - middle.len() - tail.len();
            assert!(between <= 1, "{between} bytes are neither shown nor counted");
            assert!(text.starts_with(head) && text.ends_with(tail));
        }
    }
}
