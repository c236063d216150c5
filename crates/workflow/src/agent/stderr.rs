//! What an agent's program writes to standard error: noise mostly, and now and then the reason.

use std::collections::VecDeque;

use serde_json::json;
use tokio::io::AsyncRead;

use super::desk::Desk;
use crate::process::Pipe;

/// How much of it is kept.
const KEPT: usize = 64 * 1024;
/// How much of it an error message repeats.
const TOLD: usize = 2000;

/// The end of what was written to standard error.
#[derive(Default)]
pub(super) struct End {
    kept: VecDeque<u8>,
    bytes: u64,
}

impl End {
    /// Returns it as text.
    pub(super) fn text(&self) -> String {
        let (front, back) = self.kept.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// Records it, if it is anything.
    pub(super) fn note(&self, desk: &Desk) {
        let text = self.text();
        if !text.trim().is_empty() {
            let truncated = self.bytes > self.kept.len() as u64;
            let facts = json!({ "text": text, "bytes": self.bytes, "truncated": truncated });
            desk.note("stderr", facts);
        }
    }
}

/// Reads standard error to its end and keeps the last of it.
pub(super) async fn read_end<R: AsyncRead + Unpin>(pipe: Option<Pipe<R>>) -> End {
    let mut end = End::default();
    let Some(mut pipe) = pipe else { return end };
    let mut buffer = vec![0; 16 * 1024];
    // What cannot be read of standard error is not worth a failure.
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        end.kept.extend(&buffer[..read]);
        end.bytes += read as u64;
        let surplus = end.kept.len().saturating_sub(KEPT);
        end.kept.drain(..surplus);
    }
    end
}

/// Returns the last lines of standard error, as far as a message can hold them.
pub(super) fn tail(stderr: &str) -> Option<String> {
    let text = stderr.trim();
    let mut start = text.len().saturating_sub(TOLD);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    Some(text[start..].trim().to_owned()).filter(|text| !text.is_empty())
}
