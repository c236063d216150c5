//! The last that a program said on its standard error, which is often why it failed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use quipu_process::Pipe;
use tokio::io::AsyncRead;

/// How many bytes are kept.
const KEPT: usize = 2 * 1024;

/// The end of a stream that is always read, so that nobody who writes to it has to wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// Reads a stream to its end, in a task of its own.
    pub(super) fn of<R: AsyncRead + Unpin + Send + 'static>(mut pipe: Pipe<R>) -> Tail {
        let tail = Tail::default();
        let reading = tail.clone();
        tokio::spawn(async move {
            let mut piece = vec![0; 8 * 1024];
            while let Ok(read) = pipe.read(&mut piece).await
                && read > 0
            {
                reading.push(&piece[..read]);
            }
        });
        tail
    }

    /// Returns what is kept, from the beginning of a line if there was more.
    pub(super) fn text(&self) -> Option<String> {
        let bytes: Vec<u8> = self.locked().iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes).replace('\0', "");
        let text = match text.split_once('\n') {
            Some((_, rest)) if bytes.len() == KEPT && !rest.trim().is_empty() => rest,
            _ => &text,
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn push(&self, piece: &[u8]) {
        let mut kept = self.locked();
        kept.extend(piece);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, VecDeque<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_much_that_was_said_whole_last_lines_are_kept() {
        let tail = Tail::default();
        assert_eq!(tail.text(), None);
        (0..1000).for_each(|line| tail.push(format!("line {line}\n").as_bytes()));
        let text = tail.text().unwrap();
        assert!(text.len() <= KEPT && text.starts_with("line ") && text.ends_with("line 999"));
    }
}
