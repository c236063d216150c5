//! What a writer owes: keys and fields that may not be left out, and words from the format's lists.
//!
//! Readers make do without them, as [`crate::decode_line`] and [`Payload::decode`] do: what is not there
//! is empty, and a word that is not known is kept. Whoever writes a line or checks one asks here.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

use crate::canonical;
use crate::json::Json;
use crate::payload::{Payload, Status, ToolStatus};

/// The keys that stand on every line and that readers can do without.
const KEYS: [&str; 3] = ["path", "iteration", "payload"];

/// Something that the format asks of a writer and that is not so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// A field is not there, or is empty.
    #[error("`{field}` is missing")]
    Missing {
        /// Which.
        field: &'static str,
    },
    /// A block does not say who vouches for it.
    #[error("block {index} has no `fidelity`")]
    Unvouched {
        /// Which, from 0.
        index: usize,
    },
    /// A word is not on its list.
    #[error("`{field}` is {word:?}, which is not a word of the format")]
    Word {
        /// The field.
        field: &'static str,
        /// What it says.
        word: String,
    },
}

/// Returns the keys that a line, which is an event, leaves out and may not.
pub fn keys_left_out(line: &[u8]) -> Vec<&'static str> {
    if canonical::decode(line, &mut canonical::Before::default()).is_some() {
        return Vec::new();
    }
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    // A line that cannot be read to its end is no event.
    let found = deserializer.deserialize_map(KeysVisitor).unwrap_or([true; KEYS.len()]);
    KEYS.into_iter().zip(found).filter(|(_, found)| !found).map(|(key, _)| key).collect()
}

impl Payload {
    /// Returns in what it is not what the format asks of a writer. `json` is what it was decoded from.
    pub fn breaches(&self, json: &Json) -> Vec<Breach> {
        let mut owed = Owed::default();
        match self {
            Payload::RunStarted(run) => owed.text("name", &run.name),
            Payload::RunCreated(run) => owed.text("name", &run.name),
            Payload::RunCompleted(run) => {
                owed.text("name", &run.name);
                owed.status(run.status.as_ref());
            }
            Payload::StepStarted(step) => {
                owed.text("name", &step.name);
                owed.text("kind", &step.kind);
            }
            Payload::StepCompleted(step) => {
                owed.text("name", &step.name);
                owed.text("kind", &step.kind);
                owed.status(step.status.as_ref());
            }
            Payload::Message(_) => owed.fidelities(json),
            // An agent may say no more of a call than its id, and of an error nothing at all.
            Payload::ToolCall(call) => owed.text("call_id", &call.call_id),
            Payload::ToolResult(result) => {
                owed.text("call_id", &result.call_id);
                let unknown = |status: &&ToolStatus| !status.is_known();
                owed.word("status", result.status.as_ref().filter(unknown).map(ToolStatus::as_str));
            }
            Payload::Unknown(record) => owed.text("reason", &record.reason),
            Payload::File(access) => owed.text("file", &access.file),
            Payload::Usage(_)
            | Payload::System(_)
            | Payload::Error(_)
            | Payload::Deliverable(_)
            | Payload::Facts(_)
            | Payload::Absent => {}
        }
        owed.0
    }
}

/// What is found to be owed.
#[derive(Default)]
struct Owed(Vec<Breach>);

impl Owed {
    fn text(&mut self, field: &'static str, text: &str) {
        if text.is_empty() {
            self.0.push(Breach::Missing { field });
        }
    }

    fn status(&mut self, status: Option<&Status>) {
        self.word("status", status.filter(|status| !status.is_known()).map(Status::as_str));
    }

    fn word(&mut self, field: &'static str, unknown: Option<&str>) {
        self.0.extend(unknown.map(|word| Breach::Word { field, word: word.to_owned() }));
    }

    fn fidelities(&mut self, json: &Json) {
        #[derive(Deserialize)]
        struct Blocks {
            #[serde(default)]
            blocks: Option<Vec<Block>>,
        }
        #[derive(Deserialize)]
        struct Block {
            fidelity: Option<IgnoredAny>,
        }
        let blocks = json.decode().ok().and_then(|message: Blocks| message.blocks);
        let unvouched = blocks.into_iter().flatten().enumerate();
        let unvouched = unvouched.filter(|(_, block)| block.fidelity.is_none());
        self.0.extend(unvouched.map(|(index, _)| Breach::Unvouched { index }));
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = [bool; KEYS.len()];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [false; KEYS.len()];
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<IgnoredAny>()?;
            if let Some(at) = KEYS.iter().position(|known| *known == key) {
                found[at] = true;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn a_payload_that_owes_something_is_decoded_and_told_of() {
        let cases: [(Kind, &str, &[&str]); 9] = [
            (Kind::StepStarted, "null", &[]),
            (Kind::StepStarted, r#"{"name":"a","kind":"agent"}"#, &[]),
            (Kind::StepStarted, "{}", &["`name` is missing", "`kind` is missing"]),
            (
                Kind::RunCompleted,
                r#"{"name":"x","status":"bogus"}"#,
                &["`status` is \"bogus\", which is not a word of the format"],
            ),
            (Kind::RunCompleted, r#"{"name":"x"}"#, &[]),
            (Kind::ToolCall, r#"{"name":"Read"}"#, &["`call_id` is missing"]),
            (
                Kind::MessageUser,
                r#"{"blocks":[{"type":"text","fidelity":"router"},{"type":"text"}]}"#,
                &["block 1 has no `fidelity`"],
            ),
            (Kind::MessageUser, r#"[{"type":"text"}]"#, &[]),
            (Kind::System, "{}", &[]),
        ];
        for (kind, text, expected) in cases {
            let json = Json::parse(text).unwrap();
            let payload = Payload::decode(&kind, &json).unwrap();
            let told: Vec<_> = payload.breaches(&json).iter().map(ToString::to_string).collect();
            assert_eq!(told, expected, "{kind} {text}");
        }
    }

    #[test]
    fn a_line_that_leaves_out_a_key_is_told_of() {
        let head = r#"{"seq":1,"run_id":"r","type":"system""#;
        let cases: [(&str, &[&str]); 4] = [
            (r#","path":"","iteration":0,"timestamp":"2026-01-01T00:00:00Z","payload":null}"#, &[]),
            (r#","timestamp":"2026-01-01T00:00:00Z"}"#, &KEYS),
            (
                r#","timestamp":"2026-01-01T00:00:00Z","payload":{"path":"a"},"iteration":0}"#,
                &["path"],
            ),
            (r#","payload":7,"iteration":0,"path":"", "timestamp":"2026-01-01T00:00:00Z"}"#, &[]),
        ];
        for (rest, expected) in cases {
            assert_eq!(keys_left_out(format!("{head}{rest}\n").as_bytes()), expected, "{rest}");
        }
    }
}
