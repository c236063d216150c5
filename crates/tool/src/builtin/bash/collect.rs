//! What a command writes, kept at both ends, in memory that does not grow with it.

use std::collections::VecDeque;

use quipu_process::Pipe;
use tokio::io::AsyncRead;

use crate::LONGEST_RECORDED;

/// How much of a stream is kept: half of what is recorded of an answer, with room for words of ours.
const LONGEST: usize = LONGEST_RECORDED / 2 - 4096;

/// What is kept of a stream.
#[derive(Debug, Default)]
pub(super) struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

/// Reads a stream to its end.
pub(super) async fn collect<R: AsyncRead + Unpin>(pipe: Option<Pipe<R>>) -> Kept {
    let mut kept = Kept::default();
    let Some(mut pipe) = pipe else { return kept };
    let mut piece = vec![0; 64 * 1024];
    // A stream that cannot be read any more has come to its end.
    while let Ok(read @ 1..) = pipe.read(&mut piece).await {
        kept.push(&piece[..read], LONGEST);
    }
    kept
}

impl Kept {
    fn push(&mut self, piece: &[u8], longest: usize) {
        let (most_head, most_tail) = (longest / 4 * 3, longest / 4);
        let room = most_head - self.head.len();
        let (head, rest) = piece.split_at(room.min(piece.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(most_tail);
        self.tail.drain(..surplus);
        self.left_out += surplus as u64;
    }

    /// Returns it as text, with a note where something is missing.
    pub(super) fn into_text(self) -> String {
        let Kept { mut head, tail, left_out } = self;
        if left_out == 0 {
            head.extend(tail);
            return String::from_utf8_lossy(&head).into_owned();
        }
        let tail: Vec<u8> = tail.into();
        let (head, tail) = (String::from_utf8_lossy(&head), String::from_utf8_lossy(&tail));
        format!("{head}\n[… {left_out} bytes left out …]\n{tail}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_kept_however_the_stream_is_cut() {
        let stream: Vec<u8> = (0..1000).map(|index| b'a' + (index % 26) as u8).collect();
        for size in [1, 7, 100, 1000] {
            let mut kept = Kept::default();
            stream.chunks(size).for_each(|piece| kept.push(piece, 100));
            let text = kept.into_text();
            let expected = [
                std::str::from_utf8(&stream[..75]).unwrap(),
                "\n[… 900 bytes left out …]\n",
                std::str::from_utf8(&stream[975..]).unwrap(),
            ];
            assert_eq!(text, expected.concat(), "in pieces of {size}");
        }
        let mut kept = Kept::default();
        kept.push(&stream[..100], 100);
        assert_eq!(kept.into_text().as_bytes(), &stream[..100]);
    }
}
