//! Parameters into a template: `{{parameters.x}}` becomes what `x` was given, as text.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::super::problem::{Problem, Problems};
use super::super::suggest::{did_you_mean, one_of};
use super::super::yaml::{Content, Entry, Node, Scalar};
use super::file::TemplateFile;

/// Parameters by name; nothing for one that is optional and was not given.
pub(super) type Bound<'n> = BTreeMap<&'n str, Option<&'n Node>>;

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{\{-?\s*\.?parameters\.([A-Za-z_][A-Za-z0-9_-]*)\s*-?\}\}")
        .expect("the pattern is a constant")
});

/// Works out what each parameter is for a step that uses the template.
pub(super) fn bind<'n>(
    problems: &mut Problems,
    name: &str,
    template: &TemplateFile<'n>,
    step: &'n Node,
) -> Option<Bound<'n>> {
    let given = step.get("parameters").filter(|node| !node.is_null());
    let entries = given.and_then(Node::mapping).unwrap_or_default();
    let mut sound = true;
    if let Some(node) = given.filter(|node| node.mapping().is_none()) {
        let message = format!("`parameters` is {}", node.describe());
        problems.push(Problem::error(&node.place, message).expected("a mapping"));
        sound = false;
    }
    let known = || template.parameters.iter().map(|parameter| parameter.name);
    for entry in entries.iter().filter(|entry| !known().any(|name| name == entry.key)) {
        let message = format!("template `{name}` has no parameter `{}`", entry.key);
        let problem = Problem::error(&entry.key_place, message).expected(one_of(known()));
        problems.push(problem.hint(did_you_mean(&entry.key, known())));
        sound = false;
    }
    let mut bound = Bound::new();
    for parameter in &template.parameters {
        let value = entries
            .iter()
            .find(|entry| entry.key == parameter.name && !entry.value.is_null())
            .map(|entry| &entry.value)
            .or(parameter.default);
        if value.is_none() && parameter.required {
            let place = given.map_or(&step.place, |node| &node.place);
            let message = format!("template `{name}` needs the parameter `{}`", parameter.name);
            let expected = format!("`parameters: {{{}: …}}`", parameter.name);
            problems.push(Problem::error(place, message).expected(expected));
            sound = false;
        }
        bound.insert(parameter.name, value);
    }
    sound.then_some(bound)
}

/// Returns parameters to check a template with when nobody uses it.
pub(super) fn stand_ins<'n>(template: &TemplateFile<'n>) -> Bound<'n> {
    template.parameters.iter().map(|parameter| (parameter.name, parameter.default)).collect()
}

/// Returns a part of a template with its parameters filled in.
pub(super) fn fill(problems: &mut Problems, node: &Node, bound: &Bound<'_>) -> Node {
    let content = match &node.content {
        Content::Scalar(scalar) => return fill_scalar(problems, node, scalar, bound),
        Content::Sequence(items) => {
            Content::Sequence(items.iter().map(|item| fill(problems, item, bound)).collect())
        }
        Content::Mapping(entries) => Content::Mapping(
            entries
                .iter()
                .map(|entry| Entry {
                    key: entry.key.clone(),
                    key_place: entry.key_place.clone(),
                    value: fill(problems, &entry.value, bound),
                })
                .collect(),
        ),
    };
    Node { place: node.place.clone(), content }
}

fn fill_scalar(problems: &mut Problems, node: &Node, scalar: &Scalar, bound: &Bound<'_>) -> Node {
    for found in PLACEHOLDER.captures_iter(&scalar.text) {
        if !bound.contains_key(&found[1]) {
            let place = node.place_of(found.get(0).map_or(0, |whole| whole.start()));
            let known = || bound.keys().copied();
            let message = format!("the template has no parameter `{}`", &found[1]);
            let problem = Problem::error(&place, message).expected(one_of(known()));
            problems.push(problem.hint(did_you_mean(&found[1], known())));
        }
    }
    // A text that is nothing but a parameter becomes what the parameter is, list or not.
    if let Some(found) = PLACEHOLDER.captures(&scalar.text)
        && found[0].len() == scalar.text.len()
        && let Some(Some(value)) = bound.get(&found[1])
    {
        return Node { place: node.place.clone(), content: value.content.clone() };
    }
    let text = PLACEHOLDER.replace_all(&scalar.text, |found: &Captures<'_>| {
        bound.get(&found[1]).copied().flatten().map(as_text).unwrap_or_default()
    });
    if text == scalar.text {
        return node.clone();
    }
    let made = Scalar::made(text.into_owned(), scalar.style);
    Node { place: node.place.clone(), content: Content::Scalar(made) }
}

fn as_text(node: &Node) -> String {
    match node.scalar() {
        Some(scalar) => scalar.text.clone(),
        None => node.to_value().to_string(),
    }
}
