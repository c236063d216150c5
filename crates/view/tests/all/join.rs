//! A run and the runs it calls, as one tree.

use std::collections::HashMap;

use quipu_event::RunId;
use quipu_view::RunTree;
use quipu_view::tree::{RenderOptions, join, render};

use super::transcript::tree;

/// A run that makes one tool call and then calls `children`, one step each.
fn run_calling(id: &str, children: &[&str]) -> RunTree {
    let mut lines =
        format!(r#"{{"run_id":"{id}","type":"tool.call","payload":{{"name":"T","call_id":"1"}}}}"#);
    for (n, child) in children.iter().enumerate() {
        lines += &format!(
            "\n{{\"run_id\":\"{id}\",\"type\":\"step.call_workflow.started\",\"path\":\"call_{n}\",\
             \"child_run_id\":\"{child}\"}}"
        );
    }
    tree(&lines)
}

/// Joins the first of the runs with the others.
fn joined(runs: &[(&str, &[&str])]) -> RunTree {
    let mut all: HashMap<RunId, RunTree> = HashMap::new();
    for (id, children) in runs {
        let run = run_calling(id, children);
        all.insert(run.run_id.clone(), run);
    }
    let root = run_calling(runs[0].0, runs[0].1);
    join(root, &mut |id| all.get(id).cloned())
}

/// Lists the ids of all run rows.
fn runs_shown(run: &RunTree) -> Vec<String> {
    let rows = render(run, &RenderOptions::default());
    let runs = rows.into_iter().filter(|row| row.part == quipu_view::tree::RowPart::Run);
    runs.map(|row| row.label).collect()
}

#[test]
fn child_runs_are_attached_to_the_steps_that_call_them() {
    let run = joined(&[("a", &["b", "c"]), ("b", &["d"]), ("c", &[]), ("d", &[])]);
    assert_eq!(runs_shown(&run), ["a", "b", "d", "c"]);
    assert_eq!(run.total_work().tool_calls, 4);
}

#[test]
fn a_step_names_the_run_it_calls_only_when_that_run_is_not_below_it() {
    let run = joined(&[("a", &["gone", "b"]), ("b", &[])]);
    let rows = render(&run, &RenderOptions::default());
    let named: Vec<_> = rows.iter().map(|row| row.run_id.as_ref().map(RunId::as_str)).collect();
    assert_eq!(named, [Some("a"), Some("gone"), None, Some("b")]);
}

#[test]
fn joining_ends_even_when_runs_call_each_other_in_a_circle() {
    let itself = joined(&[("a", &["a"])]);
    assert_eq!(runs_shown(&itself), ["a"]);
    let circle = joined(&[("a", &["b"]), ("b", &["c"]), ("c", &["a", "b"])]);
    assert_eq!(runs_shown(&circle), ["a", "b", "c"]);
}

#[test]
fn a_run_called_from_two_places_is_attached_and_counted_once() {
    let run = joined(&[("a", &["b", "b"]), ("b", &[])]);
    assert_eq!(runs_shown(&run), ["a", "b"]);
    assert_eq!(run.total_work().tool_calls, 2);
}

#[test]
fn a_chain_of_runs_is_joined_sixty_four_runs_deep() {
    let root = run_calling("r0", &["r1"]);
    let run = join(root, &mut |id| {
        let n: usize = id.as_str()[1..].parse().expect("a number after the r");
        Some(run_calling(id.as_str(), &[&format!("r{}", n + 1)]))
    });
    assert_eq!(runs_shown(&run).len(), 64);
}
