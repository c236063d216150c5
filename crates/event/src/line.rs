//! Event ⇄ exactly one line of JSON.
//!
//! Decoding is in two plain steps: the envelope here, the payload by type in [`crate::payload`].
//! Whatever is not known is kept as text and written back as it was.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer as _, MapAccess, Visitor};

use crate::canonical;
use crate::draft::Draft;
use crate::encode::write_value;
use crate::escape::{write_string, write_string_body};
use crate::event::Event;
use crate::id::{RunId, StepPath};
use crate::json::Json;
use crate::kind::Kind;
use crate::raw::{Origin, Raw};
use crate::time::Timestamp;

/// A line that is no event.
#[derive(Debug, thiserror::Error)]
#[error("not a transcript line")]
pub struct LineError {
    /// What was wrong. Its column counts bytes from 1 within the line.
    #[source]
    pub source: serde_json::Error,
}

/// Appends `event` to `out` as one line, line feed included.
pub fn encode_line(event: &Event, out: &mut String) {
    out.reserve(256 + event.payload.as_str().len());
    write_seq(out, event.seq);
    write_run(&event.run_id, event.parent_run_id.as_ref(), out);
    write_place(&Place::of_event(event), out);
    out.push_str(BEFORE_TIME);
    event.timestamp.write_to(out);
    out.push_str(AFTER_TIME);
    write_payload(&event.payload, event.source.as_deref(), out);
    if let Some(origin) = &event.origin {
        write_origin(origin, out);
    }
    if let Some(raw) = &event.raw {
        raw.write_field(out);
    }
    for (key, value) in &event.extra {
        json_field(out, key, value);
    }
    out.push_str("}\n");
}

/// What stands between the run of a line and its time, wherever it is kept.
pub(crate) struct Place<'a> {
    child_run_id: Option<&'a RunId>,
    kind: &'a Kind,
    path: &'a StepPath,
    iteration: u64,
}

impl<'a> Place<'a> {
    fn of_event(event: &'a Event) -> Self {
        Place {
            child_run_id: event.child_run_id.as_ref(),
            kind: &event.kind,
            path: &event.path,
            iteration: event.iteration,
        }
    }

    pub(crate) fn of_draft(draft: &'a Draft) -> Self {
        Place {
            child_run_id: draft.child_run_id.as_ref(),
            kind: &draft.kind,
            path: &draft.path,
            iteration: draft.iteration,
        }
    }
}

/// What stands between the place of a line and its time.
pub(crate) const BEFORE_TIME: &str = ",\"timestamp\":\"";
/// What stands between the time of a line and its payload.
pub(crate) const AFTER_TIME: &str = "\",\"payload\":";

fn write_seq(out: &mut String, seq: u64) {
    out.push_str("{\"seq\":");
    out.push_str(itoa::Buffer::new().format(seq));
}

/// Appends what follows the number: whose line it is.
pub(crate) fn write_run(run_id: &RunId, parent_run_id: Option<&RunId>, out: &mut String) {
    id_field(out, ",\"run_id\":\"", Some(run_id));
    id_field(out, ",\"parent_run_id\":\"", parent_run_id);
}

/// Appends what follows the run, up to the time.
pub(crate) fn write_place(place: &Place<'_>, out: &mut String) {
    id_field(out, ",\"child_run_id\":\"", place.child_run_id);
    out.push_str(",\"type\":\"");
    match place.kind {
        Kind::Other(word) => write_string_body(out, word),
        // A word of the list needs no look for characters to escape.
        known => out.push_str(known.as_str()),
    }
    out.push_str("\",\"path\":\"");
    write_string_body(out, place.path.as_str());
    out.push_str("\",\"iteration\":");
    out.push_str(itoa::Buffer::new().format(place.iteration));
}

/// Appends the payload and what follows it.
pub(crate) fn write_payload(payload: &Json, source: Option<&str>, out: &mut String) {
    out.push_str(payload.as_str());
    if let Some(source) = source {
        out.push_str(",\"source\":");
        write_string(out, source);
    }
}

pub(crate) fn write_origin(origin: &Origin, out: &mut String) {
    out.push_str(",\"origin\":");
    // Strings and numbers only: neither nests nor fails.
    let _ = write_value(out, origin);
}

