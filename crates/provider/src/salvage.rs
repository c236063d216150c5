//! What can be saved of a line: whole values, values glued together, a value behind a torn one.

use std::borrow::Cow;

use memchr::memmem;
use quipu_event::mend_surrogates;
use serde_json::value::RawValue;

use crate::framing::Sink;
use crate::mend::escape_control_bytes;
use crate::record::{Fragment, Place, Record, Worth};
use crate::value::{Fields, Members, Value};

/// How many times its own length a broken line may be read in search of a whole record.
const SEARCH_EFFORT: usize = 8;

/// The beginning of a record whose end has not been seen.
pub(crate) struct Torn {
    pub(crate) bytes: Vec<u8>,
    pub(crate) place: Place,
    pub(crate) lines: usize,
}

impl Torn {
    pub(crate) fn new(bytes: &[u8], place: Place) -> Self {
        Torn { bytes: bytes.to_vec(), place, lines: 1 }
    }

    /// Adds the next line.
    pub(crate) fn add(&mut self, line: &[u8]) {
        self.bytes.push(b'\n');
        self.bytes.extend_from_slice(line);
        self.place.len = self.bytes.len() as u64;
        self.lines += 1;
    }

    pub(crate) fn report(&self, what: &'static str, sink: &mut Sink<'_>) {
        let (exact, place) = (&*self.bytes, self.place);
        sink(Fragment::Damage { exact, place, what, worth: Worth::Kept });
    }
}

/// Tells whether `content` is one value.
pub(crate) fn is_whole(content: &[u8]) -> bool {
    std::str::from_utf8(content).is_ok_and(|text| Value::parse(text).is_ok())
}

/// Gives the one value that `content` is; returns whether it is one.
pub(crate) fn give_whole(content: &[u8], place: Place, sink: &mut Sink<'_>) -> bool {
    match simdutf8::basic::from_utf8(content) {
        Ok(text) => give_text(text, content, place, sink),
        Err(_) => false,
    }
}

/// Gives the one value that `text` is, which stands for `exact`; returns whether it is one.
pub(crate) fn give_text(text: &str, exact: &[u8], place: Place, sink: &mut Sink<'_>) -> bool {
    let source = &*mend_surrogates(text);
    if source.starts_with('{') {
        let Some(members) = Members::parse(source) else { return false };
        let fields = members.fields();
        sink(Fragment::Record(Record { fields, source, exact, place, shared: None }));
        return true;
    }
    let Ok(value) = Value::parse(source) else { return false };
    let items = value.items();
    if items.is_empty() || !items.iter().all(|item| item.is_object()) {
        let fields = Fields::default();
        sink(Fragment::Record(Record { fields, source, exact, place, shared: None }));
        return true;
    }
    // Where bytes were mended, offsets in the text are not offsets in the input.
    let is_exact = source.as_bytes() == exact;
    for item in items {
        let text = item.source();
        let start = text.as_ptr() as usize - source.as_ptr() as usize;
        let place = part(place, start, start + text.len());
        let exact = if is_exact { &exact[start..start + text.len()] } else { text.as_bytes() };
        let fields = item.fields().unwrap_or_default();
        sink(Fragment::Record(Record { fields, source: text, exact, place, shared: None }));
    }
    true
}

/// Gives what can be saved of `content`, which is not one value; returns the torn record at its
/// end, if it may go on in the next line.
pub(crate) fn pieces(content: &[u8], place: Place, sink: &mut Sink<'_>) -> Option<Torn> {
    if content.first() != Some(&b'{') {
        sink(Fragment::Damage { exact: content, place, what: "not JSON", worth: Worth::Kept });
        return None;
    }
    let text = String::from_utf8_lossy(content);
    if matches!(text, Cow::Owned(_)) && give_text(&text, content, place, sink) {
        return None;
    }
    let escaped = escape_control_bytes(&text);
    if escaped != *text && give_text(&escaped, content, place, sink) {
        return None;
    }
    // Where bytes were replaced, offsets in the text are not offsets in the line.
    let content = if matches!(text, Cow::Owned(_)) { text.as_bytes() } else { content };
    give_parts(content, &text, place, sink)
}

/// Gives the values that stand one behind the other, and what is between them as damage.
fn give_parts(content: &[u8], text: &str, place: Place, sink: &mut Sink<'_>) -> Option<Torn> {
    let mut at = 0;
    let mut effort = SEARCH_EFFORT * text.len();
    loop {
        at += give_run(content, text, at, place, sink);
        let rest = text[at..].trim_start_matches([' ', '\t', '\0', '\r']);
        at = text.len() - rest.len();
        if rest.is_empty() {
            return None;
        }
        let torn = || Torn::new(&content[at..], part(place, at, content.len()));
        // What is good as far as it goes has been cut off; objects inside it are its own.
        if rest.starts_with('{') && is_beginning(rest.as_bytes()) {
            if ends_in_string(rest) {
                return Some(torn());
            }
            torn().report("cut off in the middle of a record", sink);
            return None;
        }
        let Some(next) = find_record(rest, &mut effort) else {
            torn().report("not JSON", sink);
            return None;
        };
        let (exact, place) = (&content[at..at + next], part(place, at, at + next));
        let what = "a record cut off by the next one";
        sink(Fragment::Damage { exact, place, what, worth: Worth::Kept });
        at += next;
    }
}

/// Gives the values that stand at `from` one behind the other; returns how long they are.
fn give_run(content: &[u8], text: &str, from: usize, place: Place, sink: &mut Sink<'_>) -> usize {
    let mut values = serde_json::Deserializer::from_str(&text[from..]).into_iter::<&RawValue>();
    let mut end = 0;
    loop {
        let start = end;
        let Some(Ok(value)) = values.next() else { return end };
        if !value.get().starts_with('{') {
            return end;
        }
        end = values.byte_offset();
        let start = start + text[from + start..].find('{').unwrap_or(0);
        let (exact, place) =
            (&content[from + start..from + end], part(place, from + start, from + end));
        give_text(value.get(), exact, place, sink);
    }
}

/// Returns where in `text`, behind its beginning, a record begins that goes to its end.
fn find_record(text: &str, effort: &mut usize) -> Option<usize> {
    for start in memmem::find_iter(text.as_bytes(), b"{\"").filter(|start| *start > 0) {
        let mut values =
            serde_json::Deserializer::from_str(&text[start..]).into_iter::<&RawValue>();
        let looked_at = match values.next()? {
            Ok(_) if text[start + values.byte_offset()..].trim().is_empty() => return Some(start),
            Ok(_) => values.byte_offset(),
            Err(error) => error.column(),
        };
        *effort = effort.checked_sub(looked_at)?;
    }
    None
}

fn part(place: Place, start: usize, end: usize) -> Place {
    Place { offset: place.offset + start as u64, len: (end - start) as u64, ..place }
}

/// Tells whether `content` could be the beginning of a value.
pub(crate) fn is_beginning(content: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(content) else { return false };
    serde_json::from_str::<&RawValue>(text).is_err_and(|error| error.is_eof())
}

/// Tells whether `text` ends inside a string.
pub(crate) fn ends_in_string(text: &str) -> bool {
    let (mut in_string, mut bytes) = (false, text.bytes());
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => drop(bytes.next()),
            _ => {}
        }
    }
    in_string
}
