//! Templates, expressions and shell safety, against a scope made of JSON.

mod expression;
mod injection;
mod shell;
mod template;

use std::borrow::Cow;

use quipu_workflow::language::{Found, Scope, Value};
use serde_json::json;

/// A scope whose names are the members of a JSON object.
pub(crate) struct JsonScope(pub(crate) Value);

impl Scope for JsonScope {
    fn look_up(&self, path: &[&str]) -> Found<'_> {
        let mut here = &self.0;
        for (part, name) in path.iter().enumerate() {
            match here.get(*name) {
                Some(next) => here = next,
                None => {
                    let known = here.as_object().map(|members| members.keys().cloned().collect());
                    return Found::Missing { part, known: known.unwrap_or_default() };
                }
            }
        }
        Found::Value(Cow::Borrowed(here))
    }

    fn read_file(&self, path: &str) -> Result<String, String> {
        match path {
            "notes.txt" => Ok("two\nlines\n".to_owned()),
            _ => Err(format!("cannot read `{path}`")),
        }
    }
}

/// Returns the scope that most cases use.
pub(crate) fn scope() -> JsonScope {
    JsonScope(json!({
        "inputs": {
            "name": "World", "count": 3, "limit": "10", "flag": "false", "on": true, "off": false,
            "ratio": 0.5, "whole": 2.0, "nothing": null, "empty": "", "none": [],
            "items": ["a", "b", "c"], "csv": "x,y,z", "user": {"name": "Ada", "tags": ["p", "q"]},
            "quoted": "it's", "spaces": "  padded \n", "people": [{"name": "A"}, {"name": "B"}],
        },
        "states": {
            "build": {"Output": "done\n", "ExitCode": 0, "Status": "success", "JSON": {"n": [1, 2]}},
            "my-step": {"Output": "dashed", "ExitCode": 7},
            "count": {"Output": "12\n"},
        },
        "workflow": {"Name": "demo", "Duration": 5},
        "loop": {"Index": 1, "Item": "it", "Last": false},
        "error": {"Message": "step failed"},
    }))
}
