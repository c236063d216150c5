//! What a workflow takes: declarations, and values checked against them.

use regex::Regex;

use crate::language::Value;

/// One input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputDeclaration {
    /// Its name.
    pub name: String,
    /// What sort of value it takes. `Any` when the file does not say.
    pub input_type: InputType,
    /// What it is for.
    pub description: Option<String>,
    /// Whether the run cannot begin without it.
    pub required: bool,
    /// Its value when none is given.
    pub default: Option<Value>,
    /// What a value must satisfy.
    pub validation: InputValidation,
}

/// What sort of value an input takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputType {
    /// Whatever is given.
    #[default]
    Any,
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    Array,
}

/// What a value must satisfy.
#[derive(Clone, Debug, Default)]
pub struct InputValidation {
    /// A pattern that must be found in it (not anchored).
    pub pattern: Option<Regex>,
    /// The values that are allowed.
    pub allowed: Option<Vec<Value>>,
    /// The smallest number.
    pub min: Option<f64>,
    /// The largest number.
    pub max: Option<f64>,
    /// Whether it must name a file that is there.
    pub file_exists: bool,
    /// The extensions a file name may have.
    pub file_extension: Vec<String>,
}

impl PartialEq for InputValidation {
    fn eq(&self, other: &Self) -> bool {
        self.pattern.as_ref().map(Regex::as_str) == other.pattern.as_ref().map(Regex::as_str)
            && self.allowed == other.allowed
            && self.min == other.min
            && self.max == other.max
            && self.file_exists == other.file_exists
            && self.file_extension == other.file_extension
    }
}
