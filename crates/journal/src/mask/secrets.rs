//! The built-in mask: well-known secret shapes, and values of chosen environment variables.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quipu_event::{Draft, Json, Raw, rewrite_scalars};

use super::Mask;
use super::nested::{self, Nested};
use super::scalars::Walk;
use super::text::TextMask;

/// So many levels of JSON within texts of JSON are looked into; deeper ones are mere text.
const LEVELS: usize = 4;

/// Hides well-known secrets: cloud and API keys, tokens, private key blocks, `password=` pairs,
/// what stands under keys such as `"password"`, and values it was given.
///
/// What it hides becomes `[masked:<what it was>]`, in the payload, the raw record and the source.
/// JSON is looked at string by string, also where it is the text of a string: escapes hide nothing.
/// The path stays as it is: it pairs starts with ends, and two secrets of one sort would become
/// one path. It sees text: a secret that is split over two strings, compressed or encoded passes
/// it.
pub struct SecretMask {
    texts: TextMask,
}

impl SecretMask {
    /// Makes a mask for the well-known shapes.
    pub fn new() -> Self {
        SecretMask { texts: TextMask::new() }
    }

    /// Also hides `value` wherever it stands, under the mark `[masked:<name>]`.
    ///
    /// Values of fewer than four bytes are not taken: they would hide half of every text.
    pub fn with_value(mut self, name: &str, value: &str) -> Self {
        self.texts.add_value(name, value);
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
        let mut hidden = 0;
        let masked = self.mask_nested(text, LEVELS, &mut hidden)?;
        Some((masked, hidden))
    }

    /// Returns `json` without the secrets in it and how many there were; nothing when there were
    /// none.
    pub fn mask_value(&self, json: &Json) -> Option<(Json, u64)> {
        self.mask_json(None, json)
    }

    /// As [`mask_value`](Self::mask_value), for the value of `key` in an object.
    pub fn mask_member(&self, key: &str, value: &Json) -> Option<(Json, u64)> {
        self.mask_json(Some(key), value)
    }

    fn mask_json(&self, key: Option<&str>, json: &Json) -> Option<(Json, u64)> {
        let mut walk = Walk::new(self, key, LEVELS);
        let masked = json.rewrite_scalars(|place, scalar| walk.replace(place, scalar))?;
        Some((masked, walk.hidden))
    }

    /// Returns `text` without its secrets, those in JSON that it holds included.
    pub(super) fn mask_nested(
        &self,
        text: &str,
        levels: usize,
        hidden: &mut u64,
    ) -> Option<String> {
        if self.texts.is_harmless(text) {
            return None;
        }
        let Some(inner) = levels.checked_sub(1) else { return self.texts.hide(text, hidden) };
        let mut mask_part = |part: &str| {
            let mut walk = Walk::new(self, None, inner);
            let masked = rewrite_scalars(part, |place, scalar| walk.replace(place, scalar));
            *hidden += walk.hidden;
            masked
        };
        let parts = match nested::find(text) {
            Nested::All => return mask_part(text),
            Nested::Parts(parts) => parts,
        };
        let (mut masked, mut kept) = (String::new(), 0);
        for part in parts {
            if let Some(replaced) = mask_part(&text[part.clone()]) {
                masked.push_str(&text[kept..part.start]);
                masked.push_str(&replaced);
                kept = part.end;
            }
        }
        if kept == 0 {
            return self.texts.hide(text, hidden);
        }
        masked.push_str(&text[kept..]);
        // What stands around JSON may say more of it than it says itself.
        Some(self.texts.hide(&masked, hidden).unwrap_or(masked))
    }

    fn mask_raw(&self, raw: &Raw, hidden: &mut u64) -> Option<Raw> {
        let bytes = raw.bytes()?;
        if raw.is_text() {
            let masked = self.mask_nested(std::str::from_utf8(&bytes).ok()?, LEVELS, hidden)?;
            return Some(Raw::of(masked.as_bytes()));
        }
        // Bytes that are no text are looked at one character a byte: secrets are ASCII.
        let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
        let masked = self.texts.hide(&text, hidden)?;
        let bytes: Vec<u8> =
            masked.chars().filter_map(|c| u8::try_from(u32::from(c)).ok()).collect();
        Some(Raw::Base64(Json::encode(&STANDARD.encode(bytes)).unwrap_or_default()))
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
        if !self.texts.is_harmless(draft.payload.as_str())
            && let Some((masked, count)) = self.mask_value(&draft.payload)
        {
            draft.payload = masked;
            hidden += count;
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
