//! The functions of templates: those that workflows know, and the part of Go's own that makes sense
//! here. None of them does anything but return a value; files are read through the scope.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::{printf, quote_word};
use crate::language::value::{as_number, equal, is_true, kind_of, order, text_of};
use crate::language::{Scope, Value};

/// An argument or a result: a value, or a text that `escape` makes one word of.
#[derive(Clone, Debug)]
pub(super) enum Argument<'v> {
    Value(Cow<'v, Value>),
    /// The text before it was quoted.
    Escaped(String),
}

impl Argument<'_> {
    /// Returns the value; that of an escaped text is the quoted word.
    pub(super) fn value(&self) -> Cow<'_, Value> {
        match self {
            Argument::Value(value) => Cow::Borrowed(value.as_ref()),
            Argument::Escaped(raw) => Cow::Owned(Value::String(quote_word(raw))),
        }
    }
}

/// Each function, and how few and how many arguments it takes.
const FUNCTIONS: [(&str, usize, usize); 31] = [
    ("and", 1, MANY),
    ("contains", 2, 2),
    ("default", 2, 2),
    ("eq", 2, MANY),
    ("escape", 1, 1),
    ("ge", 2, 2),
    ("gt", 2, 2),
    ("hasPrefix", 2, 2),
    ("hasSuffix", 2, 2),
    ("index", 1, MANY),
    ("join", 1, 2),
    ("json", 1, 1),
    ("le", 2, 2),
    ("len", 1, 1),
    ("lower", 1, 1),
    ("lt", 2, 2),
    ("ne", 2, 2),
    ("not", 1, 1),
    ("or", 1, MANY),
    ("print", 0, MANY),
    ("printf", 1, MANY),
    ("println", 0, MANY),
    ("quote", 1, 1),
    ("readFile", 1, 1),
    ("replace", 3, 3),
    ("slice", 1, 3),
    ("split", 2, 2),
    ("toJson", 1, 1),
    ("trim", 1, 1),
    ("trimSpace", 1, 1),
    ("upper", 1, 1),
];

const MANY: usize = usize::MAX;

/// Returns the function of that name.
pub(super) fn known(name: &str) -> Option<&'static str> {
    FUNCTIONS.iter().map(|(known, ..)| *known).find(|known| *known == name)
}

/// Lists the names of all functions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, ..)| *name)
}

/// Calls a function. A value that came through a pipe is the last argument.
pub(super) fn call<'v>(
    function: &'static str,
    arguments: Vec<Argument<'v>>,
    is_piped: bool,
    scope: &dyn Scope,
) -> Result<Argument<'v>, String> {
    check_count(function, arguments.len())?;
    if function == "escape" {
        return Ok(Argument::Escaped(text_of(&arguments[0].value()).into_owned()));
    }
    let values: Vec<Cow<'_, Value>> = arguments.iter().map(Argument::value).collect();
    let value = match function {
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" => compare(function, &values)?,
        "contains" | "hasPrefix" | "hasSuffix" | "replace" | "upper" | "lower" | "trim"
        | "trimSpace" | "quote" => of_text(function, &values),
        "split" | "join" => of_list(function, &values, is_piped)?,
        "index" => index(&values)?,
        "slice" => slice(&values)?,
        "len" => len(&values[0])?,
        "not" => Value::Bool(!is_true(&values[0])),
        "default" if is_true(&values[1]) => values[1].clone().into_owned(),
        "default" => values[0].clone().into_owned(),
        "json" | "toJson" => Value::String(values[0].to_string()),
        "readFile" => Value::String(scope.read_file(&text_of(&values[0]))?),
        _ => Value::String(print(function, &values)?),
    };
    Ok(Argument::Value(Cow::Owned(value)))
}

fn check_count(function: &str, count: usize) -> Result<(), String> {
    let (least, most) = FUNCTIONS
        .iter()
        .find(|(name, ..)| *name == function)
        .map_or((0, MANY), |(_, least, most)| (*least, *most));
    if (least..=most).contains(&count) {
        return Ok(());
    }
    let wanted = if count < least { least } else { most };
    let plural = if wanted == 1 { "" } else { "s" };
    let bound = match (least == most, count < least) {
        (true, _) => "",
        (false, true) => "at least ",
        (false, false) => "at most ",
    };
    Err(format!("`{function}` takes {bound}{wanted} argument{plural}, not {count}"))
}

