//! What a page is written on: breaks lines where they would run over the edge, and highlights what
//! is looked for.

use std::io::{self, Write};

use anstyle::Style;

use super::needle::Needle;
use crate::format::style;
use crate::format::visible::{break_at, columns};

/// Fewer columns than this are not worth breaking lines for.
const NARROWEST: usize = 20;

/// What a page is written on. Takes only text that has been made safe.
pub(super) struct Paper<'a> {
    out: &'a mut dyn Write,
    /// The column at which lines are broken; nowhere when a program reads them.
    width: Option<usize>,
    needle: Option<&'a Needle>,
    /// How much of the line is taken.
    column: usize,
}

impl<'a> Paper<'a> {
    pub(super) fn new(
        out: &'a mut dyn Write,
        width: Option<usize>,
        needle: Option<&'a Needle>,
    ) -> Self {
        Paper { out, width, needle, column: 0 }
    }

    /// Returns where to write what is neither broken nor highlighted and takes `columns`.
    pub(super) fn margin(&mut self, columns: usize) -> &mut dyn Write {
        self.column += columns;
        self.out
    }

    /// Writes text that stays on its line.
    pub(super) fn write(&mut self, text: &str, style: Style) -> io::Result<()> {
        self.column += columns(text);
        write!(self.out, "{style}{text}{style:#}")
    }

    /// Writes text that goes on below, standing in by `indent`, where the line is full.
    pub(super) fn flow(&mut self, text: &str, style: Style, indent: usize) -> io::Result<()> {
        let mut rest = text;
        while let Some(width) = self.width {
            let room = width.saturating_sub(self.column).max(NARROWEST);
            let end = break_at(rest, room);
            if end == rest.len() {
                break;
            }
            self.write_found(&rest[..end], style)?;
            self.end_line()?;
            self.write(&" ".repeat(indent), style::PLAIN)?;
            rest = rest[end..].trim_start_matches(' ');
        }
        self.column += if self.width.is_some() { columns(rest) } else { 0 };
        self.write_found(rest, style)
    }

    /// Ends the line.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        self.column = 0;
        writeln!(self.out)
    }

    /// Hands everything over.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn write_found(&mut self, text: &str, style: Style) -> io::Result<()> {
        let found_style = style::FOUND;
        let mut rest = text;
        while let Some(found) = self.needle.and_then(|needle| needle.find(rest)) {
            let (before, hit) = (&rest[..found.start], &rest[found.clone()]);
            write!(self.out, "{style}{before}{style:#}{found_style}{hit}{found_style:#}")?;
            rest = &rest[found.end..];
        }
        write!(self.out, "{style}{rest}{style:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flowed(text: &str, width: Option<usize>, needle: Option<&str>) -> String {
        let needle = needle.map(Needle::new);
        let mut out = Vec::new();
        let mut paper = Paper::new(&mut out, width, needle.as_ref());
        paper.write("12345 ", style::PLAIN).unwrap();
        paper.flow(text, style::PLAIN, 2).unwrap();
        paper.end_line().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_goes_on_below_where_it_is_full() {
        let text = "the quick brown fox jumps over the lazy dog";
        assert_eq!(flowed(text, None, None), format!("12345 {text}\n"));
        assert_eq!(
            flowed(text, Some(30), None),
            "12345 the quick brown fox\n  jumps over the lazy dog\n"
        );
    }

    #[test]
    fn what_is_looked_for_stands_out() {
        assert_eq!(flowed("one fOx", None, Some("FOX")), "12345 one \u{1b}[7mfOx\u{1b}[0m\n");
    }
}
