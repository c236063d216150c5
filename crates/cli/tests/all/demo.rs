//! `quipu demo`: a real run with one of everything, sound, and shown with what to try next.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::session::Session;

/// Runs the demo and returns the id of its run.
fn played() -> (Session, String) {
    let session = Session::new();
    let text = session.ok(&["demo", "--json"]);
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let run = first["run"].as_str().unwrap().to_owned();
    (session, run)
}

fn all_lines(session: &Session) -> Vec<Value> {
    let entries = std::fs::read_dir(session.dir().join("storage/transcripts")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.flat_map(|name| session.lines(name.strip_suffix(".jsonl").unwrap())).collect()
}

#[test]
fn the_demo_run_passes_verification() {
    let (session, _) = played();
    let outcome = session.quipu(&["verify", "--all"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(outcome.stdout.lines().count(), 2, "a run and the run it calls");
}

#[test]
fn a_storage_that_the_demo_makes_is_closed_to_others() {
    let (session, _) = played();
    for dir in ["storage", "storage/demo", "storage/transcripts"] {
        let metadata = session.dir().join(dir).metadata().unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o700, "{dir}");
    }
}

#[test]
fn the_demo_has_one_of_everything() {
    let (session, _) = played();
    let lines = all_lines(&session);
    let has = |pointer: &str, value: &str| {
        let found = lines.iter().any(|line| line.pointer(pointer) == Some(&Value::from(value)));
        assert!(found, "{pointer} is {value}");
    };
    let canonical = [
        "run.started",
        "run.completed",
        "step.started",
        "step.completed",
        "step.call_workflow.started",
        "step.call_workflow.completed",
        "message.user",
        "message.assistant",
        "tool.call",
        "tool.result",
        "usage",
        "system",
    ];
    canonical.into_iter().for_each(|kind| has("/type", kind));
    for kind in ["command", "agent", "for_each", "parallel", "call_workflow", "terminal"] {
        has("/payload/kind", kind);
    }
    for path in ["each_file[0].check", "each_file[2].check", "fan_out.lint", "fan_out.test"] {
        has("/path", path);
    }
    has("/payload/status", "failed");
    let retried =
        |line: &&Value| line["payload"]["attempt"] == 2 && line["type"] == "step.completed";
    assert_eq!(lines.iter().find(retried).unwrap()["payload"]["status"], "succeeded");
    let blocks = |line: &Value| -> Vec<String> {
        let blocks = line["payload"]["blocks"].as_array().into_iter().flatten();
        blocks.map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    assert!(lines.iter().any(|line| blocks(line) == ["thinking", "text", "tool_use"]));
    assert!(lines.iter().any(|line| line["type"] == "step.started" && blocks(line) == ["command"]));
}

#[test]
fn the_demo_has_tokens_of_each_of_its_agents() {
    let (session, run) = played();
    let stats = session.quipu(&["stats", "--json"]).json();
    let models: Vec<_> = stats["models"].as_object().unwrap().keys().collect();
    assert_eq!(models, ["claude-stub", "codex-stub", "gemini-stub"], "{stats}");
    let tree = session.ok(&["tree", &run]);
    assert!(tree.lines().next().unwrap().contains(" tokens"), "{tree}");
}

#[test]
fn the_demo_hides_its_secret_and_keeps_it_from_the_audit_trail() {
    let (session, run) = played();
    let lines = session.lines(&run);
    assert_eq!(lines[0]["payload"]["inputs"]["api_token"], "***");
    let audit = std::fs::read_to_string(session.dir().join("storage/audit.jsonl")).unwrap();
    assert_eq!(audit.lines().count(), 4, "two runs, each with a start and an end: {audit}");
    assert!(audit.contains(r#""api_token":"***""#), "{audit}");
}

#[test]
fn a_run_of_the_demo_that_is_complete_is_not_resumed() {
    let (session, run) = played();
    let outcome = session.quipu(&["resume", &run]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
}

#[test]
fn the_demo_is_shown_with_its_file_and_what_to_try_next() {
    let session = Session::new();
    let text = session.ok(&["demo"]);
    for part in [
        "review-repository",
        "write-summary",
        "each_file",
        "fan_out",
        "storage/transcripts/",
        "quipu show last",
        "quipu tree last",
        "quipu tail",
        "quipu stats last",
        "quipu replay last",
        "quipu export last --to html",
        "quipu verify --all",
        "jq ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\x1b'), "no colour where nobody looks");
    let tree = session.ok(&["tree", "last"]);
    assert!(text.contains(&tree), "the tree is the one that `quipu tree` prints:\n{tree}\n{text}");
}

#[test]
fn what_to_try_next_can_be_typed_as_it_stands() {
    let session = Session::new();
    let text = session.ok(&["demo", "--storage", "elsewhere"]);
    let commands: Vec<_> = text.lines().filter(|line| line.starts_with("  quipu ")).collect();
    assert!(commands.len() >= 5, "{text}");
    for line in commands {
        let words: Vec<_> = line.trim().split("  ").next().unwrap().split(' ').skip(1).collect();
        session.ok(&words);
    }
}

#[test]
fn a_storage_that_cannot_be_written_is_named() {
    let session = Session::new();
    std::fs::write(session.dir().join("taken"), "").unwrap();
    let outcome = session.quipu(&["demo", "--storage", "taken"]);
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    assert!(outcome.stderr.contains("taken/demo: Not a directory"), "{outcome:?}");
}
