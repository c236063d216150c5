//! What a template file says: its name, its parameters, its states.

use super::super::problem::{Place, Problem, Problems};
use super::super::suggest::did_you_mean;
use super::super::yaml::{Content, Entry, Node};
use super::{Expander, fill};
use crate::definition::library::Library;

/// A template.
pub(super) struct TemplateFile<'n> {
    /// Its parameters.
    pub(super) parameters: Vec<Parameter<'n>>,
    states: &'n [Entry],
    first: &'n Node,
}

/// What a template can be given.
pub(super) struct Parameter<'n> {
    pub(super) name: &'n str,
    pub(super) required: bool,
    pub(super) default: Option<&'n Node>,
}

impl<'n> TemplateFile<'n> {
    /// Returns the state that a step becomes: the one named like the template, else the first.
    pub(super) fn state(&self, template: &str) -> &'n Node {
        let named = self.states.iter().find(|entry| entry.key == template);
        named.map_or(self.first, |entry| &entry.value)
    }
}

/// Tells whether a file is a template rather than a workflow.
pub(crate) fn is_template(root: &Node) -> bool {
    root.get("parameters").is_some() && root.get("states").is_some()
}

/// Checks a template file for itself, and returns how many states it has.
pub(crate) fn check(problems: &mut Problems, root: &Node, library: &dyn Library) -> usize {
    let own_name = root.get("name").and_then(Node::scalar).map(|scalar| scalar.text.clone());
    if own_name.is_none() {
        missing(problems, &root.place, "name", "the name of the template");
    }
    let Some(template) = read(problems, root) else { return 0 };
    let stand_ins = fill::stand_ins(&template);
    let expander = Expander::new(library);
    let mut steps = 0;
    for entry in template.states.iter().filter(|entry| entry.key != "initial") {
        steps += 1;
        let state = fill::fill(problems, &entry.value, &stand_ins);
        let mut chain: Vec<String> = own_name.iter().cloned().collect();
        expander.expand_within(problems, &state, &mut chain);
    }
    steps
}

/// Reads a template.
pub(super) fn read<'n>(problems: &mut Problems, root: &'n Node) -> Option<TemplateFile<'n>> {
    let parameters = match root.get("parameters") {
        Some(node) if !node.is_null() => read_parameters(problems, node),
        _ => Vec::new(),
    };
    let Some(states) = root.get("states").and_then(Node::mapping) else {
        missing(problems, &root.place, "states", "a mapping of states");
        return None;
    };
    if states.iter().all(|entry| entry.key == "initial") {
        missing(problems, &root.get("states")?.place, "state", "one under `states`");
        return None;
    }
    let first = first_state(problems, states)?;
    Some(TemplateFile { parameters, states, first })
}

/// Returns the state that `initial` names, or the first one when the template does not say.
fn first_state<'n>(problems: &mut Problems, states: &'n [Entry]) -> Option<&'n Node> {
    let initial = states.iter().find(|entry| entry.key == "initial");
    let named = initial.and_then(|entry| Some((entry, entry.value.scalar()?)));
    let Some((entry, name)) = named else {
        return states.iter().find(|entry| entry.key != "initial").map(|entry| &entry.value);
    };
    let state = states.iter().find(|entry| entry.key == name.text);
    if state.is_none() {
        let known = states.iter().map(|entry| entry.key.as_str());
        let message = format!("there is no state `{}`", name.text);
        let hint = did_you_mean(&name.text, known);
        problems.push(Problem::error(&entry.value.place, message).hint(hint));
    }
    state.map(|entry| &entry.value)
}

fn read_parameters<'n>(problems: &mut Problems, node: &'n Node) -> Vec<Parameter<'n>> {
    let flag = |node: &Node, key: &str| node.get(key).and_then(|node| node.to_value().as_bool());
    let parameter = |name: &'n str, node: &'n Node| Parameter {
        name,
        required: flag(node, "required").unwrap_or(false),
        default: node.get("default").filter(|default| !default.is_null()),
    };
    match &node.content {
        Content::Sequence(items) => items
            .iter()
            .filter_map(|item| match item.get("name").and_then(Node::scalar) {
                Some(name) => Some(parameter(&name.text, item)),
                None => {
                    missing(problems, &item.place, "name", "the name of the parameter");
                    None
                }
            })
            .collect(),
        Content::Mapping(entries) => {
            entries.iter().map(|entry| parameter(&entry.key, &entry.value)).collect()
        }
        Content::Scalar(_) => {
            let message = format!("`parameters` is {}", node.describe());
            problems.push(Problem::error(&node.place, message).expected("a list of parameters"));
            Vec::new()
        }
    }
}

fn missing(problems: &mut Problems, place: &Place, key: &str, expected: &str) {
    problems.push(Problem::error(place, format!("the template has no `{key}`")).expected(expected));
}
