//! What keys ask for. Bytes in, wishes out, however the bytes are cut.

/// What whoever watches asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Pause, or go on.
    Toggle,
    /// One event on.
    Forward,
    /// One event back.
    Back,
    Faster,
    Slower,
    /// To where the next step begins.
    NextStep,
    /// To where the step before began.
    PreviousStep,
    /// To the event of this number.
    Seq(u64),
    Start,
    End,
    Help,
    Quit,
}

/// What keys there are, for people.
pub(super) const HELP: [(&str, &str); 9] = [
    ("space", "pause, go on"),
    ("n . →", "one event on, and pause"),
    ("p ←", "one event back, and pause"),
    ("j ↓", "to where the next step begins, or the next prompt"),
    ("k ↑", "to where the one before began"),
    ("120g", "to event 120; g alone to the beginning, G to the end"),
    ("+ -", "faster, slower"),
    ("?", "show the keys, hide them"),
    ("q", "quit"),
];

/// Reads keys.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The number that is being typed.
    number: Option<u64>,
    /// The beginning of a sequence that stands for one key.
    sequence: Option<Vec<u8>>,
}

impl Keys {
    /// Returns the number that is being typed.
    pub(super) fn number(&self) -> Option<u64> {
        self.number
    }

    /// Takes what the terminal sent.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Wish> {
        bytes.iter().filter_map(|byte| self.take_byte(*byte)).collect()
    }

    fn take_byte(&mut self, byte: u8) -> Option<Wish> {
        if let Some(mut sequence) = self.sequence.take() {
            sequence.push(byte);
            let is_open = match sequence.as_slice() {
                [b'[' | b'O'] => true,
                [b'[', .., last] => !(0x40..=0x7e).contains(last),
                _ => false,
            };
            if is_open {
                self.sequence = Some(sequence);
                return None;
            }
            // An escape by itself is a key that was pressed before another.
            if sequence.len() > 1 {
                return wish_of_sequence(&sequence);
            }
        }
        let number = self.number.take();
        match byte {
            0x1b => self.sequence = Some(Vec::new()),
            b'0'..=b'9' => {
                let digit = u64::from(byte - b'0');
                self.number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            }
            b'g' => return Some(number.map_or(Wish::Start, Wish::Seq)),
            _ => return wish_of_key(byte),
        }
        None
    }
}

fn wish_of_key(byte: u8) -> Option<Wish> {
    Some(match byte {
        b' ' => Wish::Toggle,
        b'n' | b'.' | b'l' => Wish::Forward,
        b'p' | b',' | b'h' => Wish::Back,
        b'+' | b'=' | b'>' => Wish::Faster,
        b'-' | b'<' => Wish::Slower,
        b'j' => Wish::NextStep,
        b'k' => Wish::PreviousStep,
        b'G' => Wish::End,
        b'?' => Wish::Help,
        b'q' | b'Q' => Wish::Quit,
        _ => return None,
    })
}

fn wish_of_sequence(sequence: &[u8]) -> Option<Wish> {
    Some(match sequence {
        b"[C" | b"OC" => Wish::Forward,
        b"[D" | b"OD" => Wish::Back,
        b"[B" | b"OB" => Wish::NextStep,
        b"[A" | b"OA" => Wish::PreviousStep,
        b"[H" | b"OH" | b"[1~" => Wish::Start,
        b"[F" | b"OF" | b"[4~" => Wish::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_ask_for_the_same_however_they_arrive() {
        use Wish::*;
        let cases: [(&[u8], &[Wish]); 9] = [
            (b" n.p+-?q", &[Toggle, Forward, Forward, Back, Faster, Slower, Help, Quit]),
            (b"\x1b[C\x1b[D\x1bOB\x1b[A", &[Forward, Back, NextStep, PreviousStep]),
            (b"jkgG", &[NextStep, PreviousStep, Start, End]),
            (b"120g7g", &[Seq(120), Seq(7)]),
            // A number that something else follows is given up.
            (b"12n0g", &[Forward, Seq(0)]),
            (b"99999999999999999999g", &[Seq(u64::MAX)]),
            (b"\x1b[1;5Cx\x1b[15~n", &[Forward]),
            (b"12\x1bgn", &[Start, Forward]),
            (b"\x00\xff\r\n", &[]),
        ];
        for (bytes, wishes) in cases {
            for size in 1..=bytes.len() {
                let mut keys = Keys::default();
                let heard: Vec<Wish> =
                    bytes.chunks(size).flat_map(|chunk| keys.take(chunk)).collect();
                assert_eq!(heard, wishes, "{bytes:?} in pieces of {size}");
            }
        }
    }
}
