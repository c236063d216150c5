//! `quipu normalize`: what an agent left becomes events, and what is broken is told with its place.

use std::fs;
use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::session::Session;

/// A run of `codex exec --json`, in short.
const EXEC: &str = r#"{"type":"thread.started","thread_id":"t1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Done."}}
{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2}}
"#;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_line_is_a_draft_and_the_summary_is_apart() {
    let session = Session::new();
    fs::write(session.dir().join("exec.jsonl"), EXEC).unwrap();
    for arguments in [&["normalize", "exec.jsonl"][..], &["normalize"], &["normalize", "-"]] {
        let outcome = session.quipu_with_input(arguments, EXEC);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let drafts = lines(&outcome.stdout);
        assert_eq!(drafts.first().unwrap()["type"], "run.started");
        assert_eq!(drafts.last().unwrap()["type"], "run.completed");
        assert!(drafts.iter().all(|draft| draft.get("seq").is_none()), "drafts have no numbers");
        assert!(outcome.stderr.contains("codex exec: 4 records"), "{}", outcome.stderr);
    }
}

#[test]
fn the_summary_alone_is_json() {
    let outcome = Session::new().quipu_with_input(&["normalize", "--summary"], EXEC);
    let summary = outcome.json();
    assert_eq!(summary["provider"], "codex");
    assert_eq!(summary["surface"], "exec");
    assert_eq!(summary["records"], 4);
    assert_eq!(summary["events"]["message.assistant"], 1);
    assert_eq!(summary["blocks"], json!({ "text": 1 }));
    assert_eq!(summary["unknown"], 0);
    assert_eq!(summary["problems"], json!([]));
    let usage = json!({ "input_tokens": 5, "cache_read_tokens": 4, "output_tokens": 2 });
    assert_eq!(summary["usage"]["unknown"], usage);
}

#[test]
fn what_is_broken_is_told_with_its_place_and_nothing_is_lost() {
    let input = format!("warming up\n{EXEC}{{\"type\":\"item.comp");
    let session = Session::new();
    let outcome = session.quipu_with_input(&["normalize", "--summary"], &input);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    let summary = outcome.json();
    let tail = input.len() - "{\"type\":\"item.comp".len();
    assert_eq!(
        summary["problems"],
        json!([
            { "line": 1, "offset": 0, "what": "not JSON" },
            { "line": 6, "offset": tail, "what": "cut off in the middle of a record" },
        ])
    );
    let outcome = session.quipu_with_input(&["normalize", "--raw", "unknown"], &input);
    assert_eq!(outcome.code, Some(3));
    let raw: Vec<_> = lines(&outcome.stdout)
        .into_iter()
        .filter_map(|mut line| line.as_object_mut().unwrap().remove("raw"))
        .collect();
    assert_eq!(raw, ["warming up", "{\"type\":\"item.comp"]);
    assert!(outcome.stderr.contains("standard input:1: not JSON (byte 0)"), "{}", outcome.stderr);
}

#[test]
fn input_that_is_nobodys_is_the_users_to_explain() {
    let session = Session::new();
    let outcome = session.quipu_with_input(&["normalize"], "{\"hello\":1}\n");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("looks like no agent's output"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("hint: --provider"), "{}", outcome.stderr);
    // Named, it is read all the same.
    let named = ["normalize", "--provider", "codex", "--surface", "exec", "--summary"];
    let outcome = session.quipu_with_input(&named, "{\"hello\":1}\n");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let summary = outcome.json();
    assert_eq!((&summary["unknown"], &summary["detection"]), (&json!(1), &json!("given")));
}

#[test]
fn a_surface_alone_narrows_the_choice() {
    let session = Session::new();
    // One provider has rollouts; several have sessions, and this is nobody's.
    let outcome = session.quipu_with_input(&["normalize", "--surface", "exec", "--summary"], EXEC);
    assert_eq!(outcome.json()["provider"], "codex", "{outcome:?}");
    let outcome = session.quipu_with_input(&["normalize", "--surface", "session"], EXEC);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
}

#[test]
fn an_empty_input_is_no_failure() {
    let session = Session::new();
    let outcome = session.quipu_with_input(&["normalize", "--summary"], "");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let summary = outcome.json();
    assert_eq!((&summary["records"], &summary["provider"]), (&json!(0), &Value::Null));
}

