//! Whether every step that is named exists, and every step that exists is named.

use super::super::parse::{Notes, Role, Target};
use super::super::problem::{Place, Problem, Problems};
use super::super::suggest::{did_you_mean, one_of};
use super::Workflow;
use super::graph::Graph;
use crate::definition::{Step, StepKind};

/// More names than this are no help.
const LISTED: usize = 12;

pub(super) fn check(
    workflow: &Workflow,
    notes: &Notes,
    graph: &Graph<'_>,
    problems: &mut Problems,
) {
    if let Some((initial, place)) = &notes.initial
        && !notes.steps.contains_key(initial)
    {
        problems.push(missing(notes, "`initial` is", initial, place));
    }
    for target in &notes.targets {
        let what = match target.role {
            Role::Next(key) => format!("`{key}` leads to"),
            Role::Body => "`body` names".to_owned(),
            Role::Branch => "`parallel` names".to_owned(),
            Role::Session => "`continue_from` names".to_owned(),
        };
        if !notes.steps.contains_key(&target.name) {
            problems.push(missing(notes, &what, &target.name, &target.place));
        } else if target.role == Role::Session {
            check_session(workflow, &target.from, &target.name, &target.place, problems);
        }
    }
    check_reach(workflow, notes, graph, problems);
}

fn missing(notes: &Notes, what: &str, name: &str, place: &Place) -> Problem {
    let known = || notes.steps.keys().map(String::as_str);
    let problem = Problem::error(place, format!("{what} `{name}`, which is no step"));
    let expected = if notes.steps.len() <= LISTED && !notes.steps.is_empty() {
        one_of(known())
    } else {
        "the name of a step".to_owned()
    };
    problem.expected(expected).hint(did_you_mean(name, known()))
}

fn check_session(
    workflow: &Workflow,
    from: &str,
    name: &str,
    place: &Place,
    problems: &mut Problems,
) {
    let agent = |step: &str| match workflow.steps.get(step).map(|step| &step.kind) {
        Some(StepKind::Agent(agent)) => Ok(Some(agent)),
        Some(_) => Err(()),
        // A step that could not be read may well be an agent's.
        None => Ok(None),
    };
    match (agent(from), agent(name)) {
        (_, Err(())) => {
            let message = format!("`continue_from` names `{name}`, which is no agent step");
            problems.push(Problem::error(place, message).expected("an agent step"));
        }
        (Ok(Some(own)), Ok(Some(other)))
            if own.provider.is_literal()
                && other.provider.is_literal()
                && own.provider.source() != other.provider.source() =>
        {
            let (own, other) = (own.provider.source(), other.provider.source());
            let message = format!("a session of `{other}` cannot be continued by `{own}`");
            problems.push(Problem::warning(place, message).expected("the same provider"));
        }
        _ => {}
    }
}

fn check_reach(workflow: &Workflow, notes: &Notes, graph: &Graph<'_>, problems: &mut Problems) {
    // Behind a way that leads nowhere, or a step that could not be read, is not where the mistake is.
    let all_ways_lead = workflow.steps.len() == notes.steps.len()
        && notes.targets.iter().all(|target| notes.steps.contains_key(&target.name));
    if let Some((initial, _)) = &notes.initial
        && notes.steps.contains_key(initial)
        && all_ways_lead
    {
        let reachable = graph.reachable(initial);
        for (name, place) in &notes.steps {
            if !reachable.contains(name.as_str()) {
                let message = format!("no run comes to step `{name}`");
                problems
                    .push(Problem::warning(place, message).hint("nothing leads to it".to_owned()));
            }
        }
    }
    for (name, step) in &workflow.steps {
        let ends = matches!(step.kind, StepKind::Terminal(_)) || graph.is_inside(name);
        if !ends
            && !says_where(notes, step)
            && let Some(place) = notes.steps.get(name)
        {
            let message = format!("nothing says where the run goes after step `{name}`");
            let expected = "`on_success`, or `transitions`";
            problems.push(Problem::warning(place, message).expected(expected));
        }
    }
}

/// Tells whether a step says where the run goes from it, however wrong.
fn says_where(notes: &Notes, step: &Step) -> bool {
    let is_way = |target: &Target| target.from == step.name && matches!(target.role, Role::Next(_));
    step.flow.on_failure.is_some() || notes.targets.iter().any(is_way)
}
