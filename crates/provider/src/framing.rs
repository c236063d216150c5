//! Bytes → records: the one reader of foreign input, shared by all providers.
//!
//! It takes bytes in pieces of any size and gives the same records for any cut. A line that is
//! not one JSON value is searched for what can be saved ([`crate::salvage`]). It knows no
//! provider and judges no content.

use std::sync::Arc;

use memchr::memchr;

use crate::mend::escape_control_bytes;
use crate::record::{Fragment, Place, Record, Worth};
use crate::salvage::{self, Torn};

/// How a surface divides its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// One value a line.
    Lines,
    /// One value a line, or one value over all lines.
    LinesOrDocument,
    /// Server-sent events, or any of the above.
    Http,
}

/// A buffer that one giant line has blown up beyond this is not kept.
const BUFFER_KEPT: usize = 1024 * 1024;
/// A record whose strings hold raw line feeds is looked for over at most this many lines.
const JOINED_LINES: usize = 64;

pub(crate) type Sink<'s> = dyn FnMut(Fragment<'_>) + 's;

/// Divides bytes into records.
pub(crate) struct Framer {
    framing: Framing,
    /// What has come of a line that has no end yet.
    buffer: Vec<u8>,
    /// How many lines have ended.
    lines: u64,
    /// Where the line in the buffer begins.
    offset: u64,
    /// Whether all of the input is one value, once that is known.
    is_document: Option<bool>,
    /// A record that has not ended with its line.
    torn: Option<Torn>,
    /// Data of a server-sent event that goes over several lines.
    data: Option<Torn>,
}

impl Framer {
    pub(crate) fn new(framing: Framing) -> Self {
        Framer {
            framing,
            buffer: Vec::new(),
            lines: 0,
            offset: 0,
            is_document: (framing == Framing::Lines).then_some(false),
            torn: None,
            data: None,
        }
    }

