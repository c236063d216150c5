//! What it means when a program that is listened to falls silent. Looks at no clock: whoever
//! listens asks how patient to be.

use std::time::Duration;

use memchr::memmem;

/// How long a stream is silent before a call that has begun is told: its tool is at work then.
const CALL_PAUSE: Duration = Duration::from_secs(1);
/// How long a stream is silent before the blocks that have come are told. A model may take seconds
/// from one block of a message to the next, and a message that is torn apart is told as two.
const BLOCK_PAUSE: Duration = Duration::from_secs(10);

/// How a provider's program tells of its work while it works.
#[derive(Debug)]
pub struct Telling {
    /// How it prints what it says.
    pub speech: Speech,
    /// What is found in a record that begins a tool call; nothing if none does.
    pub(crate) tool_begins: &'static str,
    /// What is found in one that ends it.
    pub(crate) tool_ends: &'static str,
}

impl Telling {
    /// What is told is whole, and tools are told of when they are done.
    pub(crate) const WHOLE: Telling =
        Telling { speech: Speech::Blocks, tool_begins: "", tool_ends: "" };
}

/// How a program prints what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// Block by block, each whole.
    Blocks,
    /// In pieces: a pause says nothing about whether a text is whole.
    Pieces,
}

/// Follows a stream, to know what a silence would mean.
#[derive(Debug)]
pub(crate) struct Pauses {
    telling: &'static Telling,
    /// The last bytes, in case what begins a call was cut in two.
    seam: Vec<u8>,
    silence: Silence,
}

/// What a silence would mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    /// Nothing: all is told, or a text may be in the making.
    Nothing,
    /// That a tool is at work.
    Call,
    /// That what has come is worth showing.
    Blocks,
}

impl Pauses {
    /// Begins with a stream of which nothing has come.
    pub(crate) fn new(telling: &'static Telling) -> Self {
        Pauses { telling, seam: Vec::new(), silence: Silence::Nothing }
    }

    /// Takes the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.silence = self.meaning_after(bytes);
    }

    /// Returns how long a silence must be to mean anything; nothing if none does.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match self.silence {
            Silence::Nothing => None,
            Silence::Call => Some(CALL_PAUSE),
            Silence::Blocks => Some(BLOCK_PAUSE),
        }
    }

    /// Takes note that such a silence was understood.
    pub(crate) fn settle(&mut self) {
        self.silence = Silence::Nothing;
    }

    fn meaning_after(&mut self, bytes: &[u8]) -> Silence {
        let Telling { speech, tool_begins, tool_ends } = self.telling;
        if tool_begins.is_empty() {
            return Silence::Blocks;
        }
        self.seam.extend_from_slice(bytes);
        let begins = memmem::rfind(&self.seam, tool_begins.as_bytes());
        let ends = memmem::rfind(&self.seam, tool_ends.as_bytes());
        let kept = tool_begins.len().max(tool_ends.len()) - 1;
        self.seam.drain(..self.seam.len().saturating_sub(kept));
        match (begins > ends, ends.is_some(), self.silence) {
            (true, ..) | (_, false, Silence::Call) => Silence::Call,
            _ if *speech == Speech::Blocks => Silence::Blocks,
            _ => Silence::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static BLOCKS: Telling =
        Telling { speech: Speech::Blocks, tool_begins: "begin", tool_ends: "end" };
    static PIECES: Telling =
        Telling { speech: Speech::Pieces, tool_begins: "begin", tool_ends: "end" };

    #[test]
    fn a_silence_means_what_came_before_it() {
        let cases: [(&'static Telling, &[&str], Option<Duration>); 8] = [
            (&BLOCKS, &[], None),
            (&BLOCKS, &["text"], Some(BLOCK_PAUSE)),
            (&PIECES, &["text"], None),
            (&BLOCKS, &["begin"], Some(CALL_PAUSE)),
            (&PIECES, &["a beg", "in b"], Some(CALL_PAUSE)),
            (&PIECES, &["begin", "more"], Some(CALL_PAUSE)),
            (&PIECES, &["begin", "en", "d"], None),
            (&BLOCKS, &["begin end"], Some(BLOCK_PAUSE)),
        ];
        for (telling, stream, expected) in cases {
            let mut pauses = Pauses::new(telling);
            stream.iter().for_each(|bytes| pauses.take(bytes.as_bytes()));
            assert_eq!(pauses.patience(), expected, "{stream:?}");
            pauses.settle();
            assert_eq!(pauses.patience(), None);
        }
    }
}
