//! A stream that is nobody's language: recorded as pieces of text that together are all of it.
//!
//! What came together stands together, in whole lines where that is possible. Bytes that are no text
//! are kept as they are.

use std::time::{Duration, Instant};

use quipu_event::Draft;
use serde_json::json;

/// No piece is longer.
const LONGEST: usize = 64 * 1024;
/// A stream that is silent for so long has said what it had to say.
const PAUSE: Duration = Duration::from_millis(100);
/// Nothing waits longer than this.
const PATIENCE: Duration = Duration::from_secs(1);

/// Makes pieces of a stream.
pub(super) struct Pieces {
    /// `stdout` or `stderr`.
    stream: &'static str,
    held: Vec<u8>,
    /// How many bytes stand in earlier pieces.
    offset: u64,
    /// When the oldest and the newest byte that is held came.
    came: Option<(Instant, Instant)>,
}

impl Pieces {
    pub(super) fn new(stream: &'static str) -> Self {
        Pieces { stream, held: Vec::new(), offset: 0, came: None }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8], now: Instant, out: &mut Vec<Draft>) {
        self.came = Some((self.came.map_or(now, |(first, _)| first), now));
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = LONGEST - self.held.len();
            let (part, more) = rest.split_at(rest.len().min(room));
            self.held.extend_from_slice(part);
            rest = more;
            if self.held.len() == LONGEST {
                self.put(end_of_lines(&self.held).unwrap_or(end_of_text(&self.held)), out);
            }
        }
    }

    /// Returns when what is held is to be told.
    pub(super) fn due(&self) -> Option<Instant> {
        let (first, last) = self.came?;
        Some((last + PAUSE).min(first + PATIENCE))
    }

    /// Tells what is held, but for the beginning of a character.
    pub(super) fn pause(&mut self, out: &mut Vec<Draft>) {
        self.came = None;
        self.put(end_of_text(&self.held), out);
    }

    /// Tells all that is held.
    pub(super) fn finish(&mut self, out: &mut Vec<Draft>) {
        self.came = None;
        self.put(self.held.len(), out);
    }

    fn put(&mut self, end: usize, out: &mut Vec<Draft>) {
        if end == 0 {
            return;
        }
        let piece: Vec<u8> = self.held.drain(..end).collect();
        let facts = |text: &str| json!({ "offset": self.offset, "text": text });
        let text = std::str::from_utf8(&piece).ok();
        let draft = text.and_then(|text| Draft::system(self.stream, facts(text)).ok());
        out.push(draft.unwrap_or_else(|| {
            Draft::unknown(&piece, Some(self.stream), "a piece of output that is not UTF-8")
        }));
        self.offset += piece.len() as u64;
    }
}

/// Returns where the last whole line ends.
fn end_of_lines(bytes: &[u8]) -> Option<usize> {
    memchr::memrchr(b'\n', bytes).map(|at| at + 1)
}

/// Returns where the bytes end, without a character that is not whole yet.
fn end_of_text(bytes: &[u8]) -> usize {
    // Bytes that could never become a character are no reason to wait.
    let is_lead = |byte: &u8| *byte >= 0xc2;
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    let Some(lead) = tail.iter().rposition(is_lead) else { return bytes.len() };
    match std::str::from_utf8(&tail[lead..]) {
        Err(error) if error.error_len().is_none() => bytes.len() - tail.len() + lead,
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes of each piece.
    fn pieces(parts: &[&[u8]]) -> Vec<Vec<u8>> {
        let (mut pieces, mut out) = (Pieces::new("stdout"), Vec::new());
        for part in parts {
            pieces.take(part, Instant::now(), &mut out);
            pieces.pause(&mut out);
        }
        pieces.finish(&mut out);
        out.iter().map(bytes_of).collect()
    }

    fn bytes_of(draft: &Draft) -> Vec<u8> {
        if let Some(raw) = &draft.raw {
            return raw.bytes().unwrap();
        }
        let payload: serde_json::Value = draft.payload.decode().unwrap();
        payload["text"].as_str().unwrap().as_bytes().to_vec()
    }

    #[test]
    fn a_character_is_not_torn_by_a_pause() {
        let crab = "🦀".as_bytes();
        assert_eq!(pieces(&[b"a", &crab[..2], &crab[2..]]), [b"a".to_vec(), crab.to_vec()]);
        assert_eq!(pieces(&[b"a", &crab[..2]]), [b"a".to_vec(), crab[..2].to_vec()]);
        assert_eq!(pieces(&[b"\xff", b"\x80"]), [b"\xff".to_vec(), b"\x80".to_vec()]);
    }

    #[test]
    fn a_long_output_is_cut_at_the_ends_of_lines() {
        let line = [b"x".repeat(999), vec![b'\n']].concat();
        let all = line.repeat(200);
        let cut = pieces(&[&all]);
        assert_eq!(cut.concat(), all);
        assert!(cut.len() > 3 && cut.iter().all(|piece| piece.len() <= LONGEST));
        assert!(cut.iter().all(|piece| piece.ends_with(b"\n")));
        let no_line = "ä".repeat(LONGEST);
        let cut = pieces(&[b"x", no_line.as_bytes()]);
        assert_eq!(cut.concat().len(), 1 + no_line.len());
        assert!(cut.iter().all(|piece| std::str::from_utf8(piece).is_ok()));
    }
}
