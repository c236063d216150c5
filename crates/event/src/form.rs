//! A line on its way: all of it but its number and the present, which are filled in where they belong.
//!
//! This is the recorder's to use. It saves building an event that nobody has asked to see, and a line
//! is made in its producer's own thread but for what only the one who writes it knows.

use std::num::NonZeroUsize;

use crate::digits::write_to_end_of;
use crate::draft::{Draft, RunIdentity};
use crate::line::{
    AFTER_TIME, BEFORE_TIME, Place, write_origin, write_payload, write_place, write_run,
};
use crate::raw::Raw;
use crate::time::{SPELLED, Timestamp};

/// What stands before a line's number.
const BEFORE: &[u8; 7] = b"{\"seq\":";
/// So much room there is for a number and what stands before it: the largest has 20 digits.
const ROOM: &str = "                           ";
/// What stands around the present, and a blank for it.
const UNDATED: &str = ",\"timestamp\":\"0000-00-00T00:00:00.000000Z\",\"payload\":";
/// Stands where the present goes, until it is known.
const BLANK: &str = "0000-00-00T00:00:00.000000Z";

const _: () = assert!(ROOM.len() == BEFORE.len() + 20 && BLANK.len() == SPELLED);
const _: () = assert!(UNDATED.len() == BEFORE_TIME.len() + SPELLED + AFTER_TIME.len());

/// What the lines of a run have in common: room for a number, and whose they are.
#[derive(Clone, Debug)]
pub struct Letterhead {
    text: String,
}

impl Letterhead {
    /// Makes the head of all lines of `run`.
    pub fn of(run: &RunIdentity) -> Self {
        let mut text = ROOM.to_owned();
        write_run(&run.run_id, run.parent_run_id.as_ref(), &mut text);
        Letterhead { text }
    }
}

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
    pub fn draw(&mut self, draft: &Draft, letterhead: &Letterhead) {
        self.bytes.clear();
        let mut text = String::from_utf8(std::mem::take(&mut self.bytes)).unwrap_or_default();
        let raw = draft.raw.as_ref().map_or(0, Raw::room);
        text.reserve(320 + draft.payload.as_str().len() + raw);
        text.push_str(&letterhead.text);
        self.blanks = [None; 2];
        write_place(&Place::of_draft(draft), &mut text);
        match draft.timestamp {
            None => {
                self.blanks[0] = NonZeroUsize::new(text.len() + BEFORE_TIME.len());
                text.push_str(UNDATED);
            }
            Some(timestamp) => {
                text.push_str(BEFORE_TIME);
                timestamp.write_to(&mut text);
                text.push_str(AFTER_TIME);
            }
        }
        write_payload(&draft.payload, draft.source.as_deref(), &mut text);
        if let Some(origin) = &draft.origin {
            write_origin(origin, &mut text);
            if origin.recorded_at.is_none() {
                // It is the last key, and there are others before it.
                text.truncate(text.len() - 1);
                text.push_str(",\"recorded_at\":\"");
                self.blanks[1] = NonZeroUsize::new(text.len());
                text.push_str(BLANK);
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
        let Some(room) = self.bytes.first_chunk_mut::<{ ROOM.len() }>() else { return &[] };
        let start = write_number(room, seq);
        &self.bytes[start..]
    }

    /// Appends the line to `lines` and leaves the form as it is, for those who had better not write to
    /// where another has written.
    pub fn fill_to(&self, seq: u64, now: Timestamp, lines: &mut Vec<u8>) {
        let Some((_, rest)) = self.bytes.split_first_chunk::<{ ROOM.len() }>() else { return };
        let mut room = [0; ROOM.len()];
        let start = write_number(&mut room, seq);
        lines.extend_from_slice(&room[start..]);
        let before = lines.len();
        lines.extend_from_slice(rest);
        match now.spelled() {
            Some(spelled) => {
                for blank in self.blanks.into_iter().flatten() {
                    let place = before + blank.get() - ROOM.len();
                    lines[place..][..SPELLED].copy_from_slice(&spelled);
                }
            }
            None => {
                let mut form = self.clone();
                lines.truncate(before + start - ROOM.len());
                lines.extend_from_slice(form.fill(seq, now));
            }
        }
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

/// Writes a number and what stands before it to the end of its room; returns where that begins.
fn write_number(room: &mut [u8; ROOM.len()], seq: u64) -> usize {
    let start = write_to_end_of(room, seq) - BEFORE.len();
    room[start..][..BEFORE.len()].copy_from_slice(BEFORE);
    start
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
            let letterhead = Letterhead::of(&run);
            for draft in drafts() {
                for (now, seq) in presents
                    .iter()
                    .flat_map(|now| [1, 10, 987_654, u64::MAX].map(|seq| (*now, seq)))
                {
                    let mut sealed = String::new();
                    encode_line(&draft.clone().seal(seq, &run, now), &mut sealed);
                    form.draw(&draft, &letterhead);
                    let mut lines = b"before".to_vec();
                    form.fill_to(seq, now, &mut lines);
                    assert_eq!(lines, format!("before{sealed}").into_bytes());
                    assert_eq!(form.fill(seq, now), sealed.as_bytes());
                }
            }
        }
    }
}
