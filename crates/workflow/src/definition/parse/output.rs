//! `outputs`: what a workflow gives to one that calls it.

use super::fields::{Fields, quoted};
use super::notes::Moment;
use super::reader::Reader;
use crate::definition::yaml::{Content, Node};
use crate::language::Template;

/// Reads a list of `{name, from}`, or a mapping from names to where they come from.
pub(super) fn read_all(reader: &mut Reader, node: &Node) -> Vec<(String, Template)> {
    reader.moment = Moment::After;
    let outputs = match &node.content {
        Content::Sequence(items) => {
            items.iter().filter_map(|item| read_listed(reader, item)).collect()
        }
        Content::Mapping(entries) => entries
            .iter()
            .filter_map(|entry| read_named(reader, &entry.key, &entry.value))
            .collect(),
        Content::Scalar(_) => {
            let message = format!("`outputs` is {}", node.describe());
            reader.error(&node.place, message, "a list of `{name: …, from: …}`");
            Vec::new()
        }
    };
    reader.moment = Moment::Before;
    outputs
}

fn read_listed(reader: &mut Reader, node: &Node) -> Option<(String, Template)> {
    let mut fields = Fields::of(reader, "an output", node)?;
    let name = fields.text(reader, "name");
    if name.is_none() {
        fields.missing(reader, "name", "the name of the output");
    }
    let from = read_from(reader, &mut fields);
    fields.finish(reader);
    Some((name?, from?))
}

fn read_named(reader: &mut Reader, name: &str, node: &Node) -> Option<(String, Template)> {
    if node.scalar().is_some() {
        let from = reader.path_template(&quoted(name), node)?;
        return Some((name.to_owned(), from));
    }
    let mut fields = Fields::of(reader, &format!("output `{name}`"), node)?;
    let from = read_from(reader, &mut fields);
    fields.finish(reader);
    Some((name.to_owned(), from?))
}

fn read_from(reader: &mut Reader, fields: &mut Fields<'_>) -> Option<Template> {
    // For people only.
    for key in ["description", "type"] {
        fields.take(key);
    }
    let Some(node) = fields.take("from").or_else(|| fields.take("value")) else {
        fields.missing(reader, "from", "where it comes from, such as `states.build.Output`");
        return None;
    };
    reader.path_template("`from`", node)
}
