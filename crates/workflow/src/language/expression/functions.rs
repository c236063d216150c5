//! The functions of expressions. Null in is null out, except where a function says otherwise.

use serde_json::Number;

use super::operators::{Operator, number};
use crate::language::Value;
use crate::language::value::{kind_of, number_value, read_truth, text_of};

/// A function: its name, how few and how many arguments it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) least: usize,
    pub(super) most: usize,
}

const FUNCTIONS: [Function; 28] = [
    of("abs", 1, 1),
    of("bool", 1, 1),
    of("ceil", 1, 1),
    of("contains", 2, 2),
    of("endsWith", 2, 2),
    of("float", 1, 1),
    of("floor", 1, 1),
    of("fromJSON", 1, 1),
    of("hasPrefix", 2, 2),
    of("hasSuffix", 2, 2),
    of("has_prefix", 2, 2),
    of("has_suffix", 2, 2),
    of("int", 1, 1),
    of("join", 1, 2),
    of("len", 1, 1),
    of("lower", 1, 1),
    of("matches", 2, 2),
    of("max", 1, usize::MAX),
    of("min", 1, usize::MAX),
    of("replace", 3, 3),
    of("round", 1, 1),
    of("split", 2, 2),
    of("startsWith", 2, 2),
    of("string", 1, 1),
    of("toJSON", 1, 1),
    of("trim", 1, 1),
    of("trimSpace", 1, 1),
    of("upper", 1, 1),
];

const fn of(name: &'static str, least: usize, most: usize) -> Function {
    Function { name, least, most }
}

impl Function {
    /// Returns the function of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        FUNCTIONS.into_iter().find(|function| function.name == name)
    }

    /// Lists the names of all functions.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        FUNCTIONS.iter().map(|function| function.name)
    }

    /// Calls it. The caller has checked the number of arguments.
    pub(super) fn call(self, arguments: &[Value]) -> Result<Value, String> {
        let test = match self.name {
            "contains" => Some(Operator::Contains),
            "startsWith" | "has_prefix" | "hasPrefix" => Some(Operator::StartsWith),
            "endsWith" | "has_suffix" | "hasSuffix" => Some(Operator::EndsWith),
            "matches" => Some(Operator::Matches),
            _ => None,
        };
        if let Some(operator) = test {
            return operator.apply(&arguments[0], &arguments[1]);
        }
        match (self.name, &arguments[0]) {
            ("len", Value::Null) => Ok(Value::from(0)),
            ("string", Value::Null) => Ok(Value::String(String::new())),
            ("bool", Value::Null) => Ok(Value::Bool(false)),
            (_, Value::Null) => Ok(Value::Null),
            ("len", value) => len(value),
            ("string" | "lower" | "upper" | "trim" | "trimSpace" | "replace" | "split", value) => {
                Ok(self.of_text(&text_of(value), &arguments[1..]))
            }
            ("toJSON", value) => Ok(Value::String(value.to_string())),
            ("fromJSON", value) => serde_json::from_str(&text_of(value))
                .map_err(|error| format!("`fromJSON` needs JSON: {error}")),
            ("join", value) => join(value, arguments.get(1)),
            ("bool", value) => truth(value),
            _ => self.of_numbers(arguments),
        }
    }

    fn of_text(self, text: &str, more: &[Value]) -> Value {
        let more: Vec<_> = more.iter().map(text_of).collect();
        Value::String(match (self.name, more.as_slice()) {
            ("split", [separator, ..]) if !separator.is_empty() => {
                return text.split(separator.as_ref()).map(Value::from).collect();
            }
            ("split", _) => {
                return text.chars().map(|letter| Value::from(letter.to_string())).collect();
            }
            ("replace", [old, new, ..]) => text.replace(old.as_ref(), new),
            ("lower", _) => text.to_lowercase(),
            ("upper", _) => text.to_uppercase(),
            ("trim" | "trimSpace", _) => text.trim().to_owned(),
            _ => text.to_owned(),
        })
    }

    fn of_numbers(self, arguments: &[Value]) -> Result<Value, String> {
        let numbers: Vec<Number> = arguments.iter().map(number).collect::<Result<_, _>>()?;
        let first = numbers[0].as_f64().unwrap_or_default();
        let floats = numbers.iter().filter_map(Number::as_f64);
        Ok(match self.name {
            "int" => match numbers[0].as_i64() {
                Some(whole) => Value::from(whole),
                None => number_value(first.trunc()),
            },
            "abs" => number_value(first.abs()),
            "ceil" => number_value(first.ceil()),
            "floor" => number_value(first.floor()),
            "round" => number_value(first.round()),
            "max" => number_value(floats.fold(first, f64::max)),
            "min" => number_value(floats.fold(first, f64::min)),
            _ => Value::Number(numbers[0].clone()),
        })
    }
}

fn len(value: &Value) -> Result<Value, String> {
    Ok(Value::from(match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        other => {
            return Err(format!("`len` needs a text, a list or an object, not {}", kind_of(other)));
        }
    }))
}

fn join(value: &Value, separator: Option<&Value>) -> Result<Value, String> {
    let Value::Array(items) = value else {
        return Err(format!("`join` needs a list, not {}", kind_of(value)));
    };
    let texts: Vec<_> = items.iter().map(text_of).collect();
    Ok(Value::String(texts.join(separator.map(text_of).unwrap_or_default().as_ref())))
}

fn truth(value: &Value) -> Result<Value, String> {
    match value {
        Value::Bool(_) => Ok(value.clone()),
        Value::String(text) => read_truth(text)
            .map(Value::Bool)
            .ok_or_else(|| format!("expected true or false, found the text `{text}`")),
        other => Err(format!("expected true or false, found {}", kind_of(other))),
    }
}
