//! Texts filled in with what is known before a run; the rest is left as it was written.

use std::borrow::Cow;

use quipu_workflow::driver::mask_named;
use quipu_workflow::language::{Found, Scope, Template, Value};
use serde_json::{Map, json};

/// What is known before a run: its inputs, secrets masked, and its name.
pub(super) struct Known {
    names: Value,
}

impl Known {
    pub(super) fn new(workflow: &str, inputs: &Map<String, Value>) -> Self {
        let workflow = json!({"name": workflow, "Name": workflow});
        Known { names: json!({"inputs": mask_named(inputs), "workflow": workflow}) }
    }

    /// Fills in what is known, each `{{ … }}` by itself.
    pub(super) fn fill(&self, template: &Template) -> String {
        let mut filled = String::new();
        let mut rest = template.source();
        while let Some(begin) = rest.find("{{") {
            let Some(length) = rest[begin..].find("}}") else { break };
            let end = begin + length + 2;
            filled.push_str(&rest[..begin]);
            let written = &rest[begin..end];
            let value = Template::parse(written).ok().and_then(|one| one.render(self).ok());
            filled.push_str(value.as_deref().unwrap_or(written));
            rest = &rest[end..];
        }
        filled + rest
    }
}

impl Scope for Known {
    fn look_up(&self, path: &[&str]) -> Found<'_> {
        let mut value = &self.names;
        for (part, name) in path.iter().enumerate() {
            match value.get(name) {
                Some(inner) => value = inner,
                None => return Found::Missing { part, known: Vec::new() },
            }
        }
        Found::Value(Cow::Borrowed(value))
    }

    fn read_file(&self, _path: &str) -> Result<String, String> {
        Err("files are read when the run needs them".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_filled_in_and_the_rest_is_left_as_written() {
        let inputs = json!({"file": "a b.rs", "api_key": "hunter2", "deep": {"er": 3}});
        let Value::Object(inputs) = inputs else { unreachable!() };
        let known = Known::new("review", &inputs);
        let cases = [
            ("cat {{.inputs.file}}", "cat a b.rs"),
            ("{{inputs.deep.er}} {{states.x.Output}}", "3 {{states.x.Output}}"),
            ("key {{inputs.api_key}}", "key ***"),
            ("{{if inputs.file}}x{{end}}", "{{if inputs.file}}x{{end}}"),
            ("{{.workflow.Name}} {{loop.Index}}", "review {{loop.Index}}"),
        ];
        for (text, expected) in cases {
            assert_eq!(known.fill(&Template::parse(text).unwrap()), expected);
        }
    }
}
