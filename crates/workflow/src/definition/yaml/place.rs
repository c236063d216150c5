//! Where a byte of a scalar's text stands in the file.
//!
//! The text is what YAML made of the file: quotes, escapes, folds and indentation are gone. This
//! walks both side by side.

use std::iter::Peekable;
use std::str::Chars;

use super::{Place, Scalar, Source, Style};

/// Returns the place of the byte at `offset` of the text of a scalar that begins at `begin`.
pub(super) fn inside(begin: &Place, scalar: &Scalar, offset: usize) -> Place {
    let Some(source) = &scalar.source else { return begin.clone() };
    let offset = floor_char(&scalar.text, offset);
    let found = match scalar.style {
        Style::Literal => in_literal(begin, scalar, source, offset),
        _ => in_flow(begin, scalar, source, offset),
    };
    found.unwrap_or_else(|| begin.clone())
}

/// Each line of a literal block is a line of the file, only indented.
fn in_literal(begin: &Place, scalar: &Scalar, source: &Source, offset: usize) -> Option<Place> {
    let before = &scalar.text[..offset];
    let row = before.matches('\n').count();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = scalar.text[line_start..].split('\n').next()?;
    // The parser gives the first line that is not empty as the beginning.
    let empty = scalar.text.bytes().take_while(|byte| *byte == b'\n').count();
    let number = (begin.line + row).checked_sub(empty)?;
    let raw = source.line(number)?;
    let indent = raw.chars().count().checked_sub(line.chars().count())?;
    Some(source.place(number, indent + before[line_start..].chars().count() + 1))
}

fn in_flow(begin: &Place, scalar: &Scalar, source: &Source, offset: usize) -> Option<Place> {
    let mut raw = Walk { rest: source.from(begin)?.chars().peekable(), at: begin.clone() };
    let mut text = scalar.text.char_indices().peekable();
    match scalar.style {
        Style::SingleQuoted | Style::DoubleQuoted => drop(raw.next()),
        Style::Folded => while text.next_if(|(_, c)| *c == '\n').is_some() {},
        Style::Plain | Style::Literal => {}
    }
    while let Some((index, wanted)) = text.next() {
        if wanted.is_whitespace() && raw.is_before_line_end() {
            if index >= offset {
                return Some(raw.at);
            }
            raw.skip_blank();
            // One fold in the file may be several line feeds in the text, or one space.
            while text.next_if(|(i, c)| *i < offset && matches!(c, ' ' | '\n')).is_some() {}
            continue;
        }
        if scalar.style == Style::DoubleQuoted {
            raw.skip_joined_lines();
        }
        if index >= offset {
            return Some(raw.at);
        }
        raw.step_over(scalar.style)?;
    }
    Some(raw.at)
}

/// A walk through the file that knows where it is.
struct Walk<'s> {
    rest: Peekable<Chars<'s>>,
    at: Place,
}

impl Walk<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.at.line += 1;
            self.at.column = 1;
        } else {
            self.at.column += 1;
        }
        Some(c)
    }

    /// Tells whether only blanks stand between here and the end of the line.
    fn is_before_line_end(&self) -> bool {
        let mut ahead = self.rest.clone();
        loop {
            match ahead.next() {
                Some('\n') => return true,
                Some(c) if c.is_whitespace() => {}
                _ => return false,
            }
        }
    }

    fn skip_blank(&mut self) {
        while self.rest.peek().is_some_and(|c| c.is_whitespace()) {
            self.next();
        }
    }

    /// Steps over a backslash at the end of a line, which joins it to the next.
    fn skip_joined_lines(&mut self) {
        let mut ahead = self.rest.clone();
        if ahead.next() == Some('\\') && matches!(ahead.next(), Some('\n' | '\r')) {
            self.next();
            self.skip_blank();
        }
    }

    /// Steps over what one character of the text was written as.
    fn step_over(&mut self, style: Style) -> Option<()> {
        let c = self.next()?;
        match (style, c) {
            (Style::SingleQuoted, '\'') => drop(self.next()),
            (Style::DoubleQuoted, '\\') => {
                let digits = match self.next()? {
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    _ => 0,
                };
                for _ in 0..digits {
                    self.next()?;
                }
            }
            _ => {}
        }
        Some(())
    }
}

fn floor_char(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::read;

    #[test]
    fn every_way_of_writing_a_text_leads_back_to_the_mark_in_it() {
        // The mark is the letter Z; the expected place is where it stands in the file.
        let cases = [
            "key: plain Z",
            "key: \"quoted Z\"",
            "key: 'single ''quoted'' Z'",
            "key: \"tab \\t nl \\n u \\u00e9 x \\x41 Z\"",
            "key: ünïcode Z",
            "key: |\n  one\n\n  two Z\n",
            "key: |2-\n    kept indent\n   Z\n",
            "key: |\n\n\n  late Z",
            "key: >\n  one\n  two\n\n  three Z\n",
            "key: plain over\n  two lines\n\n  and a gap Z",
            "key: 'single over\n\n  lines Z'",
            "key: \"double over \\\n   joined Z\"",
            "a:\n  - b: [x, \"in flow Z\"]",
        ];
        for text in cases {
            let root = read(Path::new("f.yaml"), text).unwrap();
            let mut node = &root;
            while node.scalar().is_none() {
                node = match &node.content {
                    super::super::Content::Mapping(entries) => &entries[0].value,
                    super::super::Content::Sequence(items) => items.last().unwrap(),
                    super::super::Content::Scalar(_) => unreachable!(),
                };
            }
            let offset = node.scalar().unwrap().text.find('Z').unwrap();
            let place = node.place_of(offset);
            let (line, row) = text.lines().enumerate().find(|(_, l)| l.contains('Z')).unwrap();
            let column = row.chars().position(|c| c == 'Z').unwrap();
            assert_eq!((place.line, place.column), (line + 1, column + 1), "{text}");
        }
    }
}
