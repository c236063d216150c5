//! The files that a run was to make: looked for at its end, told, and never a reason to fail.

use std::fs;

use serde_json::{Value, json};

use crate::run::with_workflow;
use crate::session::Session;

const REPORT: &str = r#"
name: report
inputs: [{name: topic, type: string, default: ants}]
deliverables: ["out/{{.inputs.topic}}.md", "{{.states.write.Output}}"]
states:
  initial: write
  write:
    type: step
    command: 'mkdir -p out; echo text > "out/ants.md"; test -e ready && echo b > b.md; echo b.md'
    on_success: done
  done: {type: terminal}
"#;

/// Returns type and payload of everything that was told of deliverables, and of the run's end.
fn told(session: &Session, run: &str) -> Vec<(String, Value)> {
    let lines = session.lines(run).into_iter();
    let word = |line: &Value| line["type"].as_str().unwrap().to_owned();
    lines
        .filter(|line| word(line).starts_with("deliverable.") || word(line) == "run.completed")
        .map(|line| (word(&line), line["payload"].clone()))
        .collect()
}

#[test]
fn missing_deliverables_are_recorded_before_the_end_and_do_not_fail_the_run() {
    let session = with_workflow(REPORT);
    let said = session.ok(&["run", "w.yaml", "--id", "r"]);
    assert!(said.contains("deliverables incomplete: b.md: is not there"), "{said}");
    let told = told(&session, "r");
    let types: Vec<&str> = told.iter().map(|(word, _)| word.as_str()).collect();
    let expected = [
        "deliverable.check.started",
        "deliverable.missing",
        "deliverable.check.completed",
        "run.completed",
    ];
    assert_eq!(types, expected);
    assert_eq!(told[0].1["required"], json!(["out/ants.md", "b.md"]));
    assert_eq!(told[1].1["missing"], json!(["b.md"]));
    assert_eq!(told[2].1["result"], "incomplete");
    assert_eq!(told[2].1["problems"], json!(["b.md: is not there"]));
    assert_eq!(told[3].1["status"], "succeeded");
    session.ok(&["verify", "r"]);
}

#[test]
fn deliverables_that_are_there_pass() {
    let session = with_workflow(REPORT);
    fs::write(session.dir().join("ready"), "").unwrap();
    let said = session.ok(&["run", "w.yaml", "--id", "r", "--deliverable", "w.yaml"]);
    assert!(said.contains("3 deliverables there"), "{said}");
    let told = told(&session, "r");
    assert_eq!(told.len(), 3, "nothing is missing: {told:?}");
    assert_eq!(told[1].1["result"], "passed");
    assert_eq!(told[1].1["required"], json!(["out/ants.md", "b.md", "w.yaml"]));
}

#[test]
fn the_report_for_scripts_and_the_plan_name_the_deliverables() {
    let session = with_workflow(REPORT);
    let args = ["run", "w.yaml", "--json", "--deliverable", "../outside"];
    let said = session.ok(&args);
    let report: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(report["deliverables"]["result"], "blocked");
    let plan = session.ok(&["run", "w.yaml", "--dry-run", "--deliverable", "x"]);
    assert!(plan.contains("deliverable out/ants.md") && plan.contains("deliverable x"), "{plan}");
}

#[test]
fn a_resumed_run_is_asked_for_the_same_deliverables_and_checked_again() {
    let text = "name: w\nstates:\n  initial: a\n  \
                a: {type: step, command: 'test -e ready', on_success: e}\n  e: {type: terminal}\n";
    let session = with_workflow(text);
    let run = ["run", "w.yaml", "--id", "r", "--deliverable", "made"];
    assert_eq!(session.quipu(&run).code, Some(3));
    assert_eq!(
        told(&session, "r")[2].1["result"],
        "incomplete",
        "a run that failed is checked too"
    );
    for file in ["ready", "made"] {
        fs::write(session.dir().join(file), "x").unwrap();
    }
    session.ok(&["resume", "r"]);
    let told = told(&session, "r");
    let checks: Vec<&Value> = told
        .iter()
        .filter(|(word, _)| word == "deliverable.check.completed")
        .map(|(_, payload)| &payload["result"])
        .collect();
    assert_eq!(checks, [&json!("incomplete"), &json!("passed")]);
    assert_eq!(session.quipu(&["resume", "r"]).code, Some(1), "it is complete");
    assert_eq!(self::told(&session, "r").len(), told.len(), "and is not checked once more");
    session.ok(&["verify", "r"]);
}

#[test]
fn a_run_in_the_background_is_asked_for_its_deliverables() {
    let session = with_workflow(REPORT);
    session.ok(&["run", "w.yaml", "--id", "r", "--detach", "--deliverable", "w.yaml"]);
    session.ok(&["tail", "-f", "r"]);
    assert_eq!(told(&session, "r")[0].1["required"][2], "w.yaml");
}

#[test]
fn a_deliverable_without_a_name_is_refused() {
    let session = with_workflow(REPORT);
    for (path, why) in [("", "expected the path"), ("{{.inputs", "--deliverable")] {
        let refused = session.quipu(&["run", "w.yaml", "--deliverable", path]);
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
}