/// Decodes one line, with or without its line feed.
///
/// Fails when the line is not one JSON object with `seq`, `run_id`, `type` and `timestamp` of the
/// right JSON types, or has `seq` or `type` twice. A missing `path` is empty, a missing `iteration` 0, a missing `payload`
/// `null`: other writers leave them out.
pub fn decode_line(line: &[u8]) -> Result<Event, LineError> {
    LineDecoder::default().decode(line)
}

/// Decodes lines one after the other.
///
/// Each means what it means alone, whatever came before it. But the lines of a run have its id in
/// common, and often their path: events of one decoder share them, and each line is read the faster.
#[derive(Clone, Debug, Default)]
pub struct LineDecoder {
    before: canonical::Before,
}

impl LineDecoder {
    /// Decodes one line as [`decode_line`] does, and fails where that fails.
    pub fn decode(&mut self, line: &[u8]) -> Result<Event, LineError> {
        canonical::decode(line, &mut self.before).map_or_else(|| decode_any(line), Ok)
    }
}

/// Decodes a line whatever the order of its keys.
fn decode_any(line: &[u8]) -> Result<Event, LineError> {
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    deserializer
        .deserialize_map(EventVisitor)
        .and_then(|event| deserializer.end().map(|()| event))
        .map_err(|source| LineError { source })
}

/// An id needs no escaping: no character of one does.
fn id_field(out: &mut String, key: &str, id: Option<&RunId>) {
    if let Some(id) = id {
        out.push_str(key);
        out.push_str(id.as_str());
        out.push('"');
    }
}

fn json_field(out: &mut String, key: &str, value: &Json) {
    out.push(',');
    write_string(out, key);
    out.push(':');
    out.push_str(value.as_str());
}

/// A string that is borrowed from the line unless it holds an escape.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

struct EventVisitor;

/// The envelope while its keys arrive in any order.
#[derive(Default)]
struct Envelope {
    seq: Option<u64>,
    run_id: Option<RunId>,
    parent_run_id: Option<RunId>,
    child_run_id: Option<RunId>,
    kind: Option<Kind>,
    path: Option<StepPath>,
    iteration: Option<u64>,
    timestamp: Option<Timestamp>,
    payload: Option<Json>,
    source: Option<Box<str>>,
    origin: Option<Box<Origin>>,
    raw: Option<Raw>,
    extra: Vec<(String, Json)>,
}

impl Envelope {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "seq" => once(&mut self.seq, "seq", map)?,
            "run_id" => self.run_id = Some(map.next_value()?),
            "parent_run_id" => self.parent_run_id = map.next_value()?,
            "child_run_id" => self.child_run_id = map.next_value()?,
            "type" => once(&mut self.kind, "type", map)?,
            "path" => self.path = Some(StepPath::from(&*map.next_value::<Text<'de>>()?.0)),
            "iteration" => self.iteration = Some(map.next_value()?),
            "timestamp" => self.timestamp = Some(map.next_value()?),
            "payload" => self.payload = Some(map.next_value()?),
            "source" => self.source = map.next_value()?,
            "origin" => self.take_origin(map.next_value()?),
            // A line has one record. What stands there besides is kept with the unknown keys.
            "raw" if self.raw.is_none() => self.raw = Some(Raw::Text(map.next_value()?)),
            "raw_b64" if self.raw.is_none() => self.raw = Some(Raw::Base64(map.next_value()?)),
            other => self.extra.push((other.to_owned(), map.next_value()?)),
        }
        Ok(())
    }

    /// An origin of another shape, or with more in it than we know, is kept as it stands.
    fn take_origin(&mut self, origin: Json) {
        match origin.decode() {
            Ok(known) => self.origin = known,
            Err(_) => self.extra.push(("origin".to_owned(), origin)),
        }
    }

    fn finish<E: serde::de::Error>(self) -> Result<Event, E> {
        Ok(Event {
            seq: self.seq.ok_or_else(|| E::missing_field("seq"))?,
            run_id: self.run_id.ok_or_else(|| E::missing_field("run_id"))?,
            parent_run_id: self.parent_run_id,
            child_run_id: self.child_run_id,
            kind: self.kind.ok_or_else(|| E::missing_field("type"))?,
            path: self.path.unwrap_or_default(),
            iteration: self.iteration.unwrap_or(0),
            timestamp: self.timestamp.ok_or_else(|| E::missing_field("timestamp"))?,
            payload: self.payload.unwrap_or_default(),
            source: self.source,
            origin: self.origin,
            raw: self.raw,
            extra: self.extra,
        })
    }
}

