//! The fields of a JSON object in their order, each as it was written.
//!
//! Nothing is read further than it must be: numbers, strings and nested values keep their spelling.

use std::borrow::Cow;
use std::fmt;

use quipu_event::Json;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of an object, in their order.
pub struct Fields<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Returns the first value that stands under one key or the other.
    pub fn either(&self, one: &str, other: &str) -> Option<&'a str> {
        self.0.iter().find(|(key, _)| key == one || key == other).map(|(_, value)| value.get())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Text(key), value)) = map.next_entry()? {
                    fields.push((key, value));
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(InOrder).map(Fields)
    }
}

/// Returns a string's text, and the JSON itself of anything else.
pub fn text_of(json: &str) -> Cow<'_, str> {
    if !json.starts_with('"') {
        return Cow::Borrowed(json);
    }
    match serde_json::from_str::<Text<'_>>(json) {
        Ok(Text(text)) => text,
        // Half a surrogate pair: what cannot be text is shown as it was written.
        Err(_) => Json::from_valid(json).decode().map_or(Cow::Borrowed(json), Cow::Owned),
    }
}

/// A string that is copied only if it must be.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Cow<'de, str>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
        }
        deserializer.deserialize_str(Either).map(Text)
    }
}
