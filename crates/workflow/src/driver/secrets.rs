//! What must not be shown: which names stand for secrets, and their values wherever they turn up.
//!
//! A value is found as it is. One that was split, encoded or cut in pieces passes.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use quipu_event::{Draft, Json, Raw};
use quipu_journal::{Mask, SecretMask};
use serde_json::Map;

use crate::language::Value;

/// What stands where a secret was.
pub const MASKED: &str = "***";

/// Values shorter than this would hide half of every text they occur in by chance.
const SHORTEST_VALUE: usize = 4;

/// The same for numbers, which occur by chance more often.
const SHORTEST_NUMBER: usize = 6;

/// Words that make a name the name of a secret.
const WORDS: &[&str] = &[
    "secret",
    "secrets",
    "password",
    "passwd",
    "passphrase",
    "token",
    "apikey",
    "credential",
    "credentials",
];

/// Pairs of words that do.
const PAIRS: &[(&str, &str)] = &[("api", "key"), ("private", "key"), ("access", "key")];

/// Beginnings that do, whatever follows them.
const BEGINNINGS: &[&str] = &["secret_", "api_key", "password", "token"];

/// Returns whether a name stands for a secret: `API_KEY`, `databasePassword`, `deploy-token`.
pub fn is_secret_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    if BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning)) {
        return true;
    }
    let words = words(name);
    words.iter().any(|word| WORDS.contains(&word.as_str()))
        || words.windows(2).any(|pair| PAIRS.contains(&(pair[0].as_str(), pair[1].as_str())))
}

/// Returns `inputs` with `***` for each value whose name stands for a secret, at any depth.
pub fn mask_named(inputs: &Map<String, Value>) -> Map<String, Value> {
    let masked = inputs.iter().map(|(name, value)| {
        let value = if is_secret_name(name) { hidden(value) } else { mask_within(value) };
        (name.clone(), value)
    });
    masked.collect()
}

/// The secrets of a run and everything it calls: what one run of them knows, none of them tells.
#[derive(Default)]
pub struct Secrets {
    /// The longest first: a value that contains another must go first, or its rest would stay behind.
    values: RwLock<Vec<String>>,
    shapes: Option<SecretMask>,
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
        let mut found = Vec::new();
        collect(inputs, false, &mut found);
        for (name, value) in env {
            if is_secret_name(name) {
                note(value, SHORTEST_VALUE, &mut found);
            }
        }
        if found.is_empty() {
            return;
        }
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        found.retain(|value| !values.contains(value));
        values.append(&mut found);
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
    }

    /// Returns `text` without secrets.
    pub fn mask_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        if let Some((without, _)) = self.replace(text) {
            masked = Cow::Owned(without);
        }
        match self.shapes.as_ref().and_then(|shapes| shapes.mask_text(&masked)) {
            Some((without, _)) => Cow::Owned(without),
            None => masked,
        }
    }

    /// Returns `named` without secrets: neither values whose names say so, nor those that stand
    /// under another name.
    pub fn mask_named(&self, named: &Map<String, Value>) -> Map<String, Value> {
        let masked = mask_named(named).into_iter();
        masked.map(|(name, value)| (name, self.mask_value(value))).collect()
    }

    fn mask_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::from(self.mask_text(&text).into_owned()),
            Value::Number(number) => match self.replace(&number.to_string()) {
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

    pub(super) fn has_values(&self) -> bool {
        !self.values.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn replace(&self, text: &str) -> Option<(String, u64)> {
        let mut masked: Option<String> = None;
        let mut count = 0;
        let values = self.values.read().unwrap_or_else(PoisonError::into_inner);
        for value in values.iter() {
            let now = masked.as_deref().unwrap_or(text);
            let found = now.matches(value.as_str()).count();
            if found > 0 {
                count += found as u64;
                masked = Some(now.replace(value.as_str(), MASKED));
            }
        }
        masked.map(|masked| (masked, count))
    }

    fn mask_json(&self, json: &Json, count: &mut u64) -> Option<Json> {
        json.rewrite_strings(|_, text| {
            let (masked, found) = self.replace(text)?;
            *count += found;
            Some(masked)
        })
    }

    fn mask_raw(&self, raw: &Raw, count: &mut u64) -> Option<Raw> {
        let bytes = raw.bytes()?;
        // Bytes that are no text are looked at one character a byte, and put back the same way.
        let is_text = raw.is_text();
        let text = match is_text {
            true => String::from_utf8(bytes).ok()?,
            false => bytes.iter().map(|byte| char::from(*byte)).collect(),
        };
        let (masked, found) = self.replace(&text)?;
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
        if self.has_values() {
            if let Some(payload) = self.mask_json(&draft.payload, &mut count) {
                draft.payload = payload;
            }
            if let Some(raw) = draft.raw.as_ref().and_then(|raw| self.mask_raw(raw, &mut count)) {
                draft.raw = Some(raw);
            }
        }
        match &self.shapes {
            Some(shapes) => {
                let (draft, more) = shapes.mask(draft);
                (draft, count + more)
            }
            None => (draft, count),
        }
    }
}

/// Splits a name where people do: at separators, and where a capital begins a word.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = i.checked_sub(1).map(|i| letters[i]);
        let after_small = before.is_some_and(|c| c.is_lowercase() || c.is_numeric());
        let ends_capitals = before.is_some_and(char::is_uppercase)
            && letters.get(i + 1).is_some_and(|c| c.is_lowercase());
        if letter.is_uppercase() && (after_small || ends_capitals) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn hidden(value: &Value) -> Value {
    match value {
        // Nothing is no secret, and a reader may want to know that nothing was given.
        Value::Null => Value::Null,
        Value::String(text) if text.is_empty() => value.clone(),
        _ => Value::from(MASKED),
    }
}

fn mask_within(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(mask_named(map)),
        Value::Array(items) => items.iter().map(mask_within).collect(),
        other => other.clone(),
    }
}

