//! Whether what templates and expressions look up can be there.

use super::super::parse::{Language, Moment, Notes, Text};
use super::super::problem::{Place, Problem, Problems};
use super::super::suggest::{did_you_mean, nearest, one_of};
use super::Workflow;
use crate::definition::StepKind;
use crate::engine::STATE_FIELDS;

const NAMESPACES: [&str; 8] =
    ["inputs", "states", "env", "workflow", "loop", "context", "error", "awf"];

/// What each namespace with fixed names holds. `ExitCode` is also `exit_code`.
const FIELDS: [(&str, &[&str]); 5] = [
    ("workflow", &["ID", "Name", "CurrentState", "StartedAt", "Duration", "Version"]),
    ("loop", &["Item", "Index", "Index1", "First", "Last", "Length", "Parent"]),
    ("context", &["WorkingDir", "User", "Hostname"]),
    ("error", &["Message", "State", "ExitCode", "Type"]),
    (
        "awf",
        &[
            "prompts_dir",
            "scripts_dir",
            "config_dir",
            "data_dir",
            "workflows_dir",
            "plugins_dir",
            "skills_dir",
            "roles_dir",
            "templates_dir",
        ],
    ),
];

/// What a turn of a conversation leaves behind.
const TURN: [&str; 4] = ["Response", "Output", "TurnCount", "Turns"];

pub(super) fn check(workflow: &Workflow, notes: &Notes, problems: &mut Problems) {
    for text in &notes.texts {
        for (parts, place) in &text.references {
            let Some(space) = parts.first() else { continue };
            if text.moment == Moment::Turn && is_known(space, &TURN) {
                continue;
            }
            match space.as_str() {
                "inputs" => check_input(notes, parts, place, problems),
                "states" => check_state(workflow, notes, parts, place, problems),
                "env" => {}
                _ => match FIELDS.iter().find(|(name, _)| name == space) {
                    Some((_, known)) => check_field(space, known, parts, place, problems),
                    None => problems.push(unknown_space(notes, text, space, place)),
                },
            }
        }
    }
}

fn unknown_space(notes: &Notes, text: &Text, space: &str, place: &Place) -> Problem {
    let message = format!("`{space}` is nothing that a text can use");
    // In an expression, a name that is not there is null.
    let problem = match text.language {
        Language::Template => Problem::error(place, message),
        Language::Expression => Problem::warning(place, message),
    };
    let hint = if notes.inputs.contains_key(space) {
        Some(format!("did you mean `inputs.{space}`?"))
    } else if notes.steps.contains_key(space) {
        Some(format!("did you mean `states.{space}.Output`?"))
    } else {
        did_you_mean(space, NAMESPACES)
    };
    problem.expected(one_of(NAMESPACES)).hint(hint)
}

/// A run can be given more inputs than are declared, so this is only suspicious.
fn check_input(notes: &Notes, parts: &[String], place: &Place, problems: &mut Problems) {
    let Some(name) = parts.get(1) else { return };
    if !notes.inputs.contains_key(name) {
        let known = notes.inputs.keys().map(String::as_str);
        let problem = Problem::warning(place, format!("input `{name}` is not declared"));
        problems.push(problem.hint(did_you_mean(name, known)));
    }
}

fn check_state(
    workflow: &Workflow,
    notes: &Notes,
    parts: &[String],
    place: &Place,
    problems: &mut Problems,
) {
    let Some(name) = parts.get(1) else { return };
    if !notes.steps.contains_key(name) {
        let known = notes.steps.keys().map(String::as_str);
        let problem = Problem::error(place, format!("`states.{name}`: there is no step `{name}`"));
        problems.push(problem.expected("the name of a step").hint(did_you_mean(name, known)));
        return;
    }
    let Some(field) = parts.get(2) else { return };
    let own = own_results(workflow, name);
    if is_known(field, &STATE_FIELDS) || own.iter().any(|known| known == field) {
        return;
    }
    let known: Vec<&str> =
        STATE_FIELDS.iter().copied().chain(own.iter().map(String::as_str)).collect();
    let message = format!("`{field}` is nothing that step `{name}` leaves behind");
    problems.push(Problem::warning(place, message).hint(meant(field, &known)));
}

/// Returns the names that a step gives to its results itself.
fn own_results(workflow: &Workflow, name: &str) -> Vec<String> {
    match workflow.steps.get(name).map(|step| &step.kind) {
        Some(StepKind::Command(command)) => command
            .capture
            .iter()
            .flat_map(|capture| [&capture.stdout, &capture.stderr])
            .flatten()
            .cloned()
            .collect(),
        Some(StepKind::CallWorkflow(call)) => call.outputs.values().cloned().collect(),
        _ => Vec::new(),
    }
}

fn check_field(
    space: &str,
    known: &[&str],
    parts: &[String],
    place: &Place,
    problems: &mut Problems,
) {
    let Some(field) = parts.get(1) else { return };
    if !is_known(field, known) {
        let problem = Problem::warning(place, format!("`{space}` has no `{field}`"));
        let expected = one_of(known.iter().copied());
        problems.push(problem.expected(expected).hint(meant(field, known)));
    }
}

fn is_known(field: &str, known: &[&str]) -> bool {
    known.iter().any(|name| plain(name) == plain(field))
}

/// Both casings are the same name: `ExitCode`, `exit_code`.
fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

fn meant(field: &str, known: &[&str]) -> Option<String> {
    let near = nearest(field, known.iter().copied())?;
    Some(format!("did you mean `{near}`?"))
}
