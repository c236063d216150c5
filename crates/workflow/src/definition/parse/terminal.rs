//! Terminal steps: how a run ends.

use super::fields::Fields;
use super::reader::Reader;
use crate::definition::problem::Problem;
use crate::definition::suggest::did_you_mean;
use crate::definition::yaml::Node;
use crate::definition::{StepKind, TerminalStatus, TerminalStep};
use crate::language::Value;

/// Words that people write for the two that there are.
const MEANT: [(&str, &str); 10] = [
    ("completed", "success"),
    ("complete", "success"),
    ("succeeded", "success"),
    ("ok", "success"),
    ("done", "success"),
    ("passed", "success"),
    ("failed", "failure"),
    ("fail", "failure"),
    ("error", "failure"),
    ("cancelled", "failure"),
];

/// Reads what a terminal step has of its own.
pub(super) fn read(reader: &mut Reader, fields: &mut Fields<'_>) -> StepKind {
    let (mut status, mut exit_status) = (None, None);
    if let Some(node) = fields.take("status") {
        (status, exit_status) = read_status(reader, node);
    }
    for key in ["exit_status", "exit_code"] {
        if let Some(code) = fields.whole(reader, key, 0, 255) {
            exit_status = u8::try_from(code).ok();
        }
    }
    // A file that gives only the exit status says with it whether the run succeeded.
    let implied = match exit_status {
        None | Some(0) => TerminalStatus::Success,
        Some(_) => TerminalStatus::Failure,
    };
    StepKind::Terminal(TerminalStep {
        status: status.unwrap_or(implied),
        message: fields.template(reader, "message"),
        exit_status,
    })
}

fn read_status(reader: &mut Reader, node: &Node) -> (Option<TerminalStatus>, Option<u8>) {
    let Some(scalar) = node.scalar() else {
        let message = format!("`status` is {}", node.describe());
        reader.error(&node.place, message, "`success` or `failure`");
        return (None, None);
    };
    match (scalar.text.as_str(), &scalar.value) {
        ("success", _) => return (Some(TerminalStatus::Success), None),
        ("failure", _) => return (Some(TerminalStatus::Failure), None),
        (_, Value::Number(_)) => {
            let code = reader.whole("`status`", node, 0, 255);
            return (None, code.and_then(|code| u8::try_from(code).ok()));
        }
        _ => {}
    }
    let word = scalar.text.to_ascii_lowercase();
    let hint = match MEANT.iter().find(|(wrong, _)| *wrong == word) {
        Some((_, right)) => Some(format!("did you mean `{right}`?")),
        None => did_you_mean(&word, ["success", "failure"]),
    };
    let problem = Problem::error(&node.place, format!("`status` is {}", node.describe()));
    let expected = "`success`, `failure` or an exit status from 0 to 255";
    reader.problems.push(problem.expected(expected).hint(hint));
    (None, None)
}
