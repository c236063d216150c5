//! What a command writes: shown while it comes, kept up to a limit, recorded whole when it is more.
//!
//! Memory stays at the limit and one piece, however much a command writes.

use quipu_event::Draft;
use serde_json::json;

use crate::display::{DisplayEvent, OutputLines, whole_characters};
use crate::engine::Occurrence;
use crate::scribe::Scribe;

/// How many bytes of a stream are kept, unless a step says otherwise.
pub(super) const LIMIT: u64 = 1 << 20;

/// The most bytes that one event holds of a stream.
const PIECE: usize = 64 * 1024;

/// One output stream of a command.
pub(super) struct Keeper<'a> {
    scribe: &'a dyn Scribe,
    at: &'a Occurrence,
    stream: &'static str,
    limit: usize,
    kept: Vec<u8>,
    lines: OutputLines,
    spill: Option<Spill>,
}

/// What is recorded of a stream that is more than is kept.
#[derive(Default)]
struct Spill {
    offset: u64,
    pending: Vec<u8>,
}

/// What was kept of a stream.
pub(super) struct Kept {
    pub(super) text: String,
    pub(super) truncated: bool,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(
        scribe: &'a dyn Scribe,
        at: &'a Occurrence,
        stream: &'static str,
        limit: u64,
    ) -> Keeper<'a> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Keeper {
            scribe,
            at,
            stream,
            limit,
            kept: Vec::new(),
            lines: OutputLines::default(),
            spill: None,
        }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let lines = self.lines.take(bytes);
        self.show(lines);
        let room = self.limit - self.kept.len();
        if bytes.len() > room && self.spill.is_none() {
            // From here on the transcript has all of it, what is kept included.
            self.spill = Some(Spill { offset: 0, pending: self.kept.clone() });
        }
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if let Some(spill) = &mut self.spill {
            spill.pending.extend_from_slice(bytes);
        }
        self.record_pieces(PIECE);
    }

    /// Ends the stream.
    pub(super) fn finish(mut self) -> Kept {
        let rest = self.lines.finish();
        self.show(rest);
        let truncated = self.spill.is_some();
        let mut kept = std::mem::take(&mut self.kept);
        if truncated {
            kept.truncate(whole_characters(&kept));
        }
        let text = match String::from_utf8(kept) {
            Ok(text) => text,
            Err(wrong) => {
                let bytes = wrong.into_bytes();
                let text = String::from_utf8_lossy(&bytes).into_owned();
                // The text is no longer what was written, so the transcript gets the bytes.
                self.spill.get_or_insert(Spill { offset: 0, pending: bytes });
                text
            }
        };
        self.record_pieces(1);
        Kept { text, truncated }
    }

    /// Records what is pending, for as long as there are at least `least` bytes of it.
    fn record_pieces(&mut self, least: usize) {
        let Some(spill) = &mut self.spill else { return };
        let mut from = 0;
        while spill.pending.len() - from >= least {
            let rest = &spill.pending[from..];
            let piece = &rest[..rest.len().min(PIECE)];
            // A line stays together if it can: whoever looks for something looks at one piece.
            let lines = piece.iter().rposition(|byte| *byte == b'\n').map(|last| last + 1);
            let piece = &piece[..lines.filter(|_| piece.len() == PIECE).unwrap_or(piece.len())];
            let piece = match whole_characters(piece) {
                // A character may be cut only where nothing more will come.
                whole if whole > 0 && rest.len() > whole => &piece[..whole],
                _ => piece,
            };
            record(self.scribe, self.at, self.stream, spill.offset, piece);
            spill.offset += piece.len() as u64;
            from += piece.len();
        }
        spill.pending.drain(..from);
    }

    fn show(&self, lines: impl IntoIterator<Item = String>) {
        for text in lines {
            let (at, stream) = (self.at.clone(), self.stream);
            self.scribe.show(DisplayEvent::Output { at, stream, text });
        }
    }
}

