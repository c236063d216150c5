//! Whether no loop and no parallel step runs inside of itself.

use std::collections::BTreeSet;

use super::super::parse::Notes;
use super::super::problem::{Problem, Problems};
use super::graph::Graph;

pub(super) fn check(notes: &Notes, graph: &Graph<'_>, problems: &mut Problems) {
    let mut told = BTreeSet::new();
    for (name, place) in &notes.steps {
        let mut path = Vec::new();
        if !told.contains(name.as_str())
            && circle(graph, name, name, &mut path, &mut BTreeSet::new())
        {
            told.extend(path.iter().copied());
            let chain: Vec<&str> = std::iter::once(name.as_str()).chain(path).collect();
            let message = format!("step `{name}` runs inside of itself: {}", chain.join(" → "));
            let expected = "a `body` or `parallel` that does not come back to its own step";
            problems.push(Problem::error(place, message).expected(expected));
        }
    }
}

/// Finds a way from `step` inward to `goal`, and leaves it in `path`.
fn circle<'n>(
    graph: &Graph<'n>,
    step: &str,
    goal: &str,
    path: &mut Vec<&'n str>,
    seen: &mut BTreeSet<&'n str>,
) -> bool {
    for inner in graph.inside(step) {
        path.push(inner);
        if *inner == goal || (seen.insert(inner) && circle(graph, inner, goal, path, seen)) {
            return true;
        }
        path.pop();
    }
    false
}
