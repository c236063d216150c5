//! Steps that run another workflow.

use std::collections::BTreeMap;

use super::fields::Fields;
use super::flow::blank;
use super::notes::Call;
use super::reader::Reader;
use super::values;
use crate::definition::problem::Problem;
use crate::definition::yaml::{Content, Node};
use crate::definition::{CallWorkflowStep, StepKind};

/// Reads what a `call_workflow` step has of its own.
pub(super) fn read(reader: &mut Reader, fields: &mut Fields<'_>) -> StepKind {
    let node = fields.take("workflow");
    if node.is_none() {
        if fields.has("call_workflow") {
            let problem = Problem::error(&fields.place, format!("{} has no `workflow`", fields.of));
            let hint = "what stands below `call_workflow` belongs into the step itself: \
                        `workflow: …`, `inputs: …`, `outputs: …`";
            let problem = problem.expected("the name or path of a workflow");
            reader.problems.push(problem.hint(hint.to_owned()));
        } else {
            fields.missing(reader, "workflow", "the name or path of a workflow");
        }
    }
    let workflow = node.and_then(|node| reader.template("`workflow`", node));
    let inputs = values::read_map(reader, fields, "inputs");
    if let (Some(node), Some(workflow)) = (node, &workflow)
        && workflow.is_literal()
    {
        reader.notes.calls.push(Call {
            workflow: workflow.source().to_owned(),
            place: node.place.clone(),
            inputs: inputs.keys().cloned().collect(),
        });
    }
    StepKind::CallWorkflow(CallWorkflowStep {
        workflow: workflow.unwrap_or_else(blank),
        inputs,
        outputs: fields.take("outputs").map(|node| read_outputs(reader, node)).unwrap_or_default(),
    })
}

/// Reads what is taken from the child: names under other names, or a list of names as they are.
fn read_outputs(reader: &mut Reader, node: &Node) -> BTreeMap<String, String> {
    match &node.content {
        Content::Mapping(entries) => entries
            .iter()
            .filter_map(|entry| {
                let name = reader.text(&format!("`{}`", entry.key), &entry.value)?;
                Some((entry.key.clone(), name))
            })
            .collect(),
        Content::Sequence(_) => reader
            .names("`outputs`", node)
            .into_iter()
            .map(|(name, _)| (name.clone(), name))
            .collect(),
        Content::Scalar(_) => {
            let message = format!("`outputs` is {}", node.describe());
            reader.error(&node.place, message, "a mapping from the child's names to new ones");
            BTreeMap::new()
        }
    }
}