/// Records a piece of a stream. Bytes that are no text stand beside what can be read of them.
fn record(scribe: &dyn Scribe, at: &Occurrence, stream: &str, offset: u64, piece: &[u8]) {
    let text = String::from_utf8_lossy(piece);
    let facts = json!({
        "stream": stream, "attempt": at.attempt, "offset": offset, "bytes": piece.len(), "text": text,
    });
    match Draft::system("output", facts) {
        Ok(mut draft) => {
            if matches!(text, std::borrow::Cow::Owned(_)) {
                draft = draft.with_raw(piece);
            }
            scribe.record(draft.at(at.path.clone(), at.iteration));
        }
        Err(cause) => tracing::error!(%cause, "a piece of output could not be recorded"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;
    use quipu_event::StepPath;

    use super::*;
    use crate::language::Value;

    #[derive(Default)]
    struct Heard {
        drafts: Mutex<Vec<Draft>>,
        events: Mutex<Vec<String>>,
    }

    impl Scribe for Heard {
        fn record(&self, draft: Draft) {
            self.drafts.lock().unwrap().push(draft);
        }
        fn show(&self, event: DisplayEvent) {
            if let DisplayEvent::Output { text, .. } = event {
                self.events.lock().unwrap().push(text);
            }
        }
    }

    /// Puts the pieces in a transcript together again.
    fn recorded(drafts: &[Draft]) -> Vec<u8> {
        let mut all = Vec::new();
        for draft in drafts {
            let facts: Value = draft.payload.decode().unwrap();
            assert_eq!(facts["offset"].as_u64(), Some(all.len() as u64));
            let bytes = match &draft.raw {
                Some(raw) => raw.bytes().unwrap(),
                None => facts["text"].as_str().unwrap().as_bytes().to_vec(),
            };
            assert_eq!(facts["bytes"].as_u64(), Some(bytes.len() as u64));
            assert!(bytes.len() <= PIECE && !bytes.is_empty());
            all.extend(bytes);
        }
        all
    }

    fn keep(chunks: &[Vec<u8>], limit: u64) -> (Kept, Heard) {
        let heard = Heard::default();
        let at = Occurrence { path: StepPath::from("s"), iteration: 0, attempt: 1 };
        let mut keeper = Keeper::new(&heard, &at, "stdout", limit);
        for chunk in chunks {
            keeper.take(chunk);
        }
        let kept = keeper.finish();
        (kept, heard)
    }

    fn chunks() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let chunk = prop_oneof![
            "[a-zé€😀\n]{0,30}".prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..20),
            (1usize..200_000).prop_map(|n| "é\n".bytes().cycle().take(n).collect()),
        ];
        proptest::collection::vec(chunk, 0..8)
    }

    #[test]
    fn a_long_output_is_cut_at_the_ends_of_lines() {
        let line = [b"x".repeat(999), vec![b'\n']].concat();
        for size in [1000, 4096, 70_000, 200_000] {
            let all = line.repeat(200);
            let (_, heard) = keep(&all.chunks(size).map(<[u8]>::to_vec).collect::<Vec<_>>(), 10);
            let drafts = heard.drafts.lock().unwrap();
            assert_eq!(recorded(&drafts), all);
            let texts = drafts.iter().map(|draft| draft.payload.decode::<Value>().unwrap());
            assert!(texts.into_iter().all(|facts| facts["text"].as_str().unwrap().ends_with('\n')));
        }
    }

    #[test]
    fn what_is_shown_does_not_depend_on_how_it_arrives() {
        let all = format!("one\n\ntwo\n{}\nend", "é".repeat(3 * OutputLines::LONGEST)).into_bytes();
        let shown = |size: usize| {
            let chunks: Vec<_> = all.chunks(size).map(<[u8]>::to_vec).collect();
            keep(&chunks, LIMIT).1.events.into_inner().unwrap()
        };
        let at_once = shown(all.len());
        for size in [1, 7, 1000, OutputLines::LONGEST] {
            assert_eq!(shown(size), at_once);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn nothing_that_was_written_is_lost(chunks in chunks(), limit in 0u64..150_000) {
            let all = chunks.concat();
            let (kept, heard) = keep(&chunks, limit);
            let drafts = heard.drafts.into_inner().unwrap();
            prop_assert_eq!(kept.truncated, all.len() as u64 > limit);
            if kept.truncated || std::str::from_utf8(&all).is_err() {
                prop_assert_eq!(recorded(&drafts), all.clone());
            } else {
                prop_assert!(drafts.is_empty());
                prop_assert_eq!(kept.text.as_bytes(), all.as_slice());
            }
            if let Ok(text) = std::str::from_utf8(&all) {
                prop_assert!(text.starts_with(&kept.text));
                prop_assert_eq!(heard.events.into_inner().unwrap().concat(), text);
            }
        }
    }

    #[test]
    fn memory_stays_flat_however_much_is_written() {
        struct Deaf;
        impl Scribe for Deaf {
            fn record(&self, _: Draft) {}
            fn show(&self, _: DisplayEvent) {}
        }
        let at = Occurrence { path: StepPath::from("s"), iteration: 0, attempt: 1 };
        let mut keeper = Keeper::new(&Deaf, &at, "stdout", 100_000);
        for _ in 0..2_000 {
            keeper.take(&[b'x'; 32 * 1024]);
            let pending = keeper.spill.as_ref().map_or(0, |spill| spill.pending.capacity());
            let held = keeper.kept.capacity() + keeper.lines.capacity() + pending;
            assert!(held < 1 << 20, "{held}");
        }
    }

    #[test]
    fn what_is_kept_is_never_more_than_the_limit() {
        let (kept, _) = keep(&["é".repeat(100).into_bytes()], 11);
        assert_eq!((kept.text.as_str(), kept.truncated), ("ééééé", true));
    }
}
