//! A list that does not grow with the run: the first and the last of many lines, and how many there
//! were between them.

use std::collections::VecDeque;

/// The types of the events that a line alone tells of.
pub(super) type Kinds = &'static [&'static str];

/// The first and the last lines of many.
pub(super) struct Bounded {
    room: usize,
    first: Vec<String>,
    last: VecDeque<(String, Kinds)>,
    left_out: u64,
}

impl Bounded {
    /// Makes a list that keeps the first `room` lines and the last `room`.
    pub(super) fn new(room: usize) -> Bounded {
        Bounded { room, first: Vec::new(), last: VecDeque::new(), left_out: 0 }
    }

    /// Adds a line, which tells of events of types `kinds`.
    ///
    /// Returns the types of the line that had to go for it.
    pub(super) fn add(&mut self, line: String, kinds: Kinds) -> Kinds {
        if self.first.len() < self.room {
            self.first.push(line);
            return &[];
        }
        self.last.push_back((line, kinds));
        if self.last.len() <= self.room {
            return &[];
        }
        self.left_out += 1;
        self.last.pop_front().map_or(&[], |(_, kinds)| kinds)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Writes the lines, with a word about those that are gone.
    pub(super) fn write(&self, out: &mut String) {
        let mut line = |text: &str| {
            out.push_str(text);
            out.push('\n');
        };
        self.first.iter().for_each(|text| line(text));
        if self.left_out > 0 {
            line(&format!("- … {} more, left out here …", self.left_out));
        }
        self.last.iter().for_each(|(text, _)| line(text));
    }
}
