//! What a program writes, in the pieces in which it is shown: lines, and parts of long ones.

/// Divides a stream. What comes out depends on what was written, and not on how it arrived.
#[derive(Default)]
pub(crate) struct OutputLines {
    /// What has not been shown yet: an unfinished line.
    open: Vec<u8>,
}

impl OutputLines {
    /// The longest part of a line that is shown without waiting for its end.
    pub(crate) const LONGEST: usize = 8 * 1024;

    /// Takes the next bytes and returns each line that is whole, and of longer ones each part that is
    /// long enough.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        self.open.extend_from_slice(bytes);
        let mut lines = Vec::new();
        let mut from = 0;
        while let Some(length) = shown_at_once(&self.open[from..]) {
            lines.push(text(&self.open[from..from + length]));
            from += length;
        }
        self.open.drain(..from);
        lines
    }

    /// Ends the stream and returns what is left of it.
    pub(crate) fn finish(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.open);
        (!rest.is_empty()).then(|| text(&rest))
    }
}

#[cfg(test)]
impl OutputLines {
    /// Returns how much memory it holds.
    pub(crate) fn capacity(&self) -> usize {
        self.open.capacity()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns how many bytes at the front are to be shown by themselves; nothing if more must come.
fn shown_at_once(bytes: &[u8]) -> Option<usize> {
    let front = &bytes[..bytes.len().min(OutputLines::LONGEST)];
    match front.iter().position(|byte| *byte == b'\n') {
        Some(end) => Some(end + 1),
        None if front.len() < OutputLines::LONGEST => None,
        None => Some(match whole_characters(front) {
            0 => front.len(),
            whole => whole,
        }),
    }
}

/// Returns how many bytes at the front hold no character that is cut at the end.
pub(crate) fn whole_characters(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    for (i, byte) in bytes.iter().enumerate().skip(tail).rev() {
        let length = match byte {
            0x80..=0xbf => continue,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => 1,
        };
        return if i + length > bytes.len() { i } else { bytes.len() };
    }
    bytes.len()
}
