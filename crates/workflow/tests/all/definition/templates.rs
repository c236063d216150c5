//! Templates of steps are filled in, and mistakes in their use are told.

use std::path::Path;

use quipu_workflow::definition::{StepKind, check};

use super::{Shelf, expect, one_step};

#[test]
fn templates_of_steps_are_filled_in_and_the_steps_own_keys_win() {
    let mut shelf = Shelf::default();
    shelf.0.insert("echo", "name: echo\nparameters:\n  - {name: what, required: true}\n  - {name: mark, default: '!'}\n  - {name: codes, default: [7]}\nstates:\n  initial: say\n  say:\n    type: command\n    command: \"echo {{parameters.what}}{{ .parameters.mark }}\"\n    timeout: 5\n    on_success: elsewhere\n    retry: {max_attempts: 2, retryable_exit_codes: '{{parameters.codes}}'}\n".to_owned());
    shelf.0.insert("outer", "name: outer\nparameters: [{name: x}]\nstates:\n  initial: o\n  o: {use_template: echo, parameters: {what: 'outer {{parameters.x}}'}, timeout: 9}\n".to_owned());
    shelf.0.insert(
        "one",
        "name: one\nparameters: []\nstates: {initial: r, r: {use_template: two}}\n".to_owned(),
    );
    shelf.0.insert(
        "two",
        "name: two\nparameters: []\nstates: {initial: r, r: {use_template: one}}\n".to_owned(),
    );
    let command = |step: &str| {
        let text = one_step(&format!("{step}\non_success: done"));
        let checked = check(Path::new("w.yaml"), &text, &shelf);
        let workflow = checked.workflow.unwrap_or_else(|| panic!("{}", checked.problems));
        let step = workflow.steps["a"].clone();
        let StepKind::Command(command) = &step.kind else { panic!("{step:?}") };
        (format!("{:?}", command.text), step.timeout.unwrap().as_secs(), step.retry.clone())
    };
    let (text, timeout, retry) =
        command("use_template: echo\nparameters: {what: '{{inputs.x}}'}\ntimeout: 3");
    assert!(text.contains("{{inputs.x}}!"), "{text}");
    assert_eq!((timeout, retry.unwrap().retryable_exit_codes), (3, vec![7]));
    let (text, timeout, _) = command("use_template: outer\nparameters: {x: 5}");
    assert!(text.contains("outer 5"), "{text}");
    assert_eq!(timeout, 9);

    let cases: &[(&str, &[&str])] = &[
        (
            "use_template: ehco",
            &["5:19: error: there is no template `ehco` | shelf/ehco.yaml | did you mean `echo`?"],
        ),
        ("use_template: echo", &["5:5: error: template `echo` needs the parameter `what`"]),
        (
            "use_template: echo\nparameters: {waht: x}",
            &[
                "6:17: error: template `echo` needs",
                "6:18: error: template `echo` has no parameter `waht` | did you mean `what`?",
            ],
        ),
        (
            "use_template: one",
            &["3:40: error: templates use each other in a circle: one → two → one"],
        ),
    ];
    for (step, expected) in cases {
        expect(&one_step(&format!("{step}\non_success: done")), &shelf, expected);
    }
}

#[test]
fn a_template_need_not_name_its_first_state() {
    let mut shelf = Shelf::default();
    let named = "name: t\nstates:\n  other: {type: step, command: other}\n  t: {type: step, command: named}\n";
    let first =
        "name: u\nstates:\n  a: {type: step, command: first}\n  b: {type: step, command: second}\n";
    shelf.0.insert("t", named.to_owned());
    shelf.0.insert("u", first.to_owned());
    shelf.0.insert("empty", "name: empty\nstates: {}\n".to_owned());
    for (template, expected) in [("t", "named"), ("u", "first")] {
        let text = one_step(&format!("use_template: {template}\non_success: done"));
        let checked = check(Path::new("w.yaml"), &text, &shelf);
        let workflow = checked.workflow.unwrap_or_else(|| panic!("{}", checked.problems));
        let StepKind::Command(command) = &workflow.steps["a"].kind else { panic!("{template}") };
        assert!(format!("{:?}", command.text).contains(expected), "{template}");
    }
    let empty = one_step("use_template: empty\non_success: done");
    expect(&empty, &shelf, &["2:9: error: the template has no `state` | one under `states`"]);
}
