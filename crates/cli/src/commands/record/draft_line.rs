//! One line of standard input → one draft, or the reason why it is none.
//!
//! Nothing is recorded here, and nothing is mended: a line either is a draft or is kept whole by
//! whoever asked.

use std::borrow::Cow;
use std::fmt;

use quipu_event::{Draft, Json, Kind, Payload, Raw, RunId, StepPath, Timestamp};
use serde::Deserialize;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A reason is cut to this many characters: it may quote what the line said.
const REASON_LENGTH: usize = 300;
/// So many things that a draft owes are told at once.
const BREACHES_TOLD: usize = 3;
/// A type that is no type of ours is cut to this many characters.
const NATIVE_TYPE_LENGTH: usize = 100;

/// Why a line is no draft.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// What a person should know, as a fragment.
    pub(super) reason: String,
    /// What the line calls itself, if it says.
    pub(super) native_type: Option<String>,
}

/// Reads one line, without its line feed.
///
/// Where the draft cannot say everything that the line said, the draft carries the line itself.
pub(super) fn parse(line: &[u8]) -> Result<Draft, Refusal> {
    let untyped =
        |reason: String| Refusal { reason: cut(&reason, REASON_LENGTH), native_type: None };
    let text = std::str::from_utf8(line)
        .map_err(|error| untyped(format!("not UTF-8 from byte {} on", error.valid_up_to() + 1)))?;
    let fields = Fields::of(text).map_err(|error| untyped(syntax_reason(&error)))?;
    let kind = fields.kind().map_err(untyped)?;
    fields.into_draft(kind.clone(), line).map_err(|reason| Refusal {
        reason: cut(&reason, REASON_LENGTH),
        native_type: Some(cut(kind.as_str(), NATIVE_TYPE_LENGTH)),
    })
}

/// Says in what a draft is not what the format asks of a writer. Readers make do with it.
pub(super) fn owed(draft: &Draft) -> Option<String> {
    let payload = Payload::decode(&draft.kind, &draft.payload).ok()?;
    let breaches = payload.breaches(&draft.payload);
    let told: Vec<_> = breaches.iter().take(BREACHES_TOLD).map(ToString::to_string).collect();
    let text = format!("{}: {}", draft.kind, told.join(", "));
    (!told.is_empty()).then(|| cut(&text, REASON_LENGTH))
}

/// The keys of a draft as they stand in the line.
#[derive(Default)]
struct Fields<'a> {
    kind: Option<&'a RawValue>,
    path: Option<&'a RawValue>,
    iteration: Option<&'a RawValue>,
    source: Option<&'a RawValue>,
    timestamp: Option<&'a RawValue>,
    child_run_id: Option<&'a RawValue>,
    payload: Option<&'a RawValue>,
    raw: Option<&'a RawValue>,
    raw_b64: Option<&'a RawValue>,
    /// How many keys there were that no draft has.
    others: usize,
}

impl<'a> Fields<'a> {
    fn of(text: &'a str) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let fields = deserializer.deserialize_map(FieldsVisitor)?;
        deserializer.end()?;
        Ok(fields)
    }

