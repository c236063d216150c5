//! The beginning of an output whose language is not known yet, and how long it is waited with.

use std::time::{Duration, Instant};

/// How long output that could be anybody's is looked at before it is told as text.
pub(super) const DOUBT: Duration = Duration::from_secs(2);
/// How long output that is plainly no record is held, in case that it goes on.
const PAUSE: Duration = Duration::from_millis(100);
/// So much is looked at before it is told as text.
const HEAD: usize = 64 * 1024;
/// The most that a document in the making may be.
const DOCUMENT: usize = 64 * 1024 * 1024;

/// What has come of a language that is not known.
#[derive(Default)]
pub(super) struct Head {
    /// The bytes.
    pub(super) bytes: Vec<u8>,
    /// When the first of it came.
    since: Option<Instant>,
    /// Whether a line has ended in it.
    has_line: bool,
    /// How much of it has been looked at.
    looked_at: usize,
}

impl Head {
    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8], now: Instant) {
        self.since.get_or_insert(now);
        self.has_line |= memchr::memchr(b'\n', bytes).is_some();
        self.bytes.extend_from_slice(bytes);
    }

    /// Looking again is worth it when there is another record, and as much again to look at.
    pub(super) fn is_worth_a_look(&mut self) -> bool {
        let is_more = self.bytes.len() >= 2 * self.looked_at || self.looked_at < HEAD;
        let has_record = || memchr::memchr(b'\n', &self.bytes[self.looked_at..]).is_some();
        let is_worth = is_more && self.has_line && has_record();
        if is_worth {
            self.looked_at = self.bytes.len();
        }
        is_worth
    }

    /// Returns when it is to be told as text; only at its end if nothing is said.
    pub(super) fn due(&self, last: Option<Instant>) -> Option<Instant> {
        let latest = self.since? + DOUBT;
        match self.bytes.trim_ascii_start().first() {
            Some(b'{' | b'[') if self.is_in_the_making() => None,
            Some(b'{' | b'[') => Some(latest),
            _ => Some(latest.min(last? + PAUSE)),
        }
    }

    /// Tells whether it is more than is waited with.
    pub(super) fn is_too_much(&self) -> bool {
        self.bytes.len() > if self.is_in_the_making() { DOCUMENT } else { HEAD }
    }

    /// Tells whether this is the beginning of a JSON value that goes on behind what has come.
    fn is_in_the_making(&self) -> bool {
        let bytes = self.bytes.trim_ascii_start();
        if !matches!(bytes.first(), Some(b'{' | b'[')) {
            return false;
        }
        if !self.has_line && bytes.len() > HEAD {
            // To look at a long line again with each piece of it would take for ever.
            return true;
        }
        let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
        let first = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes[..end]);
        first.is_err_and(|error| error.is_eof())
    }
}
