//! Called workflows are there, and do not come back to their caller.

use std::path::Path;

use quipu_workflow::definition::check;

use super::{Shelf, expect, with_top};

#[test]
fn called_workflows_must_be_there_and_may_not_come_back() {
    let calling = |name: &str| {
        format!(
            "name: x\nstates:\n  initial: c\n  c: {{type: call_workflow, workflow: {name}, on_success: e}}\n  e: {{type: terminal}}\n"
        )
    };
    let mut shelf = Shelf::default();
    shelf.0.insert("a", calling("b"));
    shelf.0.insert("b", calling("c"));
    shelf.0.insert("c", calling("a"));
    shelf.0.insert("to_nowhere", calling("nowhere"));
    shelf.0.insert(
        "needs",
        with_top("inputs: {n: {required: true}, o: {required: true, default: 1}}"),
    );
    shelf.0.insert("broken", "a: [".to_owned());
    shelf.0.insert("dynamic", calling("'{{inputs.x}}'"));
    const NAMES: [&str; 12] =
        ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "d11"];
    for pair in NAMES.windows(2) {
        shelf.0.insert(pair[0], calling(pair[1]));
    }
    shelf.0.insert("d11", with_top(""));
    let cases: &[(&str, &[&str])] = &[
        ("a", &["4:38: error: workflows call each other in a circle: x → a → b → c → a"]),
        ("nowhere", &["4:38: error: there is no workflow `nowhere` | shelf/nowhere.yaml"]),
        ("to_nowhere", &["4:38: error: in `to_nowhere`: there is no workflow `nowhere`"]),
        ("broken", &["4:38: error: workflow `broken` cannot be used: broken.yaml:"]),
        ("d0", &["4:38: error: workflows call each other too deeply: x → d0"]),
        ("d3", &[]),
        ("needs", &["4:38: warning: workflow `needs` needs the input `n` | `inputs: {n: …}`"]),
        ("d2", &["4:38: error: workflows call each other too deeply: x → d2"]),
    ];
    for (name, expected) in cases {
        expect(&calling(name), &shelf, expected);
    }
    let warned = check(Path::new("w.yaml"), &calling("dynamic"), &shelf);
    assert!(!warned.problems.has_errors(), "{}", warned.problems);
}
