//! Keeps a secret out of a stream of bytes, wherever the stream is cut.

/// Stands where a secret stood.
const MASKED: &[u8] = b"***";

/// A key shorter than this is none: local servers are given `x`, `none` or `test`, which are words of what a
/// model says and asks for, and of the protocol itself.
const SHORTEST_KEY: usize = 8;

/// Replaces one secret.
pub(super) struct Mask {
    secret: Vec<u8>,
    /// Bytes that may be the beginning of the secret.
    held: Vec<u8>,
}

impl Mask {
    /// Makes a mask for the key of an API; one that is too short to be a secret masks nothing.
    pub(super) fn of_key(key: &str) -> Self {
        Mask::new(if key.len() < SHORTEST_KEY { "" } else { key })
    }

    fn new(secret: &str) -> Self {
        Mask { secret: secret.as_bytes().to_vec(), held: Vec::new() }
    }

    /// Takes bytes and returns those that are safe to be seen.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.secret.is_empty() {
            return bytes.to_vec();
        }
        self.held.extend_from_slice(bytes);
        let mut safe = Vec::with_capacity(self.held.len());
        while let Some(at) = memchr::memmem::find(&self.held, &self.secret) {
            safe.extend_from_slice(&self.held[..at]);
            safe.extend_from_slice(MASKED);
            self.held.drain(..at + self.secret.len());
        }
        let longest = self.held.len().min(self.secret.len() - 1);
        let kept = (1..=longest).rev().find(|len| self.held.ends_with(&self.secret[..*len]));
        let free = self.held.len() - kept.unwrap_or(0);
        safe.extend(self.held.drain(..free));
        safe
    }

    /// Returns what was held back, at the end of the stream.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// Returns a text without the secret.
    pub(super) fn text(&self, text: &str) -> String {
        match std::str::from_utf8(&self.secret) {
            Ok(secret) if !secret.is_empty() => text.replace(secret, "***"),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_secret_is_replaced_wherever_the_stream_is_cut(
            text in "[ab]{0,24}",
            secret in "[ab]{1,4}",
            size in 1..6_usize,
        ) {
            let mut mask = Mask::new(&secret);
            let mut safe = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                safe.extend(mask.take(piece));
            }
            safe.extend(mask.finish());
            prop_assert_eq!(String::from_utf8(safe).unwrap(), text.replace(&secret, "***"));
        }
    }

    #[test]
    fn a_key_that_is_a_word_by_chance_changes_nothing() {
        let said = |key: &str| Mask::of_key(key).text("cargo test sk-0123456789");
        for key in ["", "x", "none", "test", "s"] {
            assert_eq!(said(key), "cargo test sk-0123456789", "{key}");
        }
        assert_eq!(said("sk-0123456789"), "cargo test ***");
    }
}
