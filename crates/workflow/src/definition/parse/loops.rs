//! The two loops: `for_each` and `while`.

use super::fields::Fields;
use super::flow::{blank, read_target};
use super::notes::{Moment, Role};
use super::reader::Reader;
use super::values;
use crate::definition::yaml::{Content, Node};
use crate::definition::{ForEachStep, Items, IterationLimit, LoopStep, StepKind, WhileStep};
use crate::language::Expression;

/// How many iterations there are at most when the file does not say.
const DEFAULT_ITERATIONS: u64 = 100;

/// Reads what a `for_each` step has of its own.
pub(super) fn read_for_each(reader: &mut Reader, fields: &mut Fields<'_>) -> StepKind {
    let items = fields.take("items").and_then(|node| read_items(reader, node));
    if !fields.has("items") {
        fields.missing(reader, "items", "a list, or a template that gives one");
    }
    let items = items.unwrap_or_else(|| Items::Template(blank()));
    StepKind::ForEach(ForEachStep { items, each: read_loop(reader, fields) })
}

/// Reads what a `while` step has of its own.
pub(super) fn read_while(reader: &mut Reader, fields: &mut Fields<'_>) -> StepKind {
    let condition = fields.expression(reader, "while");
    if !fields.has("while") {
        fields.missing(reader, "while", "an expression such as `states.check.ExitCode == 0`");
    }
    let condition = condition
        .unwrap_or_else(|| Expression::parse("false").expect("a literal is an expression"));
    StepKind::While(WhileStep { condition, each: read_loop(reader, fields) })
}

fn read_items(reader: &mut Reader, node: &Node) -> Option<Items> {
    match &node.content {
        Content::Sequence(items) => {
            let items = items.iter().filter_map(|item| values::read(reader, "`items`", item));
            Some(Items::List(items.collect()))
        }
        _ => reader.template("`items`", node).map(Items::Template),
    }
}

fn read_loop(reader: &mut Reader, fields: &mut Fields<'_>) -> LoopStep {
    let body = fields.names(reader, "body");
    let is_list = fields.take("body").is_none_or(|node| node.scalar().is_none());
    if is_list && body.as_ref().is_none_or(Vec::is_empty) {
        fields.missing(reader, "body", "a list of step names");
    }
    let body = body.unwrap_or_default();
    for (index, (name, place)) in body.iter().enumerate() {
        reader.target(name, place, Role::Body);
        if body[..index].iter().any(|(earlier, _)| earlier == name) {
            reader.error(place, format!("body step `{name}` stands twice"), "each body step once");
        }
    }
    let max_iterations = fields.take("max_iterations").and_then(|node| read_limit(reader, node));
    reader.moment = Moment::After;
    let break_when = fields.expression(reader, "break_when");
    reader.moment = Moment::Before;
    LoopStep {
        body: body.into_iter().map(|(name, _)| name).collect(),
        max_iterations: max_iterations.unwrap_or(IterationLimit::Count(DEFAULT_ITERATIONS)),
        break_when,
        on_complete: read_target(reader, fields, "on_complete"),
    }
}

fn read_limit(reader: &mut Reader, node: &Node) -> Option<IterationLimit> {
    let what = "`max_iterations`";
    let scalar = node.scalar();
    if let Some(scalar) = scalar.filter(|scalar| scalar.text.trim().parse::<i64>().is_err()) {
        // Without a template in it, it must be arithmetic as it stands.
        if !scalar.text.contains("{{") {
            reader.expression(what, node)?;
        }
        return reader.template(what, node).map(IterationLimit::Template);
    }
    let count = reader.whole(what, node, 1, i64::MAX)?;
    u64::try_from(count).ok().map(IterationLimit::Count)
}
