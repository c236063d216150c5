//! Finding a dotted path: in the scope first, then inside the value that the scope has for it.

use std::borrow::Cow;

use super::nearest::nearest;
use super::{Found, Scope, Value};

/// A path that leads nowhere.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Missing {
    /// What is missing, naming the path.
    pub(super) message: String,
    /// What to try.
    pub(super) hint: Option<String>,
}

/// Looks a path up in the scope.
pub(super) fn find<'s>(scope: &'s dyn Scope, path: &[&str]) -> Result<Cow<'s, Value>, Missing> {
    let (part, known) = match scope.look_up(path) {
        Found::Value(value) => return Ok(value),
        Found::Missing { part, known } => (part.min(path.len().saturating_sub(1)), known),
    };
    // The scope may not look into lists: `inputs.items.0` is then found here.
    if part > 0
        && let Found::Value(whole) = scope.look_up(&path[..part])
        && let Some(inner) = walk(&whole, &path[part..])
    {
        return Ok(Cow::Owned(inner.clone()));
    }
    Err(missing(path, part, &known))
}

/// Looks a path up inside a value.
pub(super) fn find_within<'v>(
    value: &'v Value,
    path: &[&str],
    written: &str,
) -> Result<&'v Value, Missing> {
    let mut here = value;
    for part in path {
        let Some(next) = step(here, part) else {
            let known: Vec<String> = here
                .as_object()
                .map(|members| members.keys().cloned().collect())
                .unwrap_or_default();
            let message = format!("`{written}` has no value: `{part}` is not there");
            return Err(Missing { message, hint: hint(part, &known) });
        };
        here = next;
    }
    Ok(here)
}

fn walk<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |here, part| step(here, part))
}

fn step<'v>(value: &'v Value, part: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(part),
        Value::Array(items) => {
            let position: i64 = part.parse().ok()?;
            // A negative position counts from the end, as in the expressions' own lists.
            let position = if position < 0 { position + items.len() as i64 } else { position };
            items.get(usize::try_from(position).ok()?)
        }
        _ => None,
    }
}

fn missing(path: &[&str], part: usize, known: &[String]) -> Missing {
    let written = path.join(".");
    let wanted = path.get(part).copied().unwrap_or_default();
    let message = match part {
        0 => format!("`{written}` has no value: there is no `{wanted}`"),
        _ => format!("`{written}` has no value: `{}` has no `{wanted}`", path[..part].join(".")),
    };
    Missing { message, hint: hint(wanted, known) }
}

fn hint(wanted: &str, known: &[String]) -> Option<String> {
    const SHOWN: usize = 8;
    if let Some(name) = nearest(wanted, known.iter().map(String::as_str)) {
        return Some(format!("did you mean `{name}`?"));
    }
    if known.is_empty() {
        return None;
    }
    let mut names: Vec<String> = known.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if known.len() > SHOWN {
        names.push("…".to_owned());
    }
    Some(format!("known here: {}", names.join(", ")))
}