    fn slot(&mut self, key: &str) -> Option<&mut Option<&'a RawValue>> {
        Some(match key {
            "type" => &mut self.kind,
            "path" => &mut self.path,
            "iteration" => &mut self.iteration,
            "source" => &mut self.source,
            "timestamp" => &mut self.timestamp,
            "child_run_id" => &mut self.child_run_id,
            "payload" => &mut self.payload,
            "raw" => &mut self.raw,
            "raw_b64" => &mut self.raw_b64,
            _ => return None,
        })
    }

    fn kind(&self) -> Result<Kind, String> {
        let word = text_of(self.kind, "type")?.ok_or("there is no `type`")?;
        Ok(Kind::from(&*word))
    }

    fn into_draft(self, kind: Kind, line: &[u8]) -> Result<Draft, String> {
        if !kind.is_known() {
            let shown = cut(kind.as_str(), NATIVE_TYPE_LENGTH);
            return Err(format!("{shown:?} is not a type of event"));
        }
        let payload = payload_of(self.payload, &kind)?;
        let said_all = self.others == 0 && self.payload.is_none_or(|raw| is_same(raw, &payload));
        let mut draft = Draft::with_json(kind, payload);
        if let Some(path) = text_of(self.path, "path")? {
            draft.path = StepPath::from(&*path);
        }
        draft.iteration = whole_number_of(self.iteration, "iteration")?.unwrap_or(0);
        // The main agent is who did it when nobody is named.
        draft.source =
            text_of(self.source, "source")?.filter(|source| source != "main").map(Into::into);
        draft.timestamp = text_of(self.timestamp, "timestamp")?
            .map(|text| Timestamp::parse(&text).map_err(|error| format!("`timestamp`: {error}")))
            .transpose()?;
        draft.child_run_id = text_of(self.child_run_id, "child_run_id")?
            .map(|text| RunId::parse(&text).map_err(|error| format!("`child_run_id`: {error}")))
            .transpose()?;
        if said_all {
            draft.raw = raw_of(self.raw, self.raw_b64)?;
            return Ok(draft);
        }
        Ok(draft.with_raw(line))
    }
}

/// Returns the foreign bytes that the draft was made from.
fn raw_of(text: Option<&RawValue>, base64: Option<&RawValue>) -> Result<Option<Raw>, String> {
    if let Some(text) = text_of(text, "raw")? {
        return Ok(Some(Raw::of(text.as_bytes())));
    }
    let Some(base64) = base64.filter(|base64| base64.get() != "null") else { return Ok(None) };
    let raw = Json::parse(base64.get()).map(Raw::Base64).ok();
    let is_base64 = |raw: &Raw| raw.bytes().is_some();
    raw.filter(is_base64).map(Some).ok_or_else(|| "`raw_b64` is not base 64".to_owned())
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Fields::default();
        while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
            match fields.slot(&key) {
                // Readers that take the first and readers that take the last would disagree.
                Some(Some(_)) => {
                    let reason = format!("key {key:?} stands twice");
                    return Err(serde::de::Error::custom(reason));
                }
                Some(slot) => *slot = Some(map.next_value()?),
                None => {
                    fields.others += 1;
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields)
    }
}

/// A string that is borrowed from the line unless it holds an escape.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

fn text_of<'a>(raw: Option<&'a RawValue>, key: &str) -> Result<Option<Cow<'a, str>>, String> {
    let Some(raw) = raw else { return Ok(None) };
    let text: Option<Text<'a>> =
        serde_json::from_str(raw.get()).map_err(|error| match error.is_data() {
            true => format!("`{key}` is not a string"),
            // It is one that no text can be made of, such as half of a character.
            false => format!("`{key}`: {} of it", without_line(&error)),
        })?;
    Ok(text.map(|text| text.0))
}

fn whole_number_of(raw: Option<&RawValue>, key: &str) -> Result<Option<u64>, String> {
    let Some(raw) = raw else { return Ok(None) };
    serde_json::from_str(raw.get())
        .map_err(|_| format!("`{key}` is not a whole number from 0 to {}", u64::MAX))
}

fn payload_of(raw: Option<&RawValue>, kind: &Kind) -> Result<Json, String> {
    let Some(raw) = raw else { return Ok(Json::null()) };
    let payload = Json::parse(raw.get()).map_err(|error| format!("`payload`: {error}"))?;
    if !payload.is_object() && !payload.is_null() {
        return Err("`payload` is neither an object nor null".to_owned());
    }
    match Payload::decode(kind, &payload) {
        Ok(_) => Ok(payload),
        Err(error) => Err(format!("{error}: {}", without_line(&error.source))),
    }
}

