//! YAML as a tree that remembers where each part stands.
//!
//! The tree is all of the file: it knows no workflows. What a key means is the business of `parse`.

mod build;
mod place;
mod scalar;
mod slips;
mod source;

use super::problem::Place;
use crate::language::Value;
pub(crate) use build::read;
pub(crate) use source::Source;

use std::sync::Arc;

/// A part of a file.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Where it begins.
    pub(crate) place: Place,
    /// What it is.
    pub(crate) content: Content,
}

/// What a part of a file is.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A text, number, truth or nothing.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// An object.
    Mapping(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key.
    pub(crate) key: String,
    /// Where the key stands.
    pub(crate) key_place: Place,
    /// The value.
    pub(crate) value: Node,
}

/// A single value as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    /// Its text, with quotes, escapes and indentation undone.
    pub(crate) text: String,
    /// What it stands for by the core schema.
    pub(crate) value: Value,
    /// How it was written.
    pub(crate) style: Style,
    /// The file it was read from; nothing when the text was put together from parts.
    pub(crate) source: Option<Arc<Source>>,
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

impl Node {
    /// Says what it is, for a message.
    pub(crate) fn describe(&self) -> String {
        match &self.content {
            Content::Sequence(_) => "a list".to_owned(),
            Content::Mapping(_) => "a mapping".to_owned(),
            Content::Scalar(scalar) => match &scalar.value {
                Value::Null => "nothing".to_owned(),
                Value::Bool(_) | Value::Number(_) => format!("`{}`", scalar.text),
                _ => format!("the text {:?}", shortened(&scalar.text)),
            },
        }
    }

    /// Tells whether nothing is said here: `key:` without a value.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar(scalar) if scalar.value.is_null())
    }

    /// Returns its text if it is a single value.
    pub(crate) fn scalar(&self) -> Option<&Scalar> {
        match &self.content {
            Content::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Returns its keys if it is an object.
    pub(crate) fn mapping(&self) -> Option<&[Entry]> {
        match &self.content {
            Content::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the value of one of its keys.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.mapping()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// Returns it as a plain value.
    pub(crate) fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar(scalar) => scalar.value.clone(),
            Content::Sequence(items) => items.iter().map(Node::to_value).collect(),
            Content::Mapping(entries) => entries
                .iter()
                .map(|entry| (entry.key.clone(), entry.value.to_value()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    /// Returns the place of a byte of its text.
    pub(crate) fn place_of(&self, offset: usize) -> Place {
        match &self.content {
            Content::Scalar(scalar) => place::inside(&self.place, scalar, offset),
            _ => self.place.clone(),
        }
    }
}

impl Scalar {
    /// Returns a text that no file holds as it stands.
    pub(crate) fn made(text: String, style: Style) -> Self {
        let value = scalar::resolve(&text, style, None);
        Scalar { text, value, style, source: None }
    }
}

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= 40 && line.len() == text.len() {
        return line.to_owned();
    }
    line.chars().take(39).chain(['…']).collect()
}
