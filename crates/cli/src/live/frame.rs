//! One picture over the last: lines that stay scroll up, rows that move are painted over.
//!
//! A frame is one text, so that it is written with one call and nothing flickers. Lines that stay
//! end with a line feed and are never padded: a terminal that is made narrower wraps them like any
//! other output, and copying them copies what was said.

use crate::format::visible::{columns, cut_styled};

/// What of the last frame is still to be painted over.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// How many columns each row took.
    rows: Vec<usize>,
    last: Vec<String>,
}

/// Asks the terminal to show what follows at once; those that cannot do so ignore it.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";

impl Frame {
    /// Returns what to write to show `lines` above `rows` on a terminal that is `width` wide now;
    /// nothing if that is what it shows already.
    pub(crate) fn next(
        &mut self,
        lines: &[String],
        rows: Vec<String>,
        width: usize,
    ) -> Option<String> {
        // The last column stays free: some terminals wrap as soon as it is used.
        let room = width.saturating_sub(1).max(1);
        let rows: Vec<String> = rows.iter().map(|row| cut_styled(row, room)).collect();
        if lines.is_empty() && rows == self.last {
            return None;
        }
        let mut text = BEGIN.to_owned();
        // Rows of a wider terminal take more lines on one that was made narrower since.
        let height: usize = self.rows.iter().map(|row| row.div_ceil(width.max(1)).max(1)).sum();
        if height > 0 {
            text += &format!("\x1b[{height}A");
        }
        text += "\r\x1b[J";
        for line in lines.iter().chain(&rows) {
            text += line;
            text.push('\n');
        }
        text += END;
        let plain = |row: &String| columns(&anstream::adapter::strip_str(row).to_string());
        self.rows = rows.iter().map(plain).collect();
        self.last = rows;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal, as far as frames use one.
    struct Glass {
        lines: Vec<String>,
        line: usize,
    }

    impl Glass {
        fn write(&mut self, text: &str) {
            let text = text.replace(BEGIN, "").replace(END, "");
            let mut rest = text.as_str();
            while let Some(c) = rest.chars().next() {
                rest = &rest[c.len_utf8()..];
                match c {
                    '\n' => self.line += 1,
                    '\r' => {}
                    '\x1b' => {
                        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                        match &rest[end..=end] {
                            "A" => self.line -= rest[1..end].parse::<usize>().unwrap(),
                            "J" => self.lines.truncate(self.line),
                            "m" => {}
                            other => panic!("frames do not use {other:?}"),
                        }
                        rest = &rest[end + 1..];
                    }
                    c => {
                        self.lines.resize(self.lines.len().max(self.line + 1), String::new());
                        self.lines[self.line].push(c);
                    }
                }
            }
        }
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn what_stays_is_above_what_moves_in_the_order_it_came() {
        let mut glass = Glass { lines: Vec::new(), line: 0 };
        let mut frame = Frame::default();
        let steps: [(&[&str], &[&str]); 5] = [
            (&[], &["* a", "* b"]),
            (&["one"], &["* a 1s", "* b 1s"]),
            (&["two", "three"], &["* b 2s"]),
            (&[], &[]),
            (&["four"], &["* c, too long for the terminal"]),
        ];
        let mut stayed = Vec::new();
        for (lines, rows) in steps {
            if let Some(text) = frame.next(&texts(lines), texts(rows), 12) {
                glass.write(&text);
            }
            stayed.extend(texts(lines));
            let cut = rows.iter().map(|row| row.chars().take(11).collect());
            let expected: Vec<String> = stayed.iter().cloned().chain(cut).collect();
            assert_eq!(glass.lines, expected);
        }
    }

    #[test]
    fn a_picture_that_is_there_already_is_not_painted_again() {
        let mut frame = Frame::default();
        assert!(frame.next(&[], texts(&["* a"]), 80).is_some());
        assert_eq!(frame.next(&[], texts(&["* a"]), 80), None);
        assert!(frame.next(&texts(&["line"]), texts(&["* a"]), 80).is_some());
    }

    #[test]
    fn rows_that_a_narrower_terminal_has_wrapped_are_painted_over_whole() {
        let mut frame = Frame::default();
        frame.next(&[], texts(&["0123456789", "short"]), 80);
        let text = frame.next(&[], Vec::new(), 4).unwrap();
        assert!(text.contains("\x1b[5A"), "{text:?}");
    }
}
