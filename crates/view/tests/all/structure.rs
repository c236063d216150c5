//! Random runs: a structure is played as events, and the tree must be that structure.

use proptest::prelude::*;
use quipu_event::Event;
use quipu_view::tree::{Node, Part};
use serde_json::{Value, json};

use super::transcript::{event, summary_of, tree_of};

/// A step as it is to be played.
#[derive(Clone, Debug, PartialEq)]
struct Plan {
    part: Part,
    /// How each attempt ends; nothing for one that stays open. Empty for an iteration.
    attempts: Vec<Option<&'static str>>,
    tool_calls: u64,
    tokens: u64,
    children: Vec<Plan>,
}

fn any_attempts() -> impl Strategy<Value = Vec<Option<&'static str>>> {
    let status = prop::sample::select(vec!["succeeded", "failed", "skipped", "canceled"]);
    let last = prop::option::weighted(0.8, status.clone());
    (prop::collection::vec(status.prop_map(Some), 0..2), last).prop_map(|(mut earlier, last)| {
        earlier.push(last);
        earlier
    })
}

/// A step with nothing inside and no name yet.
fn any_bare_step() -> impl Strategy<Value = Plan> {
    (any_attempts(), 0..3_u64, 0..3_u64).prop_map(plan)
}

/// Steps with steps inside, or with iterations that have steps inside.
fn any_steps() -> impl Strategy<Value = Vec<Plan>> {
    let step = any_bare_step().prop_recursive(4, 40, 4, |inner| {
        let inside = prop::collection::vec(inner, 1..4);
        let iterations = prop::collection::vec(inside.clone(), 1..4);
        prop_oneof![
            (any_bare_step(), inside).prop_map(|(step, steps)| around(step, steps)),
            (any_bare_step(), iterations).prop_map(|(step, rounds)| looping(step, rounds)),
        ]
    });
    prop::collection::vec(step, 0..4).prop_map(|steps| around(nothing(), steps).children)
}

fn nothing() -> Plan {
    plan((Vec::new(), 0, 0))
}

fn looping(step: Plan, rounds: Vec<Vec<Plan>>) -> Plan {
    let rounds = rounds.into_iter().map(|steps| around(nothing(), steps)).collect();
    let mut step = around(step, rounds);
    for (index, round) in (0..).zip(&mut step.children) {
        round.part = Part::Iteration(index);
    }
    step
}

fn plan((attempts, tool_calls, tokens): (Vec<Option<&'static str>>, u64, u64)) -> Plan {
    Plan { part: Part::Step(String::new()), attempts, tool_calls, tokens, children: Vec::new() }
}

/// Puts steps into another one and names them by their position.
fn around(mut step: Plan, mut children: Vec<Plan>) -> Plan {
    for (n, child) in children.iter_mut().enumerate() {
        child.part = Part::Step(format!("step_{n}"));
    }
    step.children = children;
    step
}

/// Plays steps that run side by side: all begin, then each does its work, then all end.
fn play(steps: &[Plan], around: &str, lines: &mut Vec<Value>) {
    let path = |step: &Plan| match (&step.part, around) {
        (Part::Step(name), "") => name.clone(),
        (Part::Step(name), around) => format!("{around}.{name}"),
        (Part::Iteration(index), around) => format!("{around}[{index}]"),
    };
    for step in steps {
        for (number, status) in (1..).zip(&step.attempts) {
            lines.push(line("step.started", &path(step), json!({"attempt": number})));
            if number < step.attempts.len() {
                let payload = json!({"attempt": number, "status": status});
                lines.push(line("step.completed", &path(step), payload));
            }
        }
    }
    for step in steps {
        play(&step.children, &path(step), lines);
        for n in 0..step.tool_calls {
            let call_id = format!("{} {n}", path(step));
            lines.push(line("tool.call", &path(step), json!({"name": "T", "call_id": call_id})));
        }
        if step.tokens > 0 {
            lines.push(line("usage", &path(step), json!({"input_tokens": step.tokens})));
        }
    }
    for step in steps {
        if let Some(Some(status)) = step.attempts.last() {
            let payload = json!({"attempt": step.attempts.len(), "status": status});
            lines.push(line("step.completed", &path(step), payload));
        }
    }
}

fn line(kind: &str, path: &str, payload: Value) -> Value {
    json!({"type": kind, "path": path, "payload": payload})
}

fn played(steps: &[Plan]) -> Vec<Event> {
    let mut lines = vec![line("run.started", "", json!({"name": "random", "kind": "workflow"}))];
    play(steps, "", &mut lines);
    let lines = lines.into_iter().map(|line| line.as_object().expect("an object").clone());
    (1..).zip(lines).map(|(n, line)| event(n, line)).collect()
}

/// Reads a plan back from a tree.
fn plan_of(node: &Node) -> Plan {
    let words = ["succeeded", "failed", "skipped", "canceled"];
    let attempts = node.attempts.iter().map(|attempt| {
        let status = attempt.status.as_ref()?;
        words.into_iter().find(|word| *word == status.as_str())
    });
    Plan {
        part: node.part.clone(),
        attempts: attempts.collect(),
        tool_calls: node.work.tool_calls,
        tokens: node.work.usage.input_tokens.unwrap_or(0),
        children: node.children.iter().map(plan_of).collect(),
    }
}

proptest! {
    #[test]
    fn the_tree_rebuilt_from_the_events_of_a_run_is_the_structure_of_the_run(steps in any_steps()) {
        let tree = tree_of(&played(&steps));
        let rebuilt: Vec<Plan> = tree.steps.iter().map(plan_of).collect();
        prop_assert_eq!(rebuilt, steps);
    }

    #[test]
    fn the_tree_and_the_summary_count_alike(steps in any_steps()) {
        let events = played(&steps);
        let summary = summary_of(&events);
        let total = tree_of(&events).total_work();
        prop_assert_eq!(total.tool_calls, summary.counts().tool_calls);
        prop_assert_eq!(total.usage, summary.usage().unwrap_or_default());
        let begun: u64 = summary.steps.values().map(|step| step.occurrences + step.retries).sum();
        let started = events.iter().filter(|event| event.kind.as_str() == "step.started").count();
        prop_assert_eq!(begun, started as u64);
    }
}