    /// Takes the next bytes of the input.
    pub(crate) fn push(&mut self, mut bytes: &[u8], sink: &mut Sink<'_>) {
        while self.is_document != Some(true) {
            let Some(end) = memchr(b'\n', bytes) else { break };
            if self.buffer.is_empty() {
                self.end_line(&bytes[..end], sink);
            } else {
                self.buffer.extend_from_slice(&bytes[..end]);
                self.end_buffered_line(sink);
            }
            bytes = &bytes[end + 1..];
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Takes the line in the buffer, which has ended.
    fn end_buffered_line(&mut self, sink: &mut Sink<'_>) {
        let mut line = std::mem::take(&mut self.buffer);
        if line.len() <= BUFFER_KEPT {
            self.end_line(&line, sink);
            if self.is_document != Some(true) {
                line.clear();
                self.buffer = line;
            }
            return;
        }
        let line = Arc::new(line);
        self.end_line(&line, &mut |fragment| sink(share(fragment, &line)));
    }

    /// Takes the end of the input: what is held back is given as far as it goes.
    pub(crate) fn finish(&mut self, sink: &mut Sink<'_>) {
        let rest = Arc::new(std::mem::take(&mut self.buffer));
        let sink: &mut Sink<'_> = &mut |fragment| sink(share(fragment, &rest));
        let is_document = self.is_document == Some(true);
        // A single line without an end may turn out to be the beginning of a document too.
        if is_document || !rest.is_empty() && !self.take_line(&rest, sink) {
            self.finish_document(&rest, sink);
        }
        self.give_up(sink);
    }

    /// Gives what ended lines have left open; a line without an end is left alone.
    pub(crate) fn give_up(&mut self, sink: &mut Sink<'_>) {
        self.flush_data(sink);
        if let Some(torn) = self.torn.take() {
            torn.report("cut off in the middle of a record", sink);
        }
    }

    /// Begins anew, for another input of the same kind.
    pub(crate) fn start_anew(&mut self) {
        *self = Framer::new(self.framing);
    }

    /// Returns what has come of a line, or of a document, that has no end yet.
    pub(crate) fn unfinished(&self) -> &[u8] {
        &self.buffer
    }

    /// Returns where in the input that begins.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Tells whether what is unfinished is one record if nothing else comes.
    pub(crate) fn has_whole_tail(&self) -> bool {
        let (content, _) = trim(&self.buffer, Place::default());
        let is_apart = match content.first() {
            Some(b'{') => true,
            // These would go on where a record has been torn.
            Some(b'[' | b'"') => self.torn.is_none(),
            // A number may have more digits, and nobody says a word alone.
            _ => false,
        };
        is_apart && salvage::give_whole(content, Place::default(), &mut |_| {})
    }

    /// Passes a line of `len` bytes, its end included, that nobody looks at.
    pub(crate) fn skip(&mut self, len: u64) {
        debug_assert!(self.buffer.is_empty(), "only whole lines can be passed over");
        self.lines += 1;
        self.offset += len;
        if let Some(torn) = &mut self.torn {
            // What comes behind the gap is not its end.
            torn.lines = JOINED_LINES;
        }
    }

    /// Takes a line that has ended with a line feed.
    fn end_line(&mut self, line: &[u8], sink: &mut Sink<'_>) {
        if !self.take_line(line, sink) {
            // The line is the beginning of a document.
            self.buffer.extend_from_slice(line);
            self.buffer.push(b'\n');
            return;
        }
        self.lines += 1;
        self.offset += line.len() as u64 + 1;
    }

    /// Takes a line; returns whether it was one.
    fn take_line(&mut self, line: &[u8], sink: &mut Sink<'_>) -> bool {
        let place = Place { line: self.lines + 1, offset: self.offset, len: line.len() as u64 };
        let (content, place) = trim(line, place);
        // Noise before the first record does not tell yet.
        if self.is_document.is_none() && matches!(content.first(), Some(b'{' | b'[')) {
            self.is_document = Some(salvage::is_beginning(content));
            if self.is_document == Some(true) {
                return false;
            }
        }
        if self.framing == Framing::Http && self.take_event_line(content, place, sink) {
            return true;
        }
        self.take_content(line, content, place, sink);
        report_nul(line, place, sink);
        true
    }

    /// Takes what a line says besides white space and NUL bytes.
    fn take_content(&mut self, line: &[u8], content: &[u8], place: Place, sink: &mut Sink<'_>) {
        if self.torn.is_some() && !self.join(line, content, sink) {
            return;
        }
        if content.is_empty() {
            return;
        }
        if !salvage::give_whole(content, place, sink) {
            self.torn = salvage::pieces(content, place, sink);
        }
    }

    /// Puts a line behind a record that has not ended; returns whether the line stands alone.
    fn join(&mut self, line: &[u8], content: &[u8], sink: &mut Sink<'_>) -> bool {
        let Some(mut torn) = self.torn.take() else { return true };
        let stands_alone = content.first() == Some(&b'{') && salvage::is_whole(content);
        if stands_alone || torn.lines >= JOINED_LINES {
            torn.report("cut off in the middle of a record", sink);
            return true;
        }
        let before = torn.bytes.len();
        torn.add(line);
        let text = String::from_utf8_lossy(&torn.bytes);
        let mended = escape_control_bytes(&text);
        if salvage::give_text(&mended, &torn.bytes, torn.place, sink) {
            let what = "a raw line feed inside a string";
            sink(Fragment::Damage { exact: &[], place: torn.place, what, worth: Worth::Reported });
            return false;
        }
        if salvage::ends_in_string(&mended) {
            self.torn = Some(torn);
            return false;
        }
        torn.bytes.truncate(before);
        torn.place.len = before as u64;
        torn.report("cut off in the middle of a record", sink);
        true
    }

    /// Takes a line of a server-sent event; returns whether it was one.
    fn take_event_line(&mut self, content: &[u8], place: Place, sink: &mut Sink<'_>) -> bool {
        let Some(data) = content.strip_prefix(b"data:") else {
            self.flush_data(sink);
            let fields: [&[u8]; 4] = [b"event:", b"id:", b"retry:", b":"];
            let is_event = fields.iter().any(|field| content.starts_with(field));
            if is_event {
                self.is_document = Some(false);
            }
            return is_event;
        };
        self.is_document = Some(false);
        let (data, place) = trim(data, advance(place, content.len() - data.len()));
        if let Some(pending) = &mut self.data {
            pending.add(data);
        } else if !data.is_empty() && data != b"[DONE]" && !salvage::give_whole(data, place, sink) {
            self.data = Some(Torn::new(data, place));
        }
        true
    }

    /// Gives the data of a server-sent event that has ended.
    fn flush_data(&mut self, sink: &mut Sink<'_>) {
        let Some(data) = self.data.take() else { return };
        if !salvage::give_whole(&data.bytes, data.place, sink)
            && let Some(torn) = salvage::pieces(&data.bytes, data.place, sink)
        {
            torn.report("cut off in the middle of a record", sink);
        }
    }

    fn finish_document(&mut self, document: &[u8], sink: &mut Sink<'_>) {
        let place = Place { line: self.lines + 1, offset: self.offset, len: document.len() as u64 };
        let (content, place) = trim(document, place);
        if salvage::give_whole(content, place, sink) {
            return;
        }
        self.is_document = Some(false);
        let mut lines = document.split(|byte| *byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            if lines.peek().is_some() || !line.is_empty() {
                self.end_line(line, sink);
            }
        }
    }
}

/// Lets a record have the line that it is, instead of a copy of it.
fn share<'a>(fragment: Fragment<'a>, line: &Arc<Vec<u8>>) -> Fragment<'a> {
    match fragment {
        Fragment::Record(record) if record.exact.len() == line.len() => {
            Fragment::Record(Record { shared: Some(Arc::clone(line)), ..record })
        }
        other => other,
    }
}

/// Takes a byte order mark off the beginning, and white space and NUL bytes off both ends.
fn trim(bytes: &[u8], place: Place) -> (&[u8], Place) {
    let is_filling = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    // Files that were put together have a mark in the middle.
    let mut content = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let start = content.iter().position(|byte| !is_filling(byte)).unwrap_or(content.len());
    content = &content[start..];
    let skipped = bytes.len() - content.len();
    let end = content.iter().rposition(|byte| !is_filling(byte)).map_or(0, |last| last + 1);
    content = &content[..end];
    (content, Place { len: content.len() as u64, ..advance(place, skipped) })
}

fn advance(place: Place, bytes: usize) -> Place {
    Place { offset: place.offset + bytes as u64, ..place }
}

fn report_nul(line: &[u8], place: Place, sink: &mut Sink<'_>) {
    let is_padded =
        line.first() == Some(&0) || line.iter().rev().find(|byte| **byte != b'\r') == Some(&0);
    if is_padded {
        let what = "NUL bytes instead of text";
        sink(Fragment::Damage { exact: &[], place, what, worth: Worth::Reported });
    }
}

#[cfg(test)]
mod tests;
