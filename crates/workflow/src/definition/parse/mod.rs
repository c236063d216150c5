//! Tree → plan: reads what a workflow file says, and notes everything that is wrong with it.
//!
//! One file per kind of step and per part. Whether names lead anywhere is not asked here: that
//! takes the whole file, and is `validate`.

mod agent;
mod call_workflow;
mod command;
mod custom;
mod deliverables;
mod duration;
mod fields;
mod flow;
mod hook;
mod input;
mod loops;
mod mcp_proxy;
mod misplaced;
mod notes;
mod operation;
mod output;
mod parallel;
mod plugins;
mod reader;
mod retry;
mod size;
mod step;
mod terminal;
mod values;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::problem::{Place, Problem};
use super::template::Expander;
use super::yaml::{Content, Entry, Node, Scalar};
use super::{Step, Workflow, WorkflowHooks};
use fields::Fields;
pub(crate) use notes::{Call, Language, Moment, Notes, Role, Target, Text};
pub(crate) use reader::Reader;

/// Reads a workflow. What it returns is to be used only if the reader found no errors.
pub(crate) fn read(reader: &mut Reader, root: &Node, expander: &Expander<'_>) -> Workflow {
    let mut workflow = empty(&root.place.file);
    let Some(mut fields) = Fields::of(reader, "the workflow", root) else { return workflow };
    workflow.name = fields.text(reader, "name").unwrap_or_default();
    if !fields.has("name") || root.get("name").and_then(Node::scalar).is_some_and(is_blank) {
        fields.missing(reader, "name", "the name of the workflow");
    }
    workflow.version = fields.text(reader, "version");
    workflow.description = fields.text(reader, "description");
    workflow.author = fields.text(reader, "author");
    workflow.tags = read_words(reader, &mut fields, "tags");
    workflow.env = read_words(reader, &mut fields, "env");
    if let Some(node) = fields.take("inputs") {
        workflow.inputs = input::read_all(reader, node);
    }
    if let Some(node) = fields.take("outputs") {
        workflow.outputs = output::read_all(reader, node);
    }
    if let Some(node) = fields.take("deliverables") {
        workflow.deliverables = deliverables::read(reader, node);
    }
    if let Some(node) = fields.take("hooks") {
        workflow.hooks = hook::read_workflow_hooks(reader, node);
    }
    if let Some(node) = fields.take("plugins") {
        workflow.plugins = plugins::read_all(reader, node);
        reader.plugins.extend(workflow.plugins.keys().cloned());
    }
    match fields.take("states") {
        Some(node) => workflow.steps = read_states(reader, node, expander),
        None => fields.missing(reader, "states", "a mapping with `initial` and the steps"),
    }
    if let Some((initial, _)) = &reader.notes.initial {
        workflow.initial.clone_from(initial);
    }
    fields.finish(reader);
    workflow
}

fn empty(file: &Path) -> Workflow {
    Workflow {
        name: String::new(),
        version: None,
        description: None,
        author: None,
        tags: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        deliverables: Vec::new(),
        env: Vec::new(),
        plugins: BTreeMap::new(),
        hooks: WorkflowHooks::default(),
        initial: String::new(),
        steps: BTreeMap::new(),
        file: file.to_owned(),
        sha256: String::new(),
        changes: BTreeMap::new(),
    }
}

fn is_blank(scalar: &Scalar) -> bool {
    scalar.text.trim().is_empty()
}

fn read_words(reader: &mut Reader, fields: &mut Fields<'_>, key: &'static str) -> Vec<String> {
    let names = fields.names(reader, key).unwrap_or_default();
    names.into_iter().map(|(name, _)| name).collect()
}

fn read_states(
    reader: &mut Reader,
    node: &Node,
    expander: &Expander<'_>,
) -> BTreeMap<String, Arc<Step>> {
    let mut steps = BTreeMap::new();
    let Content::Mapping(entries) = &node.content else {
        let message = format!("`states` is {}", node.describe());
        reader.error(&node.place, message, "a mapping with `initial` and the steps");
        return steps;
    };
    if !entries.iter().any(|entry| entry.key == "initial") {
        let problem = Problem::error(&node.place, "`states` has no `initial`");
        let first = entries.first().map(|entry| format!("for example `initial: {}`", entry.key));
        reader.problems.push(problem.expected("the name of the first step").hint(first));
    }
    for entry in entries {
        if entry.key == "initial" {
            read_initial(reader, entry);
            continue;
        }
        check_name(reader, entry);
        reader.notes.steps.insert(entry.key.clone(), entry.key_place.clone());
        reader.step = Some(entry.key.clone());
        if let Some(node) = expander.expand(&mut reader.problems, &entry.value)
            && let Some(step) = step::read(reader, entry, &node)
        {
            steps.insert(entry.key.clone(), Arc::new(step));
        }
        reader.step = None;
    }
    steps
}

fn read_initial(reader: &mut Reader, entry: &Entry) {
    let node = &entry.value;
    match node.scalar().filter(|scalar| !scalar.value.is_null()) {
        Some(scalar) => reader.notes.initial = Some((scalar.text.clone(), node.place.clone())),
        None => {
            let message = format!("`initial` is {}", node.describe());
            reader.error(&node.place, message, "the name of the first step");
        }
    }
}

/// A name with these in it would break the paths by which a transcript names steps.
fn check_name(reader: &mut Reader, entry: &Entry) {
    let bad = |c: char| matches!(c, '.' | '[' | ']' | '/') || c.is_whitespace() || c.is_control();
    let found = entry.key.chars().find(|c| bad(*c));
    let place: &Place = &entry.key_place;
    if let Some(found) = found {
        let message = format!("the step name {:?} has {found:?} in it", entry.key);
        let expected = "a name without `.`, `/`, `[`, `]` and spaces";
        let better: String = entry.key.chars().map(|c| if bad(c) { '_' } else { c }).collect();
        let problem = Problem::error(place, message).expected(expected);
        reader.problems.push(problem.hint(format!("for example `{better}`")));
    } else if entry.key.is_empty() {
        reader.error(place, "a step has no name", "a name before the `:`");
    }
}