fn compare(function: &str, values: &[Cow<'_, Value>]) -> Result<Value, String> {
    let holds = match function {
        "eq" => values[1..].iter().any(|other| equal(&values[0], other)),
        "ne" => !equal(&values[0], &values[1]),
        _ => {
            let order = order(&values[0], &values[1]).ok_or_else(|| {
                let (left, right) = (kind_of(&values[0]), kind_of(&values[1]));
                format!("`{function}` cannot put {left} and {right} in order")
            })?;
            match function {
                "lt" => order == Ordering::Less,
                "le" => order != Ordering::Greater,
                "gt" => order == Ordering::Greater,
                _ => order != Ordering::Less,
            }
        }
    };
    Ok(Value::Bool(holds))
}

// The text comes last, so that it can be piped in: `.inputs.x | replace "a" "b"`.
fn of_text(function: &str, values: &[Cow<'_, Value>]) -> Value {
    let texts: Vec<Cow<'_, str>> = values.iter().map(|value| text_of(value)).collect();
    let text = texts.last().map_or("", |text| text.as_ref());
    match function {
        "contains" => Value::Bool(text.contains(texts[0].as_ref())),
        "hasPrefix" => Value::Bool(text.starts_with(texts[0].as_ref())),
        "hasSuffix" => Value::Bool(text.ends_with(texts[0].as_ref())),
        "replace" => Value::String(text.replace(texts[0].as_ref(), &texts[1])),
        "upper" => Value::String(text.to_uppercase()),
        "lower" => Value::String(text.to_lowercase()),
        "quote" => Value::String(Value::from(text).to_string()),
        _ => Value::String(text.trim().to_owned()),
    }
}

fn of_list(function: &str, values: &[Cow<'_, Value>], is_piped: bool) -> Result<Value, String> {
    // The subject comes first (`split .inputs.csv ","`), or through the pipe.
    let (subject, separator) = match values {
        [subject] => (subject, Cow::Borrowed("")),
        [separator, subject, ..] if is_piped => (subject, text_of(separator)),
        [subject, separator, ..] => (subject, text_of(separator)),
        [] => return Err(format!("`{function}` has no argument")),
    };
    if function == "split" {
        let text = text_of(subject);
        return Ok(match separator.as_ref() {
            "" => text.chars().map(|letter| Value::String(letter.to_string())).collect(),
            separator => text.split(separator).map(Value::from).collect(),
        });
    }
    let Value::Array(items) = subject.as_ref() else {
        return Err(format!("`join` needs a list, not {}", kind_of(subject)));
    };
    let texts: Vec<Cow<'_, str>> = items.iter().map(text_of).collect();
    Ok(Value::String(texts.join(separator.as_ref())))
}

fn index(values: &[Cow<'_, Value>]) -> Result<Value, String> {
    let mut here = values[0].as_ref();
    for key in &values[1..] {
        here = match here {
            Value::Array(items) => as_number(key)
                .and_then(|at| usize::try_from(at.as_i64()?).ok())
                .and_then(|at| items.get(at))
                .ok_or_else(|| {
                    let count = items.len();
                    format!("`index`: a list of {count} has no position {}", text_of(key))
                })?,
            Value::Object(members) => members
                .get(text_of(key).as_ref())
                .ok_or_else(|| format!("`index`: there is no `{}`", text_of(key)))?,
            other => {
                return Err(format!("`index` needs a list or an object, not {}", kind_of(other)));
            }
        };
    }
    Ok(here.clone())
}

fn slice(values: &[Cow<'_, Value>]) -> Result<Value, String> {
    let bound = |at: usize, otherwise: usize| match values.get(at) {
        None => Ok(otherwise),
        Some(value) => as_number(value)
            .and_then(|bound| usize::try_from(bound.as_u64()?).ok())
            .ok_or_else(|| format!("`slice`: {} is not a position", text_of(value))),
    };
    let out_of_range = || "`slice`: the position is past the end".to_owned();
    Ok(match values[0].as_ref() {
        Value::Array(items) => {
            let range = bound(1, 0)?..bound(2, items.len())?;
            Value::Array(items.get(range).ok_or_else(out_of_range)?.to_vec())
        }
        other => {
            let text = text_of(other);
            let range = bound(1, 0)?..bound(2, text.len())?;
            Value::String(text.get(range).ok_or_else(out_of_range)?.to_owned())
        }
    })
}

fn len(value: &Value) -> Result<Value, String> {
    Ok(Value::from(match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::Null => 0,
        other => {
            return Err(format!("`len` needs a text, a list or an object, not {}", kind_of(other)));
        }
    }))
}

fn print(function: &str, values: &[Cow<'_, Value>]) -> Result<String, String> {
    let texts = || values.iter().map(|value| text_of(value));
    match function {
        "printf" => printf::format(&text_of(&values[0]), &values[1..]),
        "println" => Ok(format!("{}\n", texts().collect::<Vec<_>>().join(" "))),
        _ => Ok(beside(values)),
    }
}

/// Texts stand side by side; a space keeps any two other values apart.
fn beside(values: &[Cow<'_, Value>]) -> String {
    let mut line = String::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 && !value.is_string() && !values[index - 1].is_string() {
            line.push(' ');
        }
        line.push_str(&text_of(value));
    }
    line
}
