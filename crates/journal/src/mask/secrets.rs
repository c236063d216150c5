//! The built-in mask: well-known secret shapes, and values of chosen environment variables.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quipu_event::{Draft, Json, Place, Raw};
use regex::{Captures, Regex};

use super::patterns::{QUOTED, SECRET_KEY, SHAPES, TELLTALE};
use super::quoted;
use super::{Mask, harmless};

/// Values shorter than this would hide half of every text they occur in by chance.
const SHORTEST_VALUE: usize = 4;

/// Hides well-known secrets: cloud and API keys, tokens, private key blocks, `password=` pairs,
/// strings under keys such as `"password"`, and values it was given.
///
/// What it hides becomes `[masked:<what it was>]`, in the payload, the raw record and the source.
/// The path stays as it is: it pairs starts with ends, and two secrets of one sort would become
/// one path. It sees text: a secret that is split over two strings, compressed or encoded passes
/// it.
pub struct SecretMask {
    shapes: Vec<(&'static str, Regex)>,
    quoted: Regex,
    secret_key: Regex,
    telltale: Regex,
    values: Vec<(String, String)>,
}

impl SecretMask {
    /// Makes a mask for the well-known shapes.
    pub fn new() -> Self {
        let compile = |pattern: &str| {
            Regex::new(pattern).expect("the catalogue's patterns compile; a test compiles them all")
        };
        SecretMask {
            shapes: SHAPES.iter().map(|shape| (shape.name, compile(shape.pattern))).collect(),
            quoted: compile(QUOTED),
            secret_key: compile(SECRET_KEY),
            telltale: compile(TELLTALE),
            values: Vec::new(),
        }
    }

    /// Also hides `value` wherever it stands, under the mark `[masked:<name>]`.
    ///
    /// Values of fewer than four bytes are not taken: they would hide half of every text.
    pub fn with_value(mut self, name: &str, value: &str) -> Self {
        if value.len() >= SHORTEST_VALUE {
            self.values.push((name.to_owned(), value.to_owned()));
            // A value that contains another must go first, or its rest would stay behind.
            self.values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        }
        self
    }

    /// Also hides the values that these environment variables have now.
    pub fn with_env<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        names.into_iter().fold(self, |mask, name| match std::env::var(name) {
            Ok(value) => mask.with_value(&format!("env:{name}"), &value),
            Err(_) => mask,
        })
    }

    /// Returns `text` without its secrets and how many there were; nothing when there were none.
    pub fn mask_text(&self, text: &str) -> Option<(String, u64)> {
        let mut masked: Option<String> = None;
        let mut hidden = 0;
        for (name, value) in &self.values {
            let now = masked.as_deref().unwrap_or(text);
            let found = now.matches(value.as_str()).count() as u64;
            if found > 0 {
                hidden += found;
                masked = Some(now.replace(value.as_str(), &mark(name)));
            }
        }
        if self.telltale.is_match(masked.as_deref().unwrap_or(text)) {
            for (name, shape) in &self.shapes {
                let now = masked.as_deref().unwrap_or(text);
                let replaced = shape
                    .replace_all(now, |found: &Captures<'_>| replacement(name, found, &mut hidden));
                if let std::borrow::Cow::Owned(replaced) = replaced {
                    masked = Some(replaced);
                }
            }
            let now = masked.as_deref().unwrap_or(text);
            if let Some((replaced, count)) = quoted::hide(now, &self.quoted, &mark("password")) {
                masked = Some(replaced);
                hidden += count;
            }
        }
        masked.filter(|_| hidden > 0).map(|masked| (masked, hidden))
    }

    /// Returns `json` without the secrets in its strings and how many there were; nothing when
    /// there were none.
    pub fn mask_value(&self, json: &Json) -> Option<(Json, u64)> {
        let mut hidden = 0;
        let masked = self.mask_json(json, &mut hidden)?;
        Some((masked, hidden))
    }

    /// As [`mask_value`](Self::mask_value), for the value of `key` in an object.
    pub fn mask_member(&self, key: &str, value: &Json) -> Option<(Json, u64)> {
        let is_text = value.as_str().starts_with('"') && value.as_str() != "\"\"";
        if is_text && self.secret_key.is_match(key) {
            return Some((Json::encode(&mark("password")).ok()?, 1));
        }
        self.mask_value(value)
    }

    fn mask_json(&self, json: &Json, hidden: &mut u64) -> Option<Json> {
        json.rewrite_strings(|place, text| {
            if let Place::Below([.., key]) = place
                && !text.is_empty()
                && self.secret_key.is_match(key)
                && !harmless::is_placeholder(text)
            {
                *hidden += 1;
                return Some(mark("password"));
            }
            let (masked, count) = self.mask_text(text)?;
            *hidden += count;
            Some(masked)
        })
    }

    /// Tells, without taking it apart, that JSON text holds nothing to hide.
    fn is_harmless(&self, json: &Json) -> bool {
        let text = json.as_str();
        self.values.is_empty() && !text.contains("\\u") && !self.telltale.is_match(text)
    }

    fn mask_raw(&self, raw: &Raw, hidden: &mut u64) -> Option<Raw> {
        let bytes = raw.bytes()?;
        // Bytes that are no text are looked at one character a byte: secrets are ASCII.
        let is_text = raw.is_text();
        let text = match is_text {
            true => String::from_utf8(bytes).ok()?,
            false => bytes.iter().map(|&byte| char::from(byte)).collect(),
        };
        let (masked, count) = self.mask_text(&text)?;
        *hidden += count;
        Some(match is_text {
            true => Raw::of(masked.as_bytes()),
            false => {
                let bytes: Vec<u8> =
                    masked.chars().filter_map(|c| u8::try_from(u32::from(c)).ok()).collect();
                Raw::Base64(Json::encode(&STANDARD.encode(bytes)).unwrap_or_default())
            }
        })
    }
}

impl Default for SecretMask {
    fn default() -> Self {
        Self::new()
    }
}

impl Mask for SecretMask {
    fn mask(&self, mut draft: Draft) -> (Draft, u64) {
        let mut hidden = 0;
        if !self.is_harmless(&draft.payload)
            && let Some(masked) = self.mask_json(&draft.payload, &mut hidden)
        {
            draft.payload = masked;
        }
        if let Some(raw) = &draft.raw
            && let Some(masked) = self.mask_raw(raw, &mut hidden)
        {
            draft.raw = Some(masked);
        }
        if let Some(source) = &draft.source
            && let Some((masked, count)) = self.mask_text(source)
        {
            hidden += count;
            draft.source = Some(masked.into());
        }
        (draft, hidden)
    }
}

fn mark(name: &str) -> String {
    format!("[masked:{name}]")
}

/// Returns what stands in place of a match: its secret part replaced, the rest as it was.
fn replacement(name: &str, found: &Captures<'_>, hidden: &mut u64) -> String {
    let whole = found.get(0).map_or("", |whole| whole.as_str());
    let secret = found.name("secret").map_or(whole, |secret| secret.as_str());
    let is_harmless = match name {
        "password" => harmless::is_placeholder(secret) || harmless::is_code(secret),
        // A name of words may begin as a key does.
        "openai-key" => !secret.bytes().any(|byte| byte.is_ascii_digit()),
        _ => false,
    };
    if is_harmless || secret.starts_with("[masked:") {
        return whole.to_owned();
    }
    *hidden += 1;
    let start = found
        .name("secret")
        .map_or(0, |secret| secret.start() - found.get(0).map_or(0, |whole| whole.start()));
    format!("{}{}{}", &whole[..start], mark(name), &whole[start + secret.len()..])
}
