//! Tables of every event type's payload, made from the JSON Schema of a line.
//!
//! Reads what the schema says and adds nothing: a field without a description gets an empty cell,
//! and the place to mend that is the doc comment on the field.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Renders a section per payload in the order of `types`, then one per object inside them.
pub(crate) fn render(schema: &Value, types: &[&str]) -> String {
    let tables = Tables { schema };
    let mut out = String::from("An optional field may be absent or `null`.\n");
    for group in tables.groups(types) {
        out.push_str(&tables.section("###", &group.heading(), group.payload));
    }
    for name in tables.inner_objects(types) {
        let object = &schema["$defs"][&name];
        out.push_str(&tables.section("###", &format!("Object `{name}`"), Some(object)));
    }
    out
}

struct Tables<'a> {
    schema: &'a Value,
}

/// Types that share one payload.
struct Group<'a> {
    types: Vec<&'a str>,
    payload: Option<&'a Value>,
}

impl Group<'_> {
    fn heading(&self) -> String {
        self.types.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ")
    }
}

impl<'a> Tables<'a> {
    fn groups<'b>(&'b self, types: &[&'b str]) -> Vec<Group<'b>> {
        let mut groups: Vec<Group<'b>> = Vec::new();
        for kind in types {
            let payload = self.payload_of(kind);
            match groups.iter_mut().find(|group| group.payload == payload) {
                Some(group) => group.types.push(kind),
                None => groups.push(Group { types: vec![kind], payload }),
            }
        }
        groups
    }

    /// Finds the payload of a type: in a branch that names the type, or in an `if` that does.
    fn payload_of(&self, kind: &str) -> Option<&'a Value> {
        let branches = ["oneOf", "anyOf", "allOf"].into_iter();
        let mut branches = branches.filter_map(|word| self.schema[word].as_array()).flatten();
        branches.find_map(|branch| {
            let (condition, consequence) = match branch.get("if") {
                Some(condition) => (condition, &branch["then"]),
                None => (branch, branch),
            };
            let word = &condition["properties"]["type"];
            let words = word["enum"].as_array().into_iter().flatten().chain(word.get("const"));
            let names_kind = words.into_iter().any(|word| word == kind);
            let payload = consequence["properties"].get("payload").filter(|_| names_kind)?;
            Some(self.resolve(payload))
        })
    }

