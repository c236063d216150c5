//! The text of a file, by lines.

use std::path::Path;
use std::sync::Arc;

use crate::definition::problem::Place;

/// A file's text, and where its lines begin.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: Arc<Path>,
    text: String,
    starts: Vec<usize>,
}

impl Source {
    /// Takes a text over. The mark that some editors put before a text is none of it.
    pub(crate) fn new(file: &Path, text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
        let starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(i, _)| i + 1))
            .collect();
        Source { file: file.into(), text, starts }
    }

    /// Returns all of it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns a line, from 1, without its end.
    pub(crate) fn line(&self, number: usize) -> Option<&str> {
        let begin = *self.starts.get(number.checked_sub(1)?)?;
        let end = self.starts.get(number).copied().unwrap_or(self.text.len());
        Some(self.text[begin..end].trim_end_matches(['\n', '\r']))
    }

    /// Returns what stands from a place onward.
    pub(crate) fn from(&self, place: &Place) -> Option<&str> {
        let begin = *self.starts.get(place.line.checked_sub(1)?)?;
        let rest = &self.text[begin..];
        let (skip, _) = rest.char_indices().nth(place.column - 1)?;
        Some(&rest[skip..])
    }

    /// Returns a place in it.
    pub(crate) fn place(&self, line: usize, column: usize) -> Place {
        Place { file: Arc::clone(&self.file), line, column }
    }
}