/// Tells whether a payload is what the line said, white space aside.
fn is_same(raw: &RawValue, payload: &Json) -> bool {
    fn black(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(|byte| !byte.is_ascii_whitespace())
    }
    // Only an escape can have been changed, and most payloads have none.
    let raw = raw.get();
    !raw.contains("\\u") || black(raw).eq(black(payload.as_str()))
}

fn syntax_reason(error: &serde_json::Error) -> String {
    let what = without_line(error);
    if error.is_data() { what } else { format!("not JSON: {what}") }
}

/// The line is always the first, so only the column says where.
fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at byte ")
}

fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(line: impl AsRef<[u8]>) -> Refusal {
        parse(line.as_ref()).expect_err("the line is no draft")
    }

    #[test]
    fn a_line_becomes_the_draft_it_describes() {
        let line = r#"{"type":"tool.call","path":"a[2].b","iteration":2,"source":"subagent:7",
            "timestamp":"2026-06-08T12:14:42+02:00","child_run_id":"c1","payload":{"name" : "x"}}"#;
        let draft = parse(line.as_bytes()).unwrap();
        assert_eq!(draft.kind, Kind::ToolCall);
        assert_eq!((draft.path.as_str(), draft.iteration), ("a[2].b", 2));
        assert_eq!(draft.source.as_deref(), Some("subagent:7"));
        assert_eq!(draft.timestamp.unwrap().to_string(), "2026-06-08T10:14:42.000000Z");
        assert_eq!(draft.child_run_id.unwrap().as_str(), "c1");
        assert_eq!(draft.payload.as_str(), r#"{"name":"x"}"#);
        assert_eq!(draft.raw, None, "white space alone is not worth keeping the line for");
    }

    #[test]
    fn numbers_and_keys_of_a_payload_stay_as_they_are_spelled() {
        let payload =
            r#"{"subtype":"x","a":1e400,"b":-18446744073709551616,"c":-0,"d":1E+2,"d":3}"#;
        let kinds = ["system", "error", "config.loaded", "tool.call", "step.completed", "usage"];
        for kind in kinds {
            let line = format!(r#"{{"type":"{kind}","payload":{payload}}}"#);
            let draft = parse(line.as_bytes()).unwrap();
            assert_eq!((draft.payload.as_str(), draft.raw), (payload, None), "{kind}");
        }
    }

    #[test]
    fn what_a_line_leaves_out_or_calls_null_is_absent() {
        let spare = parse(br#"{"type":"system"}"#).unwrap();
        let nulls = br#"{"type":"system","path":null,"iteration":null,"source":"main",
            "timestamp":null,"child_run_id":null,"payload":null}"#;
        assert_eq!(parse(nulls).unwrap(), spare);
        assert_eq!(spare, Draft::with_json(Kind::System, Json::null()));
    }

    #[test]
    fn each_way_of_being_no_draft_has_its_own_reason() {
        let deep =
            format!(r#"{{"type":"system","payload":{}1{}}}"#, "[".repeat(500), "]".repeat(500));
        let cases: &[(&str, &str, Option<&str>)] = &[
            ("{", "not JSON: EOF while parsing an object at byte 1", None),
            ("hello", "not JSON: expected value at byte 1", None),
            (r#"{"type":"system"} x"#, "not JSON: trailing characters at byte 19", None),
            ("[1]", "invalid type: sequence, expected a JSON object at byte 0", None),
            ("{}", "there is no `type`", None),
            (r#"{"type":null}"#, "there is no `type`", None),
            (r#"{"type":3}"#, "`type` is not a string", None),
            (r#"{"type":"system","type":"usage"}"#, "key \"type\" stands twice at byte 23", None),
            (r#"{"type":"x.y"}"#, "\"x.y\" is not a type of event", Some("x.y")),
            (r#"{"type":"system","path":1}"#, "`path` is not a string", Some("system")),
            (
                r#"{"type":"system","path":"a\ud83d"}"#,
                "`path`: unexpected end of hex escape at byte 9 of it",
                Some("system"),
            ),
            (
                r#"{"type":"system","iteration":-1}"#,
                "`iteration` is not a whole number from 0 to 18446744073709551615",
                Some("system"),
            ),
            (
                r#"{"type":"system","timestamp":"noon"}"#,
                "`timestamp`: \"noon\" is not a time: expected RFC 3339, such as \
                 2026-06-08T10:14:42.123456Z",
                Some("system"),
            ),
            (
                r#"{"type":"system","payload":[1]}"#,
                "`payload` is neither an object nor null",
                Some("system"),
            ),
            (
                r#"{"type":"tool.call","payload":{"name":7}}"#,
                "payload does not have the shape of tool.call: invalid type: integer `7`, \
                 expected a string at byte 9",
                Some("tool.call"),
            ),
            (&deep, "`payload`: value nests deeper than 120 levels", Some("system")),
        ];
        for (line, reason, native_type) in cases {
            let refusal = refused(line);
            assert_eq!(refusal.reason, *reason, "{line}");
            assert_eq!(refusal.native_type.as_deref(), *native_type, "{line}");
        }
    }

    #[test]
    fn what_a_draft_owes_is_said() {
        let cases = [
            (r#"{"type":"step.started","payload":{"name":"a","kind":"agent"}}"#, None),
            (
                r#"{"type":"step.started","payload":{}}"#,
                Some("step.started: `name` is missing, `kind` is missing"),
            ),
            (r#"{"type":"system","payload":{}}"#, None),
        ];
        for (line, expected) in cases {
            let draft = parse(line.as_bytes()).unwrap();
            assert_eq!(owed(&draft).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_place() {
        assert_eq!(refused(b"{\"a\":\"\xff\"}").reason, "not UTF-8 from byte 7 on");
    }

    #[test]
    fn a_reason_never_quotes_a_whole_line() {
        let long = "x".repeat(100_000);
        let payload = refused(format!(r#"{{"type":"usage","payload":{{"scope":["{long}"]}}}}"#));
        let kind = refused(format!(r#"{{"type":"{long}"}}"#));
        for refusal in [payload, kind] {
            assert!(refusal.reason.len() < 400, "{} bytes", refusal.reason.len());
            assert!(refusal.native_type.unwrap().len() < 400);
        }
    }

    #[test]
    fn foreign_bytes_that_a_draft_was_made_from_come_with_it() {
        let text = br#"{"type":"system","raw":"{\"a\":1}"}"#;
        let base64 = br#"{"type":"system","raw":null,"raw_b64":"/wA="}"#;
        for (line, bytes) in [(text.as_slice(), b"{\"a\":1}".as_slice()), (base64, b"\xff\0")] {
            let raw = parse(line).unwrap().raw.and_then(|raw| raw.bytes());
            assert_eq!(raw.as_deref(), Some(bytes));
        }
        assert_eq!(
            refused(br#"{"type":"system","raw_b64":"?"}"#).reason,
            "`raw_b64` is not base 64"
        );
        assert_eq!(refused(br#"{"type":"system","raw":7}"#).reason, "`raw` is not a string");
    }

    #[test]
    fn a_line_that_says_more_than_its_draft_is_carried_by_it() {
        let more = br#"{"type":"system","mood":"fine"}"#;
        let half = br#"{"type":"system","payload":{"a":"\ud800"}}"#;
        for line in [more.as_slice(), half] {
            let raw = parse(line).unwrap().raw.and_then(|raw| raw.bytes());
            assert_eq!(raw.as_deref(), Some(line));
        }
        let whole = br#"{"type":"system","payload":{"a" : "\ud83d\ude00 b"}}"#;
        assert_eq!(parse(whole).unwrap().raw, None);
    }
}
