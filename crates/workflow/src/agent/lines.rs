//! Lines out of bytes that come in pieces, for whoever watches. What is recorded is read elsewhere.

/// So much of a line is looked at: a longer one is no piece of a text.
const LONGEST: usize = 64 * 1024;

/// Puts lines together.
#[derive(Default)]
pub(super) struct Lines {
    line: Vec<u8>,
}

impl Lines {
    /// Takes bytes and shows `look` each line that ends in them, without its end.
    pub(super) fn take(&mut self, mut bytes: &[u8], mut look: impl FnMut(&[u8])) {
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            self.keep(&bytes[..at]);
            look(&self.line);
            self.line.clear();
            bytes = &bytes[at + 1..];
        }
        self.keep(bytes);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LONGEST.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}
