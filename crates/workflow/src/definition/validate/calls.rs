//! Whether the workflows that are called are there, and none of them comes back to its caller.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::library::Library;
use super::super::parse::{Call, Notes};
use super::super::problem::{Problem, Problems};
use super::super::yaml::{self, Content, Node};
use super::Workflow;

/// How many workflows may be inside of each other.
const MAX_DEPTH: usize = 10;

pub(super) fn check(
    workflow: &Workflow,
    notes: &Notes,
    library: &dyn Library,
    problems: &mut Problems,
) {
    let own = (library.identity(&workflow.file), workflow.name.clone());
    let mut walk = Walk { library, chain: vec![own], heights: BTreeMap::new() };
    for call in &notes.calls {
        match walk.follow(&call.workflow, &workflow.file) {
            Ok(_) => check_given(workflow, call, library, problems),
            Err(found) => problems.push(found.at(call)),
        }
        walk.chain.truncate(1);
    }
}

/// What is wrong with a call, before it has a place.
struct Found {
    message: String,
    expected: Option<String>,
    hint: Option<String>,
}

impl Found {
    fn at(self, call: &Call) -> Problem {
        let problem = Problem::error(&call.place, self.message).hint(self.hint);
        match self.expected {
            Some(expected) => problem.expected(expected),
            None => problem,
        }
    }
}

/// A walk from call to call.
struct Walk<'l> {
    library: &'l dyn Library,
    /// The workflows that are inside of each other here, with the names they are called by.
    chain: Vec<(PathBuf, String)>,
    /// How many calls deep each workflow goes that was walked to its end.
    heights: BTreeMap<PathBuf, usize>,
}

impl Walk<'_> {
    /// Returns how many calls deep the called workflow goes, itself counted.
    fn follow(&mut self, name: &str, caller: &Path) -> Result<usize, Found> {
        let document = self.library.workflow(name, caller).map_err(|missing| Found {
            message: match &missing.cause {
                Some(cause) => format!("{}workflow `{name}` cannot be read: {cause}", self.by()),
                None => format!("{}there is no workflow `{name}`", self.by()),
            },
            expected: (!missing.places.is_empty()).then(|| format!("one of {}", missing.looked())),
            hint: missing.hint(),
        })?;
        let identity = self.library.identity(&document.path);
        if self.chain.iter().any(|(path, _)| *path == identity) {
            let message = format!("workflows call each other in a circle: {}", self.told(name));
            let expected = "a workflow that does not come back to its caller".to_owned();
            return Err(Found { message, expected: Some(expected), hint: None });
        }
        let height = self.heights.get(&identity).copied();
        if self.chain.len() + height.unwrap_or(1) > MAX_DEPTH {
            let message = format!("workflows call each other too deeply: {}", self.told(name));
            let expected = format!("at most {MAX_DEPTH} inside of each other");
            return Err(Found { message, expected: Some(expected), hint: None });
        }
        if let Some(height) = height {
            return Ok(height);
        }
        let root = yaml::read(&document.path, &document.text).map_err(|problems| Found {
            message: format!(
                "{}workflow `{name}` cannot be used: {}",
                self.by(),
                problems.iter().map(ToString::to_string).next().unwrap_or_default(),
            ),
            expected: None,
            hint: None,
        })?;
        self.chain.push((identity.clone(), name.to_owned()));
        let mut height = 0;
        for called in called_by(&root) {
            height = height.max(self.follow(&called, &document.path)?);
        }
        self.chain.pop();
        self.heights.insert(identity, height + 1);
        Ok(height + 1)
    }

    fn told(&self, name: &str) -> String {
        let names = self.chain.iter().map(|(_, name)| name.as_str()).chain([name]);
        names.collect::<Vec<_>>().join(" → ")
    }

    /// Says who calls, when it is not the workflow being checked.
    fn by(&self) -> String {
        match self.chain.last() {
            Some((_, name)) if self.chain.len() > 1 => format!("in `{name}`: "),
            _ => String::new(),
        }
    }
}

/// Warns of what a called workflow needs and is not given.
fn check_given(workflow: &Workflow, call: &Call, library: &dyn Library, problems: &mut Problems) {
    let Ok(document) = library.workflow(&call.workflow, &workflow.file) else { return };
    let Ok(root) = yaml::read(&document.path, &document.text) else { return };
    for needed in needed_by(&root).into_iter().filter(|name| !call.inputs.contains(name)) {
        let message = format!("workflow `{}` needs the input `{needed}`", call.workflow);
        let problem = Problem::warning(&call.place, message);
        problems.push(problem.expected(format!("`inputs: {{{needed}: …}}`")));
    }
}

/// Lists the inputs without which a workflow cannot begin.
fn needed_by(root: &Node) -> Vec<String> {
    let is_needed = |input: &Node| {
        let required = input.get("required").and_then(|node| node.to_value().as_bool());
        required == Some(true) && input.get("default").is_none_or(Node::is_null)
    };
    match root.get("inputs").map(|node| &node.content) {
        Some(Content::Sequence(items)) => items
            .iter()
            .filter(|item| is_needed(item))
            .filter_map(|item| Some(item.get("name")?.scalar()?.text.clone()))
            .collect(),
        Some(Content::Mapping(entries)) => entries
            .iter()
            .filter(|entry| is_needed(&entry.value))
            .map(|entry| entry.key.clone())
            .collect(),
        _ => Vec::new(),
    }
}

/// Lists the workflows that a file calls by names that are known before the run.
fn called_by(root: &Node) -> Vec<String> {
    let text = |node: &Node, key: &str| {
        node.get(key).and_then(Node::scalar).map(|scalar| scalar.text.clone())
    };
    let states = root.get("states").and_then(Node::mapping).unwrap_or_default();
    states
        .iter()
        .map(|entry| &entry.value)
        .filter(|step| text(step, "type").as_deref() == Some("call_workflow"))
        .filter_map(|step| text(step, "workflow"))
        .filter(|name| !name.contains("{{"))
        .collect()
}
