//! What must not be shown: the values of secrets, wherever they turn up, and how a run that goes on
//! gets them back.
//!
//! A value is found as it is. One that was split, encoded or cut in pieces passes.

mod mark;
mod names;
mod shapes;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use quipu_event::{Draft, Json, Raw, RunId};
use quipu_journal::{Mask, SecretMask};
use serde_json::Map;

use crate::language::Value;
use mark::{Literals, NAMELESS, OPENING, Secret, mark, unmark};
pub use names::{is_secret_name, mask_named};

/// What stands for the value of a secret input.
pub const MASKED: &str = "***";

/// Values shorter than this would hide half of every text they occur in by chance.
const SHORTEST_VALUE: usize = 4;

/// The same for numbers, which occur by chance more often.
const SHORTEST_NUMBER: usize = 6;

/// Tells whether secrets are missing in a value that stood in a transcript.
pub fn is_masked(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            text == MASKED || text.contains(OPENING) || text.contains(shapes::OPENING)
        }
        Value::Array(list) => list.iter().any(is_masked),
        Value::Object(object) => object.values().any(is_masked),
        _ => false,
    }
}

/// The secrets of a run and everything it calls: what one run of them knows, none of them tells.
#[derive(Default)]
pub struct Secrets {
    known: RwLock<Known>,
    shapes: Option<SecretMask>,
}

#[derive(Default)]
struct Known {
    /// What is hidden, and by which name. Each value is there once.
    secrets: Vec<Secret>,
    /// What each name stands for: two names may stand for the same value.
    by_name: BTreeMap<String, String>,
}

impl Secrets {
    /// Makes a set that also hides what looks like a well-known secret.
    pub fn with_shapes() -> Secrets {
        Secrets { shapes: Some(SecretMask::new()), ..Secrets::default() }
    }

