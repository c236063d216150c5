//! A line on its way: all of it but its number and the present, which are filled in where they belong.
//!
//! This is the recorder's to use. It saves building an event that nobody has asked to see, and a line
//! is made in its producer's own thread but for what only the one who writes it knows.

use std::num::NonZeroUsize;

use crate::draft::{Draft, RunIdentity};
use crate::line::{Head, write_head, write_origin, write_payload};
use crate::raw::Raw;
use crate::time::{SPELLED, Timestamp};

/// What stands before a line's number.
const BEFORE: &[u8] = b"{\"seq\":";
/// So much room there is for a number and what stands before it: the largest has 20 digits.
const ROOM: &str = "                           ";
/// Stands where the present goes, until it is known.
const BLANK: &str = "0000-00-00T00:00:00.000000Z";

const _: () = assert!(ROOM.len() == BEFORE.len() + 20 && BLANK.len() == SPELLED);

/// A line with blanks where its number and the present go.
#[derive(Clone, Debug, Default)]
pub struct LineForm {
    /// Room for the number, which ends where the room does, and the rest of the line.
    bytes: Vec<u8>,
    /// Where the present goes: as the time of the event, and as the time of its recording.
    blanks: [Option<NonZeroUsize>; 2],
}

impl LineForm {
    /// Makes a form without anything on it, and without memory.
    pub const fn new() -> Self {
        LineForm { bytes: Vec::new(), blanks: [None; 2] }
    }

    /// Makes this the form of the line that `draft` will be, instead of what it was before.
    pub fn draw(&mut self, draft: &Draft, run: &RunIdentity) {
        self.bytes.clear();
        let mut text = String::from_utf8(std::mem::take(&mut self.bytes)).unwrap_or_default();
        let raw = draft.raw.as_ref().map_or(0, Raw::room);
        text.reserve(320 + draft.payload.as_str().len() + raw);
        text.push_str(ROOM);
        self.blanks = [None; 2];
        write_head(&Head::of_draft(draft, run), &mut text);
        match draft.timestamp {
            Some(timestamp) => timestamp.write_to(&mut text),
            None => self.blanks[0] = leave_blank(&mut text),
        }
        write_payload(&draft.payload, draft.source.as_deref(), &mut text);
        if let Some(origin) = &draft.origin {
            write_origin(origin, &mut text);
            if origin.recorded_at.is_none() {
                // It is the last key, and there are others before it.
                text.truncate(text.len() - 1);
                text.push_str(",\"recorded_at\":\"");
                self.blanks[1] = leave_blank(&mut text);
                text.push_str("\"}");
            }
        }
        if let Some(raw) = &draft.raw {
            raw.write_field(&mut text);
        }
        text.push_str("}\n");
        self.bytes = text.into_bytes();
    }

    /// Fills in what was left blank and returns the line: the same that [`Draft::seal`] and
    /// [`encode_line`](crate::encode_line) make.
    ///
    /// Once it is filled in, it is a form no more; draw the next.
    pub fn fill(&mut self, seq: u64, now: Timestamp) -> &[u8] {
        match now.spelled() {
            Some(spelled) => {
                for blank in self.blanks.into_iter().flatten() {
                    self.bytes[blank.get()..][..SPELLED].copy_from_slice(&spelled);
                }
            }
            None => self.fill_otherwise(now),
        }
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(seq).as_bytes();
        let number = ROOM.len() - digits.len();
        let start = number - BEFORE.len();
        self.bytes[start..number].copy_from_slice(BEFORE);
        self.bytes[number..ROOM.len()].copy_from_slice(digits);
        &self.bytes[start..]
    }

    /// Fills in a present that takes more room or less than was left for it.
    fn fill_otherwise(&mut self, now: Timestamp) {
        let spelled = now.to_string();
        for blank in std::mem::take(&mut self.blanks).into_iter().flatten().rev() {
            self.bytes.splice(blank.get()..blank.get() + SPELLED, spelled.bytes());
        }
    }

    /// Returns how many bytes the line has at most.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Returns how much memory it keeps for the next line.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

/// Leaves room for the present; returns where.
fn leave_blank(text: &mut String) -> Option<NonZeroUsize> {
    let place = NonZeroUsize::new(text.len());
    text.push_str(BLANK);
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{RunId, StepPath};
    use crate::line::encode_line;
    use crate::raw::Origin;

    fn time(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    /// Drafts that differ in each part that sealing looks at.
    fn drafts() -> Vec<Draft> {
        let plain = || Draft::system("note", serde_json::json!({ "title": "x" })).unwrap();
        let origin = |recorded_at| Origin { recorded_at, ..Origin::new("s.jsonl", 7, 9) };
        vec![
            plain(),
            plain().at(StepPath::from("each[2].check"), 2).by("subagent:7"),
            plain().calling(RunId::parse("child").unwrap()),
            plain().dated(time("2020-01-01T00:00:00.000001Z")),
            plain().from_origin(origin(None)),
            plain().dated(time("2020-01-01T00:00:00.000001Z")).from_origin(origin(None)),
            plain().from_origin(origin(Some(time("2021-01-01T00:00:00Z")))),
            plain().with_raw(b"text \n \"quoted\""),
            plain().with_raw(&[0xff, 0x00]),
        ]
    }

    #[test]
    fn a_draft_is_encoded_as_it_would_be_sealed() {
        let presents = ["2026-06-08T10:14:42.123456Z", "2026-06-08T10:14:42.123456789Z"].map(time);
        let run_id = RunId::parse("r").unwrap();
        let mut form = LineForm::default();
        for parent_run_id in [None, Some(RunId::parse("p").unwrap())] {
            let run = RunIdentity { run_id: run_id.clone(), parent_run_id };
            for draft in drafts() {
                for (now, seq) in presents.iter().flat_map(|now| [(*now, 1), (*now, u64::MAX)]) {
                    let mut sealed = String::new();
                    encode_line(&draft.clone().seal(seq, &run, now), &mut sealed);
                    form.draw(&draft, &run);
                    assert_eq!(form.fill(seq, now), sealed.as_bytes());
                }
            }
        }
    }
}