#[test]
fn each_mistake_on_the_command_line_has_its_answer() {
    let session = Session::new();
    fs::create_dir(session.dir().join("folder")).unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["normalize", "nowhere.jsonl"], "there is no file nowhere.jsonl"),
        (&["normalize", "folder"], "folder is a folder"),
        (&["normalize", "--provider", "clippy"], "invalid value 'clippy'"),
        (&["normalize", "--provider", "codex", "--surface", "x"], "codex has no surface \"x\""),
        (&["normalize", "--surface", "x"], "nobody here has a surface \"x\""),
    ];
    for (arguments, expected) in cases {
        let outcome = session.quipu_with_input(arguments, EXEC);
        assert_eq!(outcome.code, Some(1), "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(expected), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn a_compressed_file_is_read_like_any_other() {
    let session = Session::new();
    let compressed = zstd::encode_all(EXEC.as_bytes(), 3).unwrap();
    let outcome = session.quipu_with_input(&["normalize", "--summary"], &compressed);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("\"records\":4"), "{}", outcome.stdout);
    let torn = &compressed[..compressed.len() - 5];
    let outcome = session.quipu_with_input(&["normalize", "--summary"], torn);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(outcome.stdout.contains("compressed data is damaged"), "{}", outcome.stdout);
}

#[test]
fn what_was_normalised_can_be_recorded_with_its_foreign_bytes() {
    let session = Session::new();
    let drafts = session.quipu_with_input(&["normalize"], EXEC).stdout;
    let record = ["record", "--name", "x", "--id", "r1", "--no-lifecycle", "--strict"];
    let outcome = session.quipu_with_input(&record, &drafts);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let kept: Vec<String> = session
        .lines("r1")
        .iter()
        .filter_map(|line| line["raw"].as_str())
        .flat_map(|raw| raw.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let mut expected: Vec<_> = EXEC.lines().map(str::to_owned).collect();
    let mut kept = kept;
    kept.sort();
    expected.sort();
    assert_eq!(kept, expected);
    assert_eq!(session.quipu(&["verify", "--all"]).code, Some(0));
}

#[test]
fn a_live_stream_is_answered_before_it_ends() {
    let session = Session::new();
    let mut child = session.spawn(&["normalize"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    stdin.write_all(EXEC.as_bytes()).unwrap();
    stdin.flush().unwrap();
    let first = answers.next().unwrap().unwrap();
    assert!(first.starts_with("{\"type\":\"run.started\""), "{first}");
    drop(stdin);
    assert!(answers.last().unwrap().unwrap().starts_with("{\"type\":\"run.completed\""));
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_output_that_lies_beside_the_session_stands_in_its_place() {
    let session = Session::new();
    let note = "<persisted-output>\nOutput too large (2MB). Full output saved to: \
                /home/me/.claude/projects/-app/s1/tool-results/b1.txt\n\nPreview (first 2KB):\nfir";
    let answer = json!({
        "type": "user", "uuid": "u2", "sessionId": "s1", "timestamp": "2026-06-08T10:14:43.000Z",
        "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t1", "content": note },
        ] },
    });
    let call = json!({
        "type": "assistant", "uuid": "u1", "sessionId": "s1", "timestamp": "2026-06-08T10:14:42.000Z",
        "message": { "id": "m1", "role": "assistant", "model": "x", "content": [
            { "type": "tool_use", "id": "t1", "name": "Bash", "input": {} },
        ] },
    });
    let input = format!("{call}\n{answer}\n");
    fs::write(session.dir().join("s1.jsonl"), &input).unwrap();
    let result = |arguments: &[&str]| {
        let outcome = session.quipu_with_input(arguments, &input);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let drafts = lines(&outcome.stdout);
        let at = drafts.iter().position(|draft| draft["type"] == "tool.result").unwrap();
        (drafts[at].clone(), drafts[at + 1].clone())
    };
    let (absent, _) = result(&["normalize", "s1.jsonl"]);
    assert_eq!(absent["payload"]["output"], note);

    fs::create_dir_all(session.dir().join("s1/tool-results")).unwrap();
    fs::write(session.dir().join("s1/tool-results/b1.txt"), "first\nlast\n").unwrap();
    let (joined, told) = result(&["normalize", "s1.jsonl"]);
    assert_eq!(joined["payload"]["output"], "first\nlast\n");
    assert_eq!(joined["raw"], answer.to_string(), "the record is kept as it was");
    let facts =
        json!({ "subtype": "output_joined", "tool_id": "t1", "file": "b1.txt", "bytes": 11 });
    assert_eq!(told["payload"], facts);

    let (from_stdin, _) = result(&["normalize"]);
    assert_eq!(from_stdin["payload"]["output"], note, "a stream has nothing beside it");
}
