//! As much of a long text as is worth showing, and how much is left out.

use super::needle::Needle;
use crate::format::count;
use crate::format::entry::Voice;
use crate::format::visible::cut_at;

/// How wide a line may be before its rest is left out.
const WIDEST: usize = 600;
/// Hiding fewer lines than this would gain nothing.
const SLACK: usize = 2;

/// Whether long texts are shown whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shortening {
    /// All of everything.
    None,
    /// Long texts lose their ends.
    Long,
}

/// One line of an excerpt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Excerpt<'a> {
    /// A line of the text.
    Line(&'a str),
    /// The beginning of a line, and how much of it is left out.
    Cut(&'a str, String),
    /// Lines are left out here: how many.
    Hidden(String),
}

/// Returns what is shown of `text`. Lines that have the needle are always shown.
pub(super) fn excerpt<'a>(
    text: &'a str,
    voice: Voice,
    shortening: Shortening,
    needle: Option<&Needle>,
) -> Vec<Excerpt<'a>> {
    let text = text.trim_end();
    if shortening == Shortening::None {
        return text.split('\n').map(Excerpt::Line).collect();
    }
    let limit = match voice {
        Voice::Speech => 40,
        Voice::Output => 12,
    };
    let all_fit = text.split('\n').take(limit + SLACK + 1).count() <= limit + SLACK;
    let mut shown = Vec::new();
    let mut hidden = Hidden::default();
    for (number, line) in text.split('\n').enumerate() {
        let wanted = all_fit || number < limit || needle.is_some_and(|needle| needle.is_in(line));
        if wanted {
            shown.extend(hidden.take());
            shown.push(cut(line, needle));
        } else {
            hidden.lines += 1;
            hidden.bytes += line.len() as u64 + 1;
        }
    }
    shown.extend(hidden.take());
    shown
}

#[derive(Default)]
struct Hidden {
    lines: u64,
    bytes: u64,
}

impl Hidden {
    fn take<'a>(&mut self) -> Option<Excerpt<'a>> {
        let Hidden { lines, bytes } = std::mem::take(self);
        let what = format!("… {} ({})", count::of(lines, "more line"), count::bytes(bytes));
        (lines > 0).then_some(Excerpt::Hidden(what))
    }
}

fn cut<'a>(line: &'a str, needle: Option<&Needle>) -> Excerpt<'a> {
    // A needle far out in a long line is shown all the same.
    let reach = needle.and_then(|needle| needle.find(line)).map_or(0, |found| found.end);
    let end = cut_at(line, WIDEST).max(reach);
    if end == line.len() {
        return Excerpt::Line(line);
    }
    Excerpt::Cut(&line[..end], format!("… {} more", count::bytes((line.len() - end) as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, needle: Option<&str>) -> Vec<String> {
        let needle = needle.map(Needle::new);
        excerpt(text, Voice::Output, Shortening::Long, needle.as_ref())
            .into_iter()
            .map(|line| match line {
                Excerpt::Line(line) => line.to_owned(),
                Excerpt::Cut(_, rest) | Excerpt::Hidden(rest) => rest,
            })
            .collect()
    }

    fn numbered(count: usize) -> String {
        (1..=count).map(|n| format!("line {n}\n")).collect()
    }

    #[test]
    fn a_long_text_loses_its_end_and_says_how_much() {
        let shown = of(&numbered(100), None);
        assert_eq!(shown.len(), 13);
        assert_eq!(shown[12], "… 88 more lines (705 B)");
    }

    #[test]
    fn a_text_that_is_hardly_too_long_is_shown_whole() {
        assert_eq!(of(&numbered(14), None).len(), 14);
        assert_eq!(of(&numbered(15), None).len(), 13);
    }

    #[test]
    fn a_line_that_is_looked_for_is_never_hidden() {
        let shown = of(&numbered(100), Some("LINE 50"));
        assert_eq!(shown[12..], ["… 37 more lines (296 B)", "line 50", "… 50 more lines (401 B)"]);
    }

    #[test]
    fn a_wide_line_loses_its_end_unless_it_is_looked_for() {
        let line = format!("{}needle{}", "x".repeat(1000), "y".repeat(1000));
        assert_eq!(of(&line, None), ["… 1.4 kB more"]);
        assert_eq!(of(&line, Some("needle")), ["… 1 kB more"]);
    }
}