    /// Follows a reference, and out of several alternatives takes the first object.
    fn resolve(&self, node: &'a Value) -> &'a Value {
        if let Some(name) = reference(node) {
            return &self.schema["$defs"][name];
        }
        let alternatives = alternatives(node).map(|alternative| self.resolve(alternative));
        alternatives.into_iter().find(|node| node.get("properties").is_some()).unwrap_or(node)
    }

    fn section(&self, level: &str, heading: &str, object: Option<&Value>) -> String {
        let mut out = format!("\n{level} {heading}\n\n");
        let description = object.map(description).unwrap_or_default();
        // "Payload of `a` and `b`." only says the heading again.
        if !description.is_empty()
            && (!description.starts_with("Payload of ") || description.contains(": "))
        {
            out.push_str(&format!("{description}\n\n"));
        }
        let fields = object.and_then(|object| object["properties"].as_object());
        match fields.filter(|fields| !fields.is_empty()) {
            Some(fields) => out.push_str(&self.table(fields, required(object))),
            None => out.push_str("An open list of facts: any JSON object.\n"),
        }
        out
    }

    fn table(&self, fields: &Map<String, Value>, required: BTreeSet<&str>) -> String {
        let mut out = String::from("| field | | JSON type | meaning |\n|---|---|---|---|\n");
        let is_optional = |name: &String| !required.contains(name.as_str());
        let mut fields: Vec<_> = fields.iter().collect();
        fields.sort_by_key(|(name, _)| is_optional(name));
        for (name, node) in fields {
            let (presence, null) = match is_optional(name) {
                false => ("required", Null::Shown),
                true => ("optional", Null::Understood),
            };
            let json_type = cell(&self.json_type(node, null));
            let meaning = cell(&description(node));
            out.push_str(&format!("| `{name}` | {presence} | {json_type} | {meaning} |\n"));
        }
        out
    }

    /// Says in a few words what JSON may stand there.
    fn json_type(&self, node: &Value, null: Null) -> String {
        if let Some(name) = reference(node) {
            let target = &self.schema["$defs"][name];
            return match target.get("properties") {
                Some(_) => format!("[{name}](#object-{})", name.to_lowercase()),
                None => self.json_type(target, null),
            };
        }
        if let Some(words) = node["enum"].as_array() {
            let words = words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`"));
            return words.collect::<Vec<_>>().join(", ");
        }
        if let Some(word) = node.get("const") {
            return format!("`{word}`");
        }
        let mut names: Vec<String> =
            alternatives(node).map(|node| self.json_type(node, Null::Shown)).collect();
        match &node["type"] {
            Value::String(name) => names.push(self.plain_type(node, name)),
            Value::Array(several) => {
                let several = several.iter().filter_map(Value::as_str);
                names.extend(several.map(|name| self.plain_type(node, name)));
            }
            _ => {}
        }
        names.retain(|name| null == Null::Shown || name != "null");
        names.dedup();
        if names.is_empty() { "any".to_owned() } else { names.join(" or ") }
    }

    fn plain_type(&self, node: &Value, name: &str) -> String {
        match (name, node.get("items"), node.get("additionalProperties")) {
            ("array", Some(items), _) => format!("array of {}", self.json_type(items, Null::Shown)),
            ("object", _, Some(values @ Value::Object(_))) => {
                format!("object of {}", self.json_type(values, Null::Shown))
            }
            ("string", ..) if node["format"] == "date-time" => "RFC 3339 time".to_owned(),
            _ => name.to_owned(),
        }
    }

    /// Returns the names of the objects that payloads refer to, directly or through others.
    fn inner_objects(&self, types: &[&str]) -> BTreeSet<String> {
        let payloads = types.iter().filter_map(|kind| self.payload_of(kind));
        let mut waiting: Vec<&Value> = payloads.collect();
        let mut found = BTreeSet::new();
        while let Some(node) = waiting.pop() {
            if let Some(name) = reference(node) {
                let target = &self.schema["$defs"][name];
                if target.get("properties").is_some() && found.insert(name.to_owned()) {
                    waiting.push(target);
                }
            }
            match node {
                Value::Object(fields) => waiting.extend(fields.values()),
                Value::Array(items) => waiting.extend(items),
                _ => {}
            }
        }
        found
    }
}

/// Whether `null` is listed among what may stand somewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Null {
    Shown,
    Understood,
}

fn reference(node: &Value) -> Option<&str> {
    node["$ref"].as_str()?.strip_prefix("#/$defs/")
}

fn alternatives(node: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["anyOf", "oneOf", "allOf"].into_iter();
    lists.filter_map(|word| node[word].as_array()).flatten()
}

fn required(object: Option<&Value>) -> BTreeSet<&str> {
    let names = object.and_then(|object| object["required"].as_array()).into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// Returns the doc comment on one line, without the brackets of links into the Rust docs.
fn description(node: &Value) -> String {
    let text = node["description"].as_str().unwrap_or_default();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("[`", "`").replace("`]", "`")
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        let branch = |kinds: Value, payload: Value| {
            json!({
                "if": { "properties": { "type": kinds } },
                "then": { "properties": { "payload": payload } },
            })
        };
        json!({
            "allOf": [
                branch(json!({ "const": "a.started" }), json!({ "$ref": "#/$defs/A" })),
                branch(
                    json!({ "enum": ["b", "c"] }),
                    json!({ "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/B" }] }),
                ),
            ],
            "$defs": {
                "A": {
                    "description": "Begins.",
                    "properties": {
                        "agent": { "anyOf": [{ "$ref": "#/$defs/Agent" }, { "type": "null" }] },
                        "name": { "type": ["string", "null"], "description": "This\n| [`that`]." },
                    },
                    "required": ["name"],
                },
                "Agent": { "description": "Payload of nothing.", "properties": { "model": { "$ref": "#/$defs/Word" } } },
                "Word": { "type": "string", "enum": ["x", "y"] },
                "B": { "properties": {
                    "list": { "type": "array", "items": { "$ref": "#/$defs/Agent" } },
                    "map": { "type": "object", "additionalProperties": { "type": "integer" } },
                    "free": true,
                }},
            },
        })
    }

    #[test]
    fn every_type_gets_a_table_and_every_inner_object_one_more() {
        let expected = "\
An optional field may be absent or `null`.

### `a.started`

Begins.

| field | | JSON type | meaning |
|---|---|---|---|
| `name` | required | string or null | This \\| `that`. |
| `agent` | optional | [Agent](#object-agent) |  |

### `b`, `c`

| field | | JSON type | meaning |
|---|---|---|---|
| `free` | optional | any |  |
| `list` | optional | array of [Agent](#object-agent) |  |
| `map` | optional | object of integer |  |

### `d`

An open list of facts: any JSON object.

### Object `Agent`

| field | | JSON type | meaning |
|---|---|---|---|
| `model` | optional | `x`, `y` |  |
";
        assert_eq!(render(&schema(), &["a.started", "b", "c", "d"]), expected);
    }
}
