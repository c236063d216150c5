//! One file, searched line by line, in memory that does not grow with it.

use std::fs::File;
use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};

/// The longest line that is searched, in bytes.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// How much of a line is shown, in bytes.
const LONGEST_SHOWN: usize = 500;
/// How much of what is before the match is shown of a longer line, in bytes.
const BEFORE: usize = 100;

/// A search, ready for any number of files.
pub(super) struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
}

/// What came of a file.
pub(super) enum Searched {
    /// It is text.
    Matches {
        /// How many lines match.
        count: u64,
        /// The first of them, with their numbers.
        lines: Vec<(u64, String)>,
    },
    /// It is no text, or cannot be read.
    Skipped,
    /// It has a line that there is no end of.
    EndlessLine,
}

impl Search {
    /// Makes a search.
    pub(super) fn new(matcher: RegexMatcher) -> Search {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(LONGEST_LINE))
            .line_number(true)
            .build();
        Search { matcher, searcher }
    }

    /// Searches a file, and keeps some of the lines.
    pub(super) fn search(&mut self, file: File, kept: usize, is_one_enough: bool) -> Searched {
        let mut matches = Matches {
            matcher: &self.matcher,
            kept,
            is_one_enough,
            count: 0,
            lines: Vec::new(),
            is_binary: false,
        };
        let done = self.searcher.search_reader(&self.matcher, file, &mut matches);
        match done {
            Ok(()) if matches.is_binary => Searched::Skipped,
            Ok(()) => Searched::Matches { count: matches.count, lines: matches.lines },
            // The searcher's way to say that its memory is used up; the system has numbers.
            Err(cause) if cause.raw_os_error().is_none() => Searched::EndlessLine,
            Err(_) => Searched::Skipped,
        }
    }
}

struct Matches<'a> {
    matcher: &'a RegexMatcher,
    kept: usize,
    is_one_enough: bool,
    count: u64,
    lines: Vec<(u64, String)>,
    is_binary: bool,
}

impl Sink for Matches<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        if self.lines.len() < self.kept {
            let number = found.line_number().unwrap_or_default();
            self.lines.push((number, shown(self.matcher, found.bytes())));
        }
        // One more than is kept, so that it is known that there are more.
        let is_enough = self.kept > 0 && self.count > self.kept as u64;
        Ok(!is_enough && !self.is_one_enough)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}

/// Returns a line without its end; of a long one, what is around the match.
fn shown(matcher: &RegexMatcher, line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LONGEST_SHOWN {
        return String::from_utf8_lossy(line).into_owned();
    }
    let at = matcher.find(line).ok().flatten().map_or(0, |found| found.start());
    let start = at.saturating_sub(BEFORE);
    let end = line.len().min(start + LONGEST_SHOWN);
    let part = String::from_utf8_lossy(&line[start..end]);
    // A character that was cut in two is not part of what is shown.
    let part = part.trim_matches(char::REPLACEMENT_CHARACTER);
    format!("[… {start} bytes …]{part}[… {} bytes …]", line.len() - end)
}