/// Takes a value whose key may stand only once: readers that look at the first and readers that
/// look at the last must not see different lines.
fn once<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    key: &'static str,
    map: &mut A,
) -> Result<(), A::Error> {
    if slot.is_some() {
        return Err(serde::de::Error::duplicate_field(key));
    }
    *slot = Some(map.next_value()?);
    Ok(())
}

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object with seq, run_id, type and timestamp")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
            envelope.take(&key, &mut map)?;
        }
        envelope.finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::*;

    fn short_way(line: &[u8]) -> Option<Event> {
        canonical::decode(line, &mut canonical::Before::default())
    }

    const UP_TO_PAYLOAD: &str = concat!(
        r#"{"seq":1,"run_id":"r","parent_run_id":"p","child_run_id":"c","type":"usage","path":"","#,
        r#""iteration":0,"timestamp":"2026-01-02T03:04:05.000000Z","payload":"#,
    );

    fn golden_lines() -> Vec<&'static str> {
        include_str!("../tests/golden/v1.jsonl").lines().collect()
    }

    #[test]
    fn most_lines_of_ours_go_the_short_way() {
        let short = golden_lines().iter().filter(|l| short_way(l.as_bytes()).is_some()).count();
        assert!(short > golden_lines().len() / 2);
        let origin = r#""origin":{"file":"a\n","offset":1,"len":2}"#;
        let ends = [
            "null}",
            r#"{"a":[ 1.50,"\ud800",{}]},"source":"subagent:1"}"#,
            &format!(r#"{{}},{origin},"raw":"a\"\u0000"}}"#),
            &format!(r#"{{}},"source":"s",{origin},"raw_b64":"/wA="}}"#),
        ];
        for end in ends {
            let line = format!("{UP_TO_PAYLOAD}{end}");
            let event = short_way(line.as_bytes()).unwrap();
            assert_eq!(event, decode_any(line.as_bytes()).unwrap());
        }
    }

    #[test]
    fn what_is_not_spelled_as_we_spell_it_goes_the_long_way() {
        let deep = format!("{}{}}}", "[".repeat(121), "]".repeat(121));
        let ends = [
            " {}}",
            "{} }",
            "{}\t}",
            "{}}}",
            "{}",
            r#"{},"seq":1}"#,
            r#"{},"payload":{}}"#,
            r#"{},"source":null}"#,
            r#"{},"source":"\u0041"}"#,
            r#"{},"origin":null}"#,
            r#"{},"origin":{"file":"a","offset":1,"len":2,"new":3}}"#,
            r#"{},"raw":"a","raw_b64":"YQ=="}"#,
            r#"{},"raw":"a","source":"s"}"#,
            r#"{},"trace":1}"#,
            &deep,
        ];
        for end in ends {
            let line = format!("{UP_TO_PAYLOAD}{end}");
            assert_eq!(short_way(line.as_bytes()), None, "{end}");
        }
    }

    #[test]
    fn a_line_means_the_same_whatever_came_before_it() {
        let line = |run: &str, path: &str| {
            let (from, to) = ("\"run_id\":\"r\"", format!("\"run_id\":\"{run}\""));
            let line = UP_TO_PAYLOAD.replacen(from, &to, 1);
            line.replacen("\"path\":\"\"", &format!("\"path\":\"{path}\""), 1) + "{}}"
        };
        let mut decoder = LineDecoder::default();
        let runs = ["r", "r", "run", "ru", "", "r", "a b", "r\\u0041", "r"];
        let paths = ["", "a", "a", "ab", "a", "", "a\\n", "é", "\\", "é\"", ""];
        for line in runs.iter().flat_map(|run| paths.map(|path| line(run, path))) {
            let ours = decoder.decode(line.as_bytes()).map_err(|error| error.source.to_string());
            let theirs = decode_any(line.as_bytes()).map_err(|error| error.source.to_string());
            assert_eq!(ours, theirs, "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_short_way_reads_what_the_long_way_reads(
            line in select(golden_lines()),
            bends in vec((any::<Index>(), select(b"{}[]\",:\\\n 019e.-Zxz\x00\xff".to_vec())), 0..3),
            feed in any::<bool>(),
        ) {
            let mut line = line.as_bytes().to_vec();
            for (at, byte) in bends {
                let at = at.index(line.len());
                line[at] = byte;
            }
            if feed {
                line.push(b'\n');
            }
            if let Some(event) = short_way(&line) {
                prop_assert_eq!(decode_any(&line).unwrap(), event);
            }
        }
    }
}
