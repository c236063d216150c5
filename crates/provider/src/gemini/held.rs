//! One message of a chat as it was last written, with what earlier versions said of it.
//!
//! A chat that is resumed writes its messages anew, without tokens, thoughts, tool calls and
//! model, and with the time of the resumption. What was known of a message stays known.

use std::ops::Range;

use crate::outbox::{Scraps, Slot};
use crate::value::{Fields, Value};

/// What a later version may leave out without taking it back.
const LASTING: [&str; 4] = ["tokens", "thoughts", "toolCalls", "model"];

/// Messages that are longer than this are not held beside their bytes.
const LONG: usize = 64 * 1024;

/// A message as far as it is known.
pub(super) struct Held {
    pub(super) id: Option<String>,
    source: Source,
    /// Where the rest of it is to be told, if there may be any.
    pub(super) slot: Option<Slot>,
    /// How many places had been reserved before its own.
    pub(super) rank: usize,
    pub(super) scraps: Scraps,
    /// Whether it has been told, at least in part.
    pub(super) is_told: bool,
    /// How it left things, once it has been told.
    pub(super) left: Option<Last>,
}

/// How things stand after a message.
#[derive(Clone)]
pub(super) enum Last {
    Well,
    Interrupted,
    Failed(String),
}

/// Where the JSON of a message is.
enum Source {
    Own(Box<str>),
    /// Among the bytes that are kept with it.
    Kept(Range<usize>),
}

impl Held {
    /// Makes a message of its JSON and its bytes.
    pub(super) fn new(
        id: Option<String>,
        source: &str,
        (slot, rank): (Slot, usize),
        scraps: Scraps,
    ) -> Self {
        let (source_kept, slot) = (Source::Own("".into()), Some(slot));
        let mut held =
            Held { id, source: source_kept, slot, rank, scraps, is_told: false, left: None };
        held.keep(source);
        held
    }

    /// Returns its members.
    pub(super) fn fields(&self) -> Fields<'_> {
        fields_of(self.source())
    }

    /// Takes over a later version of the message, whose bytes are kept with it if they are its own.
    pub(super) fn renew(&mut self, source: &str) {
        match renewed(self.source(), source) {
            Some(whole) => self.source = Source::Own(whole),
            None => self.keep(source),
        }
    }

    /// Tells whether a later version is no other than this one.
    pub(super) fn is_same(&self, later: &str) -> bool {
        match renewed(self.source(), later) {
            Some(whole) => *whole == *self.source(),
            None => later == self.source(),
        }
    }

    /// Hands it on to be told, with its bytes; `stays` if it may be written once more.
    pub(super) fn tell(
        &mut self,
        stays: bool,
        tell: impl FnOnce(Option<String>, Scraps, &Fields<'_>),
    ) {
        let scraps = std::mem::take(&mut self.scraps);
        let bytes = scraps.bytes().cloned().unwrap_or_default();
        let source = std::mem::replace(&mut self.source, Source::Own("".into()));
        tell(self.id.clone(), scraps, &fields_of(source.within(&bytes)));
        if stays {
            // The bytes have gone with the event.
            self.source = match source {
                Source::Own(source) => Source::Own(source),
                kept @ Source::Kept(_) => Source::Own(kept.within(&bytes).into()),
            };
        }
    }

    fn source(&self) -> &str {
        self.source.within(self.scraps.bytes().map_or(&[], |bytes| bytes))
    }

    fn keep(&mut self, source: &str) {
        let kept = self.scraps.bytes().map_or(&[][..], |bytes| bytes);
        self.source = match source.len() > LONG && kept.ends_with(source.as_bytes()) {
            true => Source::Kept(kept.len() - source.len()..kept.len()),
            false => Source::Own(source.into()),
        };
    }
}

impl Source {
    fn within<'a>(&'a self, bytes: &'a [u8]) -> &'a str {
        match self {
            Source::Own(source) => source,
            // It was text when it was kept, and what is kept only grows.
            Source::Kept(range) => {
                let kept = bytes.get(range.clone()).unwrap_or_default();
                std::str::from_utf8(kept).unwrap_or_default()
            }
        }
    }
}

/// Returns the members of a message.
fn fields_of(source: &str) -> Fields<'_> {
    Value::parse(source).ok().and_then(Value::fields).unwrap_or_default()
}

/// Returns the later version with what only the earlier one says, if there is such a thing.
///
/// Of a key that stands twice the last one counts, so that it is enough to add to the end.
fn renewed(earlier: &str, later: &str) -> Option<Box<str>> {
    let (before, now) = (fields_of(earlier), fields_of(later));
    let left_out = LASTING.into_iter().filter(|key| now.get(key).is_none());
    // A message is said once, however often it is written.
    let time = before.time("timestamp").map(|_| "timestamp");
    let lasting: Vec<_> = left_out
        .chain(time)
        .filter_map(|key| Some((key, before.get(key)?.source())))
        .filter(|(key, value)| now.get(key).is_none_or(|now| now.source() != *value))
        .collect();
    let mut whole = later.trim_end().strip_suffix('}')?.to_owned();
    if lasting.is_empty() || now.iter().next().is_none() {
        return None;
    }
    for (key, value) in lasting {
        whole.extend([",\"", key, "\":", value]);
    }
    whole.push('}');
    Some(whole.into())
}

#[cfg(test)]
mod tests {
    use super::renewed;

    #[test]
    fn what_a_later_version_leaves_out_stays_known() {
        let cases = [
            (r#"{"tokens":{"input":1}}"#, r#"{"id":"a"}"#, r#"{"id":"a","tokens":{"input":1}}"#),
            (r#"{"tokens":1}"#, r#"{"tokens":null}"#, r#"{"tokens":null,"tokens":1}"#),
            (
                r#"{"timestamp":"2026-03-01T10:00:00Z"}"#,
                r#"{"timestamp":"2026-03-01T11:00:00Z"}"#,
                r#"{"timestamp":"2026-03-01T11:00:00Z","timestamp":"2026-03-01T10:00:00Z"}"#,
            ),
        ];
        for (earlier, later, expected) in cases {
            assert_eq!(renewed(earlier, later).as_deref(), Some(expected), "{later}");
        }
    }

    #[test]
    fn what_a_later_version_says_counts() {
        let earlier = r#"{"tokens":1,"toolCalls":[1],"content":"a","timestamp":"1"}"#;
        for later in [r#"{"tokens":2,"toolCalls":[],"timestamp":"1"}"#, "{}", "7"] {
            assert_eq!(renewed(earlier, later), None, "{later}");
        }
    }
}
