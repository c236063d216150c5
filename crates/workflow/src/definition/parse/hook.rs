//! Hooks: lists of `{log: …}` and `{command: …}`.

use super::fields::Fields;
use super::notes::Moment;
use super::reader::Reader;
use crate::definition::problem::Problem;
use crate::definition::yaml::{Content, Node};
use crate::definition::{Hook, StepHooks, WorkflowHooks};

const EXPECTED: &str = "`log: …` or `command: …`";

/// Reads the hooks of a workflow.
pub(super) fn read_workflow_hooks(reader: &mut Reader, node: &Node) -> WorkflowHooks {
    let Some(mut fields) = Fields::of(reader, "the hooks of the workflow", node) else {
        return WorkflowHooks::default();
    };
    let hooks = WorkflowHooks {
        start: read_list(reader, fields.take("workflow_start")),
        end: read_list(reader, fields.take("workflow_end")),
        error: read_list(reader, fields.take("workflow_error")),
        cancel: read_list(reader, fields.take("workflow_cancel")),
    };
    fields.finish(reader);
    hooks
}

/// Reads the hooks of a step.
pub(super) fn read_step_hooks(reader: &mut Reader, node: &Node) -> StepHooks {
    let Some(mut fields) = Fields::of(reader, "the hooks of a step", node) else {
        return StepHooks::default();
    };
    let pre = read_list(reader, fields.take("pre"));
    reader.moment = Moment::After;
    let post = read_list(reader, fields.take("post"));
    reader.moment = Moment::Before;
    fields.finish(reader);
    StepHooks { pre, post }
}

fn read_list(reader: &mut Reader, node: Option<&Node>) -> Vec<Hook> {
    let Some(node) = node else { return Vec::new() };
    match &node.content {
        Content::Sequence(items) => {
            items.iter().filter_map(|item| read_one(reader, item)).collect()
        }
        // One hook needs no list around it.
        Content::Mapping(_) => read_one(reader, node).into_iter().collect(),
        Content::Scalar(_) => {
            let message = format!("hooks are {}", node.describe());
            reader.error(&node.place, message, "a list of `{log: …}` and `{command: …}`");
            Vec::new()
        }
    }
}

fn read_one(reader: &mut Reader, node: &Node) -> Option<Hook> {
    if let Some(scalar) = node.scalar() {
        let problem = Problem::error(&node.place, format!("a hook is {}", node.describe()));
        let hint = format!("write `command: {}` to run it", scalar.text);
        reader.problems.push(problem.expected(EXPECTED).hint(hint));
        return None;
    }
    let mut fields = Fields::of(reader, "a hook", node)?;
    let (log, command) = (fields.take("log"), fields.take("command"));
    let hook = match (log, command) {
        (Some(log), None) => reader.template("`log`", log).map(Hook::Log),
        (None, Some(command)) => reader.template("`command`", command).map(Hook::Command),
        (Some(_), Some(_)) => {
            reader.error(&node.place, "a hook has both `log` and `command`", "one of them");
            None
        }
        (None, None) => {
            reader.error(&node.place, "a hook has neither `log` nor `command`", EXPECTED);
            None
        }
    };
    fields.finish(reader);
    hook
}