    /// Takes note of the secrets among a run's inputs and among variables of its environment.
    pub fn learn<'a>(
        &self,
        inputs: &Map<String, Value>,
        env: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        self.learn_for(None, inputs, env);
    }

    /// Takes note of the secrets of a run that another called. Its names are told apart from those of
    /// other runs: two that have the same input may have been given two secrets.
    pub fn learn_for<'a>(
        &self,
        called: Option<&RunId>,
        inputs: &Map<String, Value>,
        env: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        let scope = called.map(|run| format!("{run}/")).unwrap_or_default();
        let mut found = Vec::new();
        collect(&scope, inputs, false, &mut found);
        for (name, value) in env {
            if is_secret_name(name) {
                note(mark::name(&["env:", name]), value, SHORTEST_VALUE, &mut found);
            }
        }
        if found.is_empty() {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        found.into_iter().for_each(|secret| known.add(secret));
    }

    /// Returns `text` without secrets.
    pub fn mask_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        if let Some((without, _)) = self.replace(text, Literals::Escaped) {
            masked = Cow::Owned(without);
        }
        match &self.shapes {
            Some(shapes) => match shapes::mask_text(shapes, &masked) {
                Some(without) => Cow::Owned(without),
                None => masked,
            },
            None => masked,
        }
    }

    /// Returns `named` without secrets: neither values whose names say so, nor those that stand
    /// under another name.
    pub fn mask_named(&self, named: &Map<String, Value>) -> Map<String, Value> {
        let masked = mask_named(named).into_iter();
        masked.map(|(name, value)| (name, self.mask_value(value))).collect()
    }

    /// Puts secrets back into what a transcript says. What nobody knows any more stays masked.
    pub fn restore_named(&self, named: Map<String, Value>) -> Map<String, Value> {
        let restored = Json::encode(&named).ok().and_then(|json| self.restore(&json).0);
        restored.and_then(|json| json.decode().ok()).unwrap_or(named)
    }

    /// Puts secrets back into the texts of a transcript, if there are any, and tells whether some of
    /// them are not known any more.
    pub(super) fn restore(&self, json: &Json) -> (Option<Json>, bool) {
        let mut lost = json.as_str().contains(shapes::OPENING);
        if !json.as_str().contains(OPENING) {
            return (None, lost);
        }
        let known = self.known();
        let restored = json.rewrite_strings(|_, text| {
            let unmarked = unmark(text, |name| known.by_name.get(name).map(String::as_str))?;
            lost |= unmarked.lost;
            Some(unmarked.text)
        });
        (restored, lost)
    }

    /// Puts secrets back into a text, and tells whether some of them are not known any more.
    pub(super) fn restore_text(&self, text: String) -> (String, bool) {
        let known = self.known();
        let lost = text.contains(shapes::OPENING);
        match unmark(&text, |name| known.by_name.get(name).map(String::as_str)) {
            Some(unmarked) => (unmarked.text, lost | unmarked.lost),
            None => (text, lost),
        }
    }

    fn mask_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::from(self.mask_text(&text).into_owned()),
            Value::Number(number) => match self.replace(&number.to_string(), Literals::Kept) {
                Some((masked, _)) => Value::from(masked),
                None => Value::Number(number),
            },
            Value::Array(items) => items.into_iter().map(|item| self.mask_value(item)).collect(),
            Value::Object(map) => {
                let masked = map.into_iter().map(|(name, value)| (name, self.mask_value(value)));
                Value::Object(masked.collect())
            }
            other => other,
        }
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn replace(&self, text: &str, literals: Literals) -> Option<(String, u64)> {
        mark(text, &self.known().secrets, literals)
    }

    fn mask_json(&self, json: &Json, count: &mut u64) -> Option<Json> {
        let known = self.known();
        // Without a secret there is nothing to look for but what only looks like a mark.
        if known.secrets.is_empty() && !json.as_str().contains(OPENING) {
            return None;
        }
        json.rewrite_strings(|_, text| {
            let (masked, found) = mark(text, &known.secrets, Literals::Escaped)?;
            *count += found;
            Some(masked)
        })
    }

    fn mask_raw(&self, raw: &Raw, count: &mut u64) -> Option<Raw> {
        if self.known().secrets.is_empty() {
            return None;
        }
        let bytes = raw.bytes()?;
        // Bytes that are no text are looked at one character a byte, and put back the same way.
        let is_text = raw.is_text();
        let text = match is_text {
            true => String::from_utf8(bytes).ok()?,
            false => bytes.iter().map(|byte| char::from(*byte)).collect(),
        };
        let (masked, found) = self.replace(&text, Literals::Kept)?;
        *count += found;
        Some(match is_text {
            true => Raw::of(masked.as_bytes()),
            false => {
                Raw::of(&masked.chars().filter_map(|c| u8::try_from(c).ok()).collect::<Vec<_>>())
            }
        })
    }
}

impl Mask for Secrets {
    fn mask(&self, mut draft: Draft) -> (Draft, u64) {
        let mut count = 0;
        if let Some(payload) = self.mask_json(&draft.payload, &mut count) {
            draft.payload = payload;
        }
        if let Some(raw) = draft.raw.as_ref().and_then(|raw| self.mask_raw(raw, &mut count)) {
            draft.raw = Some(raw);
        }
        match &self.shapes {
            Some(shapes) => {
                let (draft, more) = shapes::mask(shapes, draft);
                (draft, count + more)
            }
            None => (draft, count),
        }
    }
}

impl Known {
    fn add(&mut self, secret: Secret) {
        let taken = self.by_name.get(&secret.name).is_some_and(|value| *value != secret.value);
        if !taken {
            self.by_name.insert(secret.name.clone(), secret.value.clone());
        }
        if self.secrets.iter().all(|known| known.value != secret.value) {
            // Of two secrets by one name nobody could tell later which was meant.
            let name = if taken { NAMELESS.to_owned() } else { secret.name };
            self.secrets.push(Secret { name, ..secret });
        }
    }
}

