//! Where a run goes from a step: `on_success`, `on_failure`, `transitions`.

use super::fields::Fields;
use super::notes::{Moment, Role};
use super::reader::Reader;
use crate::definition::yaml::{Content, Node};
use crate::definition::{FailureTarget, Flow, Transition};
use crate::language::Template;

/// Reads the ways on.
pub(super) fn read(reader: &mut Reader, fields: &mut Fields<'_>) -> Flow {
    reader.moment = Moment::After;
    let on_success = read_target(reader, fields, "on_success");
    let on_failure = fields.take("on_failure").and_then(|node| read_failure(reader, node));
    let transitions =
        fields.take("transitions").map(|node| read_transitions(reader, node)).unwrap_or_default();
    reader.moment = Moment::Before;
    Flow { transitions, on_success, on_failure }
}

/// Reads the name of a step that the run goes to.
pub(super) fn read_target(
    reader: &mut Reader,
    fields: &mut Fields<'_>,
    key: &'static str,
) -> Option<String> {
    let node = fields.take(key)?;
    let name = reader.text(&format!("`{key}`"), node)?;
    reader.target(&name, &node.place, Role::Next(key));
    Some(name)
}

fn read_failure(reader: &mut Reader, node: &Node) -> Option<FailureTarget> {
    if let Some(scalar) = node.scalar() {
        reader.target(&scalar.text, &node.place, Role::Next("on_failure"));
        return Some(FailureTarget::Step(scalar.text.clone()));
    }
    if node.mapping().is_none() {
        let message = format!("`on_failure` is {}", node.describe());
        reader.error(&node.place, message, "the name of a step, or `{message: …, status: …}`");
        return None;
    }
    let mut fields = Fields::of(reader, "`on_failure`", node)?;
    if !fields.has("message") {
        fields.missing(reader, "message", "what to say");
    }
    let message = fields.template(reader, "message");
    let status = fields.whole(reader, "status", 0, 255).unwrap_or(1);
    fields.finish(reader);
    let status = u8::try_from(status).unwrap_or(1);
    Some(FailureTarget::End { message: message.unwrap_or_else(blank), status })
}

fn read_transitions(reader: &mut Reader, node: &Node) -> Vec<Transition> {
    let Content::Sequence(items) = &node.content else {
        let message = format!("`transitions` is {}", node.describe());
        reader.error(&node.place, message, "a list of `{when: …, goto: …}`");
        return Vec::new();
    };
    items.iter().filter_map(|item| read_transition(reader, item)).collect()
}

fn read_transition(reader: &mut Reader, node: &Node) -> Option<Transition> {
    let mut fields = Fields::of(reader, "a transition", node)?;
    let given = fields.has("when");
    let when = fields.expression(reader, "when");
    let goto = read_target(reader, &mut fields, "goto");
    if goto.is_none() {
        fields.missing(reader, "goto", "the name of a step");
    }
    fields.finish(reader);
    // A condition that could not be read must not become one that always holds.
    let usable = !given || when.is_some();
    goto.filter(|_| usable).map(|goto| Transition { when, goto })
}

/// Returns the template that says nothing, to go on with where one could not be read.
pub(super) fn blank() -> Template {
    Template::parse("").expect("a text without braces is a template")
}
