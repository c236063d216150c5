//! The operations there are, what each takes, and what to say of a name that is none of them.

use quipu_tool::ToolSpec;
use serde_json::{Map, Value, json};

use crate::definition::did_you_mean;

/// Every operation, in the order of the documentation.
pub const OPERATIONS: &[&str] = &[
    "http.request",
    "notify.send",
    "github.get_issue",
    "github.get_pr",
    "github.create_issue",
    "github.create_pr",
    "github.add_labels",
    "github.add_comment",
    "github.list_comments",
    "github.batch",
];

/// What stands before the dot. No plugin can be called so.
pub(crate) const NAMESPACES: [&str; 3] = ["http", "notify", "github"];

/// Tells whether operations are called so before the dot.
pub(crate) fn is_namespace(name: &str) -> bool {
    NAMESPACES.contains(&name)
}

/// Returns the operations of a namespace.
pub(crate) fn names_of(namespace: &str) -> impl Iterator<Item = &'static str> {
    let own = move |name: &&str| name.split_once('.').is_some_and(|(of, _)| of == namespace);
    OPERATIONS.iter().copied().filter(own)
}

/// Says that there is no such operation, and which there are.
pub(super) fn unknown(name: &str) -> String {
    let hint = did_you_mean(name, OPERATIONS.iter().copied());
    let hint = hint.map(|hint| format!("{hint} ")).unwrap_or_default();
    format!("unknown operation `{name}`: {hint}there are {}", OPERATIONS.join(", "))
}

/// What an operation is told to be, and what it takes: an input that must be given has a `!` behind it.
type Entry = (&'static str, &'static str, &'static [(&'static str, &'static str, &'static str)]);

const REPO: (&str, &str, &str) = ("repo", "string", "owner/name; that of the clone if not given");
const NUMBER: (&str, &str, &str) = ("number!", "integer", "Of the issue or pull request.");
const FIELDS: (&str, &str, &str) = ("fields", "array", "Answer with these values only.");

const ENTRIES: [Entry; 10] = [
    (
        "http.request",
        "Sends an HTTP request and answers with status_code, headers and body, whatever the code.",
        &[
            ("url!", "string", "http:// or https://"),
            ("method", "string", "GET if not given."),
            ("headers", "object", "Names to texts."),
            ("body", "any", "A text as it stands; an object or a list is sent as JSON."),
            ("timeout", "any", "Seconds, or a duration such as 30s."),
            ("retryable_status_codes", "array", "Codes that count as a failure."),
            ("fail_on_error", "boolean", "Every code from 400 counts as a failure."),
        ],
    ),
    (
        "notify.send",
        "Tells a person something, on their desktop or through a service.",
        &[
            ("backend!", "string", "desktop, ntfy, slack, discord or webhook"),
            ("message!", "string", "What to say."),
            ("title", "string", "What stands above it."),
            ("priority", "string", "low, default or high"),
            ("topic", "string", "For ntfy."),
            ("webhook_url", "string", "For slack, discord and webhook."),
        ],
    ),
    ("github.get_issue", "Reads an issue on GitHub.", &[NUMBER, REPO, FIELDS]),
    ("github.get_pr", "Reads a pull request on GitHub.", &[NUMBER, REPO, FIELDS]),
    (
        "github.create_issue",
        "Opens an issue on GitHub.",
        &[
            ("title!", "string", "Its title."),
            ("body", "string", "What it says."),
            ("labels", "array", "Names of labels."),
            ("assignees", "array", "Names of users."),
            REPO,
        ],
    ),
    (
        "github.create_pr",
        "Opens a pull request on GitHub; one that is open already counts.",
        &[
            ("title!", "string", "Its title."),
            ("head!", "string", "The branch with the changes."),
            ("base!", "string", "The branch they are for."),
            ("body", "string", "What it says."),
            ("draft", "boolean", "Whether it is a draft."),
            REPO,
        ],
    ),
    (
        "github.add_labels",
        "Adds labels to an issue or pull request on GitHub.",
        &[NUMBER, ("labels!", "array", "Names of labels."), REPO],
    ),
    (
        "github.add_comment",
        "Comments on an issue or pull request on GitHub.",
        &[NUMBER, ("body!", "string", "What to say."), REPO],
    ),
    (
        "github.list_comments",
        "Lists the comments on an issue or pull request on GitHub, oldest first.",
        &[NUMBER, ("limit", "integer", "How many at most."), REPO],
    ),
    (
        "github.batch",
        "Does several other github operations side by side.",
        &[
            ("operations!", "array", "Each an object: the operation's name, and its inputs."),
            ("strategy", "string", "best_effort, all_succeed or any_succeed"),
            ("concurrency", "integer", "How many at a time; 3 if not given."),
        ],
    ),
];

/// Describes an operation as a tool, named with `_` in place of the dot.
pub(super) fn spec(name: &str) -> Option<ToolSpec> {
    let (name, description, inputs) = ENTRIES.iter().find(|(known, ..)| *known == name)?;
    let required = inputs.iter().filter_map(|(input, ..)| input.strip_suffix('!'));
    let required: Vec<&str> = required.collect();
    let properties: Map<String, Value> = inputs.iter().map(property).collect();
    let tool = name.split_once('.').map_or(*name, |(_, tool)| tool);
    Some(ToolSpec {
        name: name.replace('.', "_"),
        description: (*description).to_owned(),
        input_schema: json!({
            "type": "object", "properties": properties, "required": required,
        }),
        provider: "builtin".to_owned(),
        is_read_only: tool.starts_with("get_") || tool.starts_with("list_"),
    })
}

fn property((name, kind, description): &(&str, &str, &str)) -> (String, Value) {
    let mut schema = json!({ "description": description });
    match *kind {
        "any" => {}
        // What a list holds must be said: some providers refuse a list that holds anything.
        "array" if *name == "operations!" => {
            schema["type"] = json!("array");
            schema["items"] = json!({ "type": "object" });
        }
        "array" => {
            schema["type"] = json!("array");
            schema["items"] = json!({ "type": "string" });
        }
        kind => schema["type"] = json!(kind),
    }
    (name.trim_end_matches('!').to_owned(), schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_can_be_described_as_a_tool() {
        for name in OPERATIONS {
            let spec = spec(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(spec.name, name.replace('.', "_"));
            assert!(spec.input_schema["required"].as_array().is_some_and(|list| !list.is_empty()));
            assert!(!spec.input_schema.to_string().contains('!'), "{name}");
        }
        let listed: Vec<&str> = NAMESPACES.into_iter().flat_map(names_of).collect();
        assert_eq!(listed, OPERATIONS);
    }
}
