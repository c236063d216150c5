//! Pieces of a text while it is streamed, for whoever watches. What is recorded is made elsewhere.

use serde_json::Value;

use super::super::lines::Lines;

/// Reads the pieces out of a stream of server-sent events.
#[derive(Default)]
pub(super) struct Pieces {
    lines: Lines,
    /// Whether the stream has said that it is over.
    pub(super) is_done: bool,
}

impl Pieces {
    /// Takes bytes and returns the text in them.
    pub(super) fn take(&mut self, bytes: &[u8]) -> String {
        let (mut text, mut is_done) = (String::new(), self.is_done);
        self.lines.take(bytes, |line| {
            let Some(data) = line.strip_prefix(b"data:") else { return };
            is_done |= data.trim_ascii() == b"[DONE]";
            text.push_str(&piece_of(data).unwrap_or_default());
        });
        self.is_done = is_done;
        text
    }
}

fn piece_of(data: &[u8]) -> Option<String> {
    let chunk: Value = serde_json::from_slice(data).ok()?;
    Some(chunk.pointer("/choices/0/delta/content")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_wherever_the_stream_is_cut() {
        let stream = concat!(
            ": hello\n\n",
            "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"}}]}\r\n\r\n",
            "data: {\"choices\":[]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\n\n",
            "data: [DONE]\n\n",
        );
        for size in [1, 7, 1000] {
            let mut pieces = Pieces::default();
            let found: String =
                stream.as_bytes().chunks(size).map(|bytes| pieces.take(bytes)).collect();
            assert_eq!((found.as_str(), pieces.is_done), ("Hello", true));
        }
    }
}
