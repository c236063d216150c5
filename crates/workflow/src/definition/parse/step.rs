//! One step: what every kind has, and the list of kinds.

use std::collections::BTreeMap;

use super::fields::Fields;
use super::reader::Reader;
use super::{
    agent, call_workflow, command, custom, flow, hook, loops, operation, parallel, retry, terminal,
};
use crate::definition::problem::Problem;
use crate::definition::suggest::{did_you_mean, one_of};
use crate::definition::yaml::{Content, Entry, Node};
use crate::definition::{Step, StepKind};
use crate::language::Template;

type ReadKind = fn(&mut Reader, &mut Fields<'_>) -> StepKind;

/// The kinds: the word in the file, what a message calls it, and who reads it.
const KINDS: [(&str, &str, ReadKind); 9] = [
    ("step", "a command step", command::read),
    ("command", "a command step", command::read),
    ("agent", "an agent step", agent::read),
    ("operation", "an operation step", operation::read),
    ("parallel", "a parallel step", parallel::read),
    ("for_each", "a for_each step", loops::read_for_each),
    ("while", "a while step", loops::read_while),
    ("call_workflow", "a call_workflow step", call_workflow::read),
    ("terminal", "a terminal step", terminal::read),
];

/// Words that other languages have for kinds.
const OTHER_WORDS: [(&str, &str); 12] = [
    ("end", "terminal"),
    ("stop", "terminal"),
    ("final", "terminal"),
    ("shell", "step"),
    ("script", "step"),
    ("task", "step"),
    ("loop", "for_each"),
    ("foreach", "for_each"),
    ("workflow", "call_workflow"),
    ("subworkflow", "call_workflow"),
    ("llm", "agent"),
    ("prompt", "agent"),
];

/// Keys that give away which kind is meant when `type` is missing.
const TELLING: [(&str, &str); 9] = [
    ("command", "step"),
    ("script_file", "step"),
    ("provider", "agent"),
    ("prompt", "agent"),
    ("operation", "operation"),
    ("parallel", "parallel"),
    ("items", "for_each"),
    ("while", "while"),
    ("workflow", "call_workflow"),
];

/// Reads one step. A step whose kind is not known cannot be read any further.
///
/// `node` is what the entry's value became when its template was filled in.
pub(super) fn read(reader: &mut Reader, entry: &Entry, node: &Node) -> Option<Step> {
    let name = &entry.key;
    let mut fields = Fields::of(reader, &format!("step `{name}`"), node)?;
    fields.place = entry.key_place.clone();
    let kind = read_kind(reader, &mut fields)?;
    let step = Step {
        name: name.clone(),
        description: fields.text(reader, "description"),
        kind,
        timeout: fields.duration(reader, "timeout").filter(|timeout| !timeout.is_zero()),
        retry: fields.take("retry").and_then(|node| retry::read(reader, node)),
        continue_on_error: fields.flag(reader, "continue_on_error").unwrap_or(false),
        env: fields.take("env").map(|node| read_env(reader, node)).unwrap_or_default(),
        hooks: fields
            .take("hooks")
            .map(|node| hook::read_step_hooks(reader, node))
            .unwrap_or_default(),
        flow: flow::read(reader, &mut fields),
        line: entry.key_place.line,
    };
    fields.finish(reader);
    Some(step)
}

fn read_kind(reader: &mut Reader, fields: &mut Fields<'_>) -> Option<StepKind> {
    let Some(node) = fields.take("type") else {
        let problem = Problem::error(&fields.place, format!("{} has no `type`", fields.of));
        let meant = TELLING.iter().find(|(key, _)| fields.has(key));
        let hint = meant.map(|(key, kind)| format!("a step with `{key}` is `type: {kind}`"));
        reader.problems.push(problem.expected(known_types()).hint(hint));
        return None;
    };
    let word = reader.text("`type`", node)?;
    if let Some((_, what, read)) = KINDS.iter().find(|(known, ..)| *known == word) {
        fields.of = (*what).to_owned();
        return Some(read(reader, fields));
    }
    if custom::is_custom(&word) {
        fields.of = format!("a {word} step");
        reader.tool(&word, &format!("step type `{word}`"), &node.place);
        return Some(custom::read(reader, fields, &word));
    }
    let problem = Problem::error(&node.place, format!("there is no step type `{word}`"));
    let meant = OTHER_WORDS.iter().find(|(other, _)| *other == word);
    let hint = match meant {
        Some((_, kind)) => Some(format!("use `type: {kind}`")),
        None => did_you_mean(&word, KINDS.iter().map(|(known, ..)| *known)),
    };
    reader.problems.push(problem.expected(known_types()).hint(hint));
    None
}

fn known_types() -> String {
    one_of(KINDS.iter().map(|(known, ..)| *known).chain(["<plugin>.<type>"]))
}

/// Reads variables: a mapping, or a list of `NAME=value`.
fn read_env(reader: &mut Reader, node: &Node) -> BTreeMap<String, Template> {
    match &node.content {
        Content::Mapping(entries) => entries
            .iter()
            .filter_map(|entry| {
                let value = reader.template(&format!("`{}`", entry.key), &entry.value)?;
                Some((entry.key.clone(), value))
            })
            .collect(),
        Content::Sequence(items) => items
            .iter()
            .filter_map(|item| {
                // The template is the whole item, so that its places in the file stay right.
                let whole = reader.template("`env`", item)?;
                let Some((name, value)) = whole.source().split_once('=') else {
                    let message = format!("`env` holds {}", item.describe());
                    reader.error(&item.place, message, "`NAME=value`");
                    return None;
                };
                Template::parse(value).ok().map(|value| (name.to_owned(), value))
            })
            .collect(),
        Content::Scalar(_) => {
            let message = format!("`env` is {}", node.describe());
            let pair = node.scalar().and_then(|scalar| scalar.text.split_once('='));
            let hint = pair.map(|(name, value)| format!("write `{{{name}: {value}}}`"));
            let problem = Problem::error(&node.place, message);
            reader.problems.push(problem.expected("a mapping from names to values").hint(hint));
            BTreeMap::new()
        }
    }
}
