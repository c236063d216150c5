//! What a tool takes, written down once: its schema and its checks are made of the same list.

use serde_json::{Map, Value, json};

/// An argument of a tool.
pub(super) struct Argument {
    /// Its name.
    pub(super) name: &'static str,
    /// Another name that is understood: models know tools like ours under other names.
    pub(super) alias: Option<&'static str>,
    /// What it must be.
    pub(super) shape: Shape,
    /// Whether there is no doing without it.
    pub(super) is_required: bool,
    /// What it is for.
    pub(super) about: &'static str,
}

/// What an argument must be.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// A text.
    Text,
    /// A whole number within bounds.
    Whole { least: u64, most: u64 },
    /// Yes or no.
    Flag,
    /// One of these texts.
    OneOf(&'static [&'static str]),
}

/// Why arguments are not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadArguments {
    #[error("the arguments must be an object, and they are {found}")]
    NoObject { found: &'static str },
    #[error("the argument `{name}` is missing: {expected} is expected")]
    Missing { name: &'static str, expected: String },
    #[error("the argument `{name}` must be {expected}, and it is {found}")]
    WrongShape { name: String, expected: String, found: String },
    #[error("the arguments `{name}` and `{alias}` are the same one: give only `{name}`")]
    Twice { name: &'static str, alias: &'static str },
    #[error("there is no argument `{name}`; there are {known}")]
    Unknown { name: String, known: String },
}

/// Arguments that were checked, under their own names.
#[derive(Debug)]
pub(super) struct Arguments(Map<String, Value>);

impl Argument {
    /// Makes an argument that there is no doing without.
    pub(super) const fn required(
        name: &'static str,
        shape: Shape,
        about: &'static str,
    ) -> Argument {
        Argument { name, alias: None, shape, is_required: true, about }
    }

    /// Makes an argument that may be left out.
    pub(super) const fn optional(
        name: &'static str,
        shape: Shape,
        about: &'static str,
    ) -> Argument {
        Argument { name, alias: None, shape, is_required: false, about }
    }

    /// Adds another name.
    pub(super) const fn or(self, alias: &'static str) -> Argument {
        Argument { alias: Some(alias), ..self }
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }
}

impl Arguments {
    /// Checks what a tool is given. What is null is left out.
    pub(super) fn check(known: &[Argument], input: Value) -> Result<Arguments, BadArguments> {
        let given = match input {
            Value::Object(given) => given,
            Value::Null => Map::new(),
            other => return Err(BadArguments::NoObject { found: kind_of(&other) }),
        };
        let mut checked = Map::new();
        for (name, value) in given {
            let Some(argument) = known.iter().find(|argument| argument.is_called(&name)) else {
                let known: Vec<&str> = known.iter().map(|argument| argument.name).collect();
                return Err(BadArguments::Unknown { name, known: known.join(", ") });
            };
            if value.is_null() {
                continue;
            }
            if !argument.shape.fits(&value) {
                let (expected, found) = (argument.shape.in_words(), found(&value));
                return Err(BadArguments::WrongShape { name, expected, found });
            }
            if checked.insert(argument.name.to_owned(), value).is_some() {
                let alias = argument.alias.unwrap_or_default();
                return Err(BadArguments::Twice { name: argument.name, alias });
            }
        }
        let required = known.iter().filter(|argument| argument.is_required);
        for Argument { name, shape, .. } in required {
            if !checked.contains_key(*name) {
                return Err(BadArguments::Missing { name, expected: shape.in_words() });
            }
        }
        Ok(Arguments(checked))
    }

    /// Returns a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Returns a text that was checked to be there.
    pub(super) fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// Returns a number.
    pub(super) fn whole(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(as_whole)
    }

    /// Returns whether something is wanted.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }
}

/// Returns the JSON Schema of arguments.
pub(super) fn schema_of(known: &[Argument]) -> Value {
    let properties: Map<String, Value> = known
        .iter()
        .map(|argument| {
            let mut schema = argument.shape.schema();
            schema["description"] = Value::from(argument.about);
            (argument.name.to_owned(), schema)
        })
        .collect();
    let required = known.iter().filter(|argument| argument.is_required);
    let required: Vec<&str> = required.map(|argument| argument.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

impl Shape {
    fn fits(self, value: &Value) -> bool {
        match self {
            Shape::Text => value.is_string(),
            Shape::Whole { least, most } => {
                as_whole(value).is_some_and(|number| (least..=most).contains(&number))
            }
            Shape::Flag => value.is_boolean(),
            Shape::OneOf(choices) => value.as_str().is_some_and(|text| choices.contains(&text)),
        }
    }

    fn in_words(self) -> String {
        match self {
            Shape::Text => "a string".to_owned(),
            Shape::Whole { least, most: u64::MAX } => format!("a whole number from {least} on"),
            Shape::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Shape::Flag => "true or false".to_owned(),
            Shape::OneOf(choices) => format!("one of {}", choices.join(", ")),
        }
    }

    fn schema(self) -> Value {
        match self {
            Shape::Text => json!({ "type": "string" }),
            Shape::Whole { least, most: u64::MAX } => {
                json!({ "type": "integer", "minimum": least })
            }
            Shape::Whole { least, most } => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            Shape::Flag => json!({ "type": "boolean" }),
            Shape::OneOf(choices) => json!({ "type": "string", "enum": choices }),
        }
    }
}

/// Returns a whole number; `5.0` is one too, as JSON Schema has it.
fn as_whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0)?;
        // Beyond this, not every whole number is there, and nobody means one of them.
        (number < 9.0e15).then_some(number as u64)
    })
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn found(value: &Value) -> String {
    match value {
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.len() <= 40 => value.to_string(),
        other => kind_of(other).to_owned(),
    }
}
