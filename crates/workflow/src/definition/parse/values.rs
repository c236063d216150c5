//! Values with templates in their texts.

use std::collections::BTreeMap;

use super::fields::{Fields, quoted};
use super::reader::Reader;
use crate::definition::ValueTemplate;
use crate::definition::yaml::{Content, Node};
use crate::language::Value;

/// Reads a value.
pub(super) fn read(reader: &mut Reader, what: &str, node: &Node) -> Option<ValueTemplate> {
    match &node.content {
        Content::Scalar(scalar) => match &scalar.value {
            Value::String(_) => reader.template(what, node).map(ValueTemplate::Text),
            plain => Some(ValueTemplate::Plain(plain.clone())),
        },
        Content::Sequence(items) => {
            let items = items.iter().filter_map(|item| read(reader, what, item)).collect();
            Some(ValueTemplate::List(items))
        }
        Content::Mapping(entries) => {
            let entries = entries.iter().filter_map(|entry| {
                let value = read(reader, &quoted(&entry.key), &entry.value)?;
                Some((entry.key.clone(), value))
            });
            Some(ValueTemplate::Map(entries.collect()))
        }
    }
}

/// Reads the mapping of values under a key; nothing is an empty one.
pub(super) fn read_map(
    reader: &mut Reader,
    fields: &mut Fields<'_>,
    key: &'static str,
) -> BTreeMap<String, ValueTemplate> {
    let Some(node) = fields.take(key) else { return BTreeMap::new() };
    match read(reader, &quoted(key), node) {
        Some(ValueTemplate::Map(map)) => map,
        _ => {
            reader.error(&node.place, format!("`{key}` is {}", node.describe()), "a mapping");
            BTreeMap::new()
        }
    }
}
