//! `inputs`: a list of declarations, or a mapping from names to them.

use regex::Regex;

use super::fields::Fields;
use super::reader::Reader;
use crate::definition::problem::{Place, Problem};
use crate::definition::yaml::{Content, Node};
use crate::definition::{InputDeclaration, InputType, InputValidation};

const TYPES: [(&str, InputType); 12] = [
    ("string", InputType::String),
    ("integer", InputType::Integer),
    ("number", InputType::Number),
    ("boolean", InputType::Boolean),
    ("array", InputType::Array),
    ("any", InputType::Any),
    // Short and older names of the same.
    ("int", InputType::Integer),
    ("float", InputType::Number),
    ("bool", InputType::Boolean),
    ("list", InputType::Array),
    ("file", InputType::String),
    ("", InputType::Any),
];

/// Reads all declarations.
pub(super) fn read_all(reader: &mut Reader, node: &Node) -> Vec<InputDeclaration> {
    let mut inputs = Vec::new();
    match &node.content {
        Content::Sequence(items) => {
            for item in items {
                let Some(mut fields) = Fields::of(reader, "an input", item) else { continue };
                let Some(name_node) = fields.take("name") else {
                    fields.missing(reader, "name", "the name of the input");
                    continue;
                };
                if let Some(name) = reader.text("`name`", name_node) {
                    add(reader, &mut inputs, &name, &name_node.place, Some(fields));
                }
            }
        }
        Content::Mapping(entries) => {
            for entry in entries {
                let what = format!("input `{}`", entry.key);
                let fields = if entry.value.is_null() {
                    None
                } else {
                    let Some(fields) = Fields::of(reader, &what, &entry.value) else { continue };
                    Some(fields)
                };
                add(reader, &mut inputs, &entry.key, &entry.key_place, fields);
            }
        }
        Content::Scalar(_) => {
            let message = format!("`inputs` is {}", node.describe());
            reader.error(&node.place, message, "a list of inputs, or a mapping of them");
        }
    }
    inputs
}

fn add(
    reader: &mut Reader,
    inputs: &mut Vec<InputDeclaration>,
    name: &str,
    place: &Place,
    fields: Option<Fields<'_>>,
) {
    if let Some(first) = reader.notes.inputs.get(name) {
        let (line, column) = (first.line, first.column);
        let message = format!("input `{name}` stands twice: first at {line}:{column}");
        reader.error(place, message, "each input once");
        return;
    }
    reader.notes.inputs.insert(name.to_owned(), place.clone());
    let mut input = InputDeclaration {
        name: name.to_owned(),
        input_type: InputType::Any,
        description: None,
        required: false,
        default: None,
        validation: InputValidation::default(),
    };
    if let Some(mut fields) = fields {
        fields.of = format!("input `{name}`");
        input.input_type = fields.word(reader, "type", &TYPES).unwrap_or_default();
        input.description = fields.text(reader, "description");
        input.required = fields.flag(reader, "required").unwrap_or(false);
        if let Some(node) = fields.take("default") {
            reader.notes.defaults.insert(name.to_owned(), node.place.clone());
            input.default = Some(node.to_value());
        }
        if let Some(node) = fields.take("validation") {
            input.validation = read_validation(reader, name, node);
        }
        fields.finish(reader);
    }
    inputs.push(input);
}

fn read_validation(reader: &mut Reader, name: &str, node: &Node) -> InputValidation {
    let mut validation = InputValidation::default();
    let what = format!("the validation of `{name}`");
    let Some(mut fields) = Fields::of(reader, &what, node) else { return validation };
    if let Some(node) = fields.take("pattern") {
        validation.pattern = read_pattern(reader, node);
    }
    if let Some(node) = fields.take("enum") {
        match &node.content {
            Content::Sequence(items) if !items.is_empty() => {
                validation.allowed = Some(items.iter().map(Node::to_value).collect());
            }
            Content::Sequence(_) => {
                reader.error(&node.place, "`enum` is empty, so no value can be right", "values");
            }
            _ => {
                let message = format!("`enum` is {}", node.describe());
                reader.error(&node.place, message, "a list of values");
            }
        }
    }
    let min_place = fields.take("min").map(|node| node.place.clone());
    validation.min = fields.number(reader, "min");
    validation.max = fields.number(reader, "max");
    if let (Some(place), Some(min), Some(max)) = (min_place, validation.min, validation.max)
        && min > max
    {
        let message = format!("`min` is {min} and `max` is {max}, so no value can be right");
        reader.error(&place, message, "a `min` that is not above `max`");
    }
    validation.file_exists = fields.flag(reader, "file_exists").unwrap_or(false);
    if let Some(node) = fields.take("file_extension") {
        validation.file_extension = match node.scalar() {
            Some(scalar) => vec![scalar.text.clone()],
            None => reader
                .names("`file_extension`", node)
                .into_iter()
                .map(|(extension, _)| extension)
                .collect(),
        };
    }
    fields.finish(reader);
    validation
}

fn read_pattern(reader: &mut Reader, node: &Node) -> Option<Regex> {
    let text = reader.text("`pattern`", node)?;
    match Regex::new(&text) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            // The error draws a picture of several lines; its last line says what is wrong.
            let told = error.to_string();
            let why = told.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let problem = Problem::error(&node.place, format!("`pattern` cannot be used: {why}"));
            reader.problems.push(problem.expected("a regular expression"));
            None
        }
    }
}