fn collect(scope: &str, map: &Map<String, Value>, secret: bool, found: &mut Vec<Secret>) {
    for (name, value) in map {
        collect_value(mark::name(&[scope, name]), value, secret || is_secret_name(name), found);
    }
}

fn collect_value(name: String, value: &Value, secret: bool, found: &mut Vec<Secret>) {
    match value {
        Value::Object(map) => collect(&format!("{name}."), map, secret, found),
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                collect_value(format!("{name}.{i}"), item, secret, found);
            }
        }
        Value::String(text) if secret => note(name, text, SHORTEST_VALUE, found),
        Value::Number(number) if secret => note(name, &number.to_string(), SHORTEST_NUMBER, found),
        _ => {}
    }
}

/// Keeps a value, and the ways it looks elsewhere: inside JSON text, as agents' records are, and
/// without the line feed that a file ends with.
fn note(name: String, value: &str, shortest: usize, found: &mut Vec<Secret>) {
    let trimmed = value.trim();
    if trimmed.len() < shortest {
        return;
    }
    let inside = |value: &str| {
        let literal = Value::from(value).to_string();
        literal[1..literal.len() - 1].to_owned()
    };
    let ways = [
        ("", value.to_owned()),
        (":json", inside(value)),
        (":trimmed", trimmed.to_owned()),
        (":trimmed:json", inside(trimmed)),
    ];
    for (i, (way, text)) in ways.iter().enumerate() {
        if ways[..i].iter().all(|(_, before)| before != text) {
            found.push(Secret { name: format!("{name}{way}"), value: text.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_secrets_are_masked_wherever_they_stand() {
        let inputs = json!({"password": "hunter\"2", "token": "abc", "pin_token": 123456, "plain": "visible"});
        let secrets = Secrets::default();
        secrets.learn(inputs.as_object().unwrap(), [("MY_SECRET", "s3cr3t"), ("HOME", "/root")]);
        let facts =
            json!({"text": "hunter\"2 abc 123456 visible /root", "s3cr3t-key": ["as3cr3tb"]});
        let raw = br#"{"a":"hunter\"2"}"#;
        let draft = Draft::system("note", facts).unwrap().with_raw(raw);
        let (draft, count) = secrets.mask(draft);
        assert_eq!(
            draft.payload.as_str(),
            r#"{"subtype":"note","***secret:env:MY_SECRET***-key":["a***secret:env:MY_SECRET***b"],"text":"***secret:password*** abc ***secret:pin_token*** visible /root"}"#
        );
        assert_eq!(draft.raw.unwrap().bytes().unwrap(), br#"{"a":"***secret:password:json***"}"#);
        assert_eq!(count, 5);
    }

    #[test]
    fn a_secret_is_masked_under_whatever_name_it_stands() {
        let secrets = Secrets::default();
        let known = json!({"token": "hunter2", "pin_token": 123_456});
        secrets.learn(known.as_object().unwrap(), []);
        let inputs =
            json!({"k": "a hunter2", "n": [123_456, 7, {"deep": "hunter2", "password": "x"}]});
        assert_eq!(
            Value::Object(secrets.mask_named(inputs.as_object().unwrap())),
            json!({"k": "a ***secret:token***", "n": ["***secret:pin_token***", 7, {"deep": "***secret:token***", "password": "***"}]})
        );
    }

    #[test]
    fn bytes_that_are_no_text_keep_all_but_the_secret() {
        let inputs = json!({"token": "abcd"});
        let secrets = Secrets::default();
        secrets.learn(inputs.as_object().unwrap(), []);
        let draft = Draft::system("output", json!({})).unwrap().with_raw(b"\xff\xfeabcd\x80");
        let (draft, _) = secrets.mask(draft);
        assert_eq!(draft.raw.unwrap().bytes().unwrap(), b"\xff\xfe***secret:token***\x80");
    }
}