fn collect(map: &Map<String, Value>, secret: bool, values: &mut Vec<String>) {
    for (name, value) in map {
        collect_value(value, secret || is_secret_name(name), values);
    }
}

fn collect_value(value: &Value, secret: bool, values: &mut Vec<String>) {
    match value {
        Value::Object(map) => collect(map, secret, values),
        Value::Array(items) => items.iter().for_each(|item| collect_value(item, secret, values)),
        Value::String(text) if secret => note(text, SHORTEST_VALUE, values),
        Value::Number(number) if secret => note(&number.to_string(), SHORTEST_NUMBER, values),
        _ => {}
    }
}

/// Keeps a value, and the way it looks inside JSON text, as agents' records are.
fn note(value: &str, shortest: usize, values: &mut Vec<String>) {
    if value.len() < shortest {
        return;
    }
    values.push(value.to_owned());
    let literal = Value::from(value).to_string();
    let inside = &literal[1..literal.len() - 1];
    if inside != value {
        values.push(inside.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_every_spelling() {
        let secret = [
            "SECRET_X",
            "api_key",
            "API_KEY_2",
            "PASSWORD",
            "passwords",
            "Token",
            "token_file",
            "database_password",
            "databasePassword",
            "APIKey",
            "apiKey",
            "myAPIKey",
            "api-key",
            "deploy.token",
            "secret_token",
            "client_secret",
            "aws_secret_access_key",
            "accessKey",
            "private_key",
            "privateKeyPem",
            "credentials",
            "gcpCredential",
            "DB_PASSWD",
            "githubToken",
        ];
        let plain = [
            "name",
            "max_tokens",
            "maxTokens",
            "key",
            "api",
            "secretary",
            "monkey",
            "keyboard",
            "description",
            "compass",
            "author",
            "",
        ];
        for name in secret {
            assert!(is_secret_name(name), "{name}");
        }
        for name in plain {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn secrets_among_inputs_are_masked_at_any_depth() {
        let inputs = json!({"env": "staging", "api_key": "k", "n": {"password": 7, "x": [{"token": ["a"]}]}, "token": ""});
        let masked = mask_named(inputs.as_object().unwrap());
        assert_eq!(
            Value::Object(masked),
            json!({"env": "staging", "api_key": "***", "n": {"password": "***", "x": [{"token": "***"}]}, "token": ""})
        );
    }

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
            r#"{"subtype":"note","***-key":["a***b"],"text":"*** abc *** visible /root"}"#
        );
        assert_eq!(draft.raw.unwrap().bytes().unwrap(), br#"{"a":"***"}"#);
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
            json!({"k": "a ***", "n": ["***", 7, {"deep": "***", "password": "***"}]})
        );
    }

    #[test]
    fn bytes_that_are_no_text_keep_all_but_the_secret() {
        let inputs = json!({"token": "abcd"});
        let secrets = Secrets::default();
        secrets.learn(inputs.as_object().unwrap(), []);
        let draft = Draft::system("output", json!({})).unwrap().with_raw(b"\xff\xfeabcd\x80");
        let (draft, _) = secrets.mask(draft);
        assert_eq!(draft.raw.unwrap().bytes().unwrap(), b"\xff\xfe***\x80");
    }
}
