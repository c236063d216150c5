//! A line that is put together of coloured pieces and knows how wide it is.

use std::fmt::Write as _;

use anstyle::Style;

use super::style;
use super::visible::{columns, cut_styled};

/// A line of coloured pieces. Whoever adds one has made it safe for a terminal.
#[derive(Debug, Default)]
pub(crate) struct Styled {
    text: String,
    columns: usize,
}

impl Styled {
    /// Adds a piece.
    pub(crate) fn add(&mut self, style: Style, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.columns += columns(piece);
        write!(self.text, "{style}{piece}{style:#}").expect("a text takes every text");
    }

    /// Adds a piece without colour.
    pub(crate) fn add_plain(&mut self, piece: &str) {
        self.add(style::PLAIN, piece);
    }

    /// Returns how many columns it takes.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the line, cut to `width` columns with `…` where it was cut.
    pub(crate) fn fit(self, width: usize) -> String {
        match self.columns > width {
            true => cut_styled(&self.text, width.saturating_sub(1)) + "…",
            false => self.text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_by_what_is_seen_of_it() {
        let line = || {
            let mut line = Styled::default();
            line.add(style::BOLD, "größe");
            line.add_plain(" 漢字");
            line
        };
        assert_eq!(line().columns(), 10);
        assert_eq!(line().fit(10), "\u{1b}[1mgröße\u{1b}[0m 漢字");
        assert_eq!(line().fit(9), "\u{1b}[1mgröße\u{1b}[0m 漢\u{1b}[0m…");
        assert_eq!(line().fit(3), "\u{1b}[1mgr\u{1b}[0m…");
    }
}
