//! The fields of a JSON object in their order, so that it can be made again with one of them changed.

use std::fmt;

use quipu_event::Json;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};

/// The fields of an object, in their order.
pub(crate) struct Fields(pub(crate) Vec<(String, Json)>);

impl Fields {
    /// Returns the last value under `key`, which is the one that readers take.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.0.iter_mut().rfind(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the object.
    pub(crate) fn to_json(&self) -> String {
        let field = |(key, value): &(String, Json)| {
            format!("{}:{}", serde_json::Value::from(key.as_str()), value.as_str())
        };
        format!("{{{}}}", self.0.iter().map(field).collect::<Vec<_>>().join(","))
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}
