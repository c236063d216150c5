//! What holds for every run in this layout.

use proptest::prelude::*;
use quipu_event::{Event, Kind, decode_line};
use quipu_view::{FileTree, FileView, FlowStudioView, Shelf};
use serde_json::{Value, json};

use super::super::transcript::events;
use super::cases::case;
use super::files_of;

/// Returns the documents of a tree whose paths hold `part`.
fn documents(tree: &FileTree, part: &str) -> Vec<(String, Value)> {
    let of_part = tree.0.iter().filter(|(path, _)| path.contains(part));
    of_part.map(|(path, bytes)| (path.clone(), serde_json::from_slice(bytes).unwrap())).collect()
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

#[test]
fn an_execution_of_a_step_never_overwrites_another_in_the_layout_of_flow_studio() {
    let mut run =
        String::from(r#"{"type":"run.started","payload":{"name":"w","kind":"workflow"}}"#);
    for round in 0..3 {
        for attempt in 1..3 {
            let path = format!("each[{round}].ask");
            let started = json!({"name": "ask", "kind": "agent", "attempt": attempt,
                "agent": {"provider": "claude"}});
            let text = format!("round {round}, attempt {attempt}");
            let blocks = json!([{"type": "text", "fidelity": "agent_emitted", "text": text}]);
            for (kind, payload) in [
                ("step.started", started.clone()),
                ("message.assistant", json!({"role": "assistant", "blocks": blocks})),
                ("step.completed", started),
            ] {
                let line =
                    json!({"type": kind, "path": path, "iteration": round, "payload": payload});
                run += &format!("\n{line}");
            }
        }
    }
    let (tree, losses) = files_of(&events(&run));
    let mut said = Vec::new();
    for (path, receipt) in documents(&tree, "/receipts") {
        let transcript = format!("run/w/{}", receipt["transcript_path"].as_str().unwrap());
        let text = lines(&tree.0[&transcript])[0]["content"].as_str().unwrap().to_owned();
        assert_eq!(text, format!("round {}, attempt {}", receipt["iteration"], receipt["attempt"]));
        let is_latest = path == "run/w/receipts/ask-claude.json";
        assert_eq!(is_latest, text == "round 2, attempt 2", "{path}");
        said.push(text);
    }
    said.sort();
    said.dedup();
    assert_eq!((said.len(), losses.total()), (6, 0));
}

#[test]
fn every_receipt_in_the_layout_of_flow_studio_has_every_documented_field() {
    for name in ["workflow", "stub", "session", "foreign"] {
        let (tree, _) = files_of(&case(name));
        let receipts = documents(&tree, "/receipts");
        assert!(!receipts.is_empty());
        for (path, receipt) in receipts {
            for key in ["engine", "model", "step_id", "flow_key", "run_id", "agent_key"] {
                assert!(receipt[key].as_str().is_some_and(|text| !text.is_empty()), "{path} {key}");
            }
            for key in ["started_at", "completed_at"] {
                let text = receipt[key].as_str().unwrap();
                assert!(text.len() == 27 && text.ends_with('Z'), "{path} {key}: {text}");
            }
            assert!(receipt["duration_ms"].is_u64(), "{path}");
            assert!(matches!(receipt["status"].as_str(), Some("succeeded" | "failed")), "{path}");
            let tokens = |key: &str| receipt["tokens"][key].as_u64().unwrap();
            assert_eq!(tokens("prompt") + tokens("completion"), tokens("total"), "{path}");
            let flow = path.split("/receipts").next().unwrap();
            let transcript = receipt["transcript_path"].as_str().unwrap();
            assert!(tree.0.contains_key(&format!("{flow}/{transcript}")), "{path}");
        }
    }
}

#[test]
fn a_run_that_nobody_answered_is_marked_as_a_stub_in_the_layout_of_flow_studio() {
    let (tree, _) = files_of(&case("stub"));
    for (path, receipt) in documents(&tree, "/receipts/") {
        assert_eq!(receipt["model"], "claude-stub", "{path}");
        assert_eq!(receipt["tokens"], json!({"prompt": 0, "completion": 0, "total": 0}), "{path}");
    }
    let replies = tree.0.iter().filter(|(path, _)| path.contains("/llm/"));
    for (path, bytes) in replies {
        for line in lines(bytes).iter().filter(|line| line["role"] == "assistant") {
            assert!(line["content"].as_str().unwrap().starts_with("[STUB]"), "{path}");
        }
    }
    let (tree, _) = files_of(&case("workflow"));
    assert!(!tree.0.values().any(|bytes| String::from_utf8_lossy(bytes).contains("[STUB]")));
}

/// Returns the transcripts of a run `w` of these lines, its start aside, by file.
fn transcripts(rest: &[Value]) -> Vec<(String, Vec<Value>)> {
    let mut run =
        json!({"type": "run.started", "payload": {"name": "w", "kind": "workflow"}}).to_string();
    rest.iter().for_each(|line| run += &format!("\n{line}"));
    let (tree, _) = files_of(&events(&run));
    let of_steps = tree.0.iter().filter(|(path, _)| path.contains("/llm"));
    of_steps.map(|(path, bytes)| (path.clone(), lines(bytes))).collect()
}

fn at_step(kind: &str, payload: Value) -> Value {
    json!({"type": kind, "path": "s", "payload": payload})
}

#[test]
fn what_a_step_leaves_is_what_was_said_and_done_in_it() {
    let agent = json!({"name": "s", "kind": "agent", "agent": {"provider": "claude"}});
    let command = json!({"name": "s", "kind": "command",
        "blocks": [{"type": "command", "fidelity": "router", "command": "ls"}]});
    let end =
        |status: &str, result: Value| json!({"name": "s", "status": status, "result": result});
    let bash = |mut more: Value| {
        let line = json!({"timestamp": "t", "role": "tool", "tool_name": "Bash",
            "tool_input": {"command": "ls"}});
        more.as_object_mut().unwrap().append(&mut line.as_object().unwrap().clone());
        more
    };
    for (what, start, end, expected) in [
        (
            "the words of a program that failed are no reply",
            &agent,
            end("failed", json!({"stderr": "dying\n", "exit_code": 3})),
            vec![],
        ),
        (
            "a reply that came in no message is one",
            &agent,
            end("succeeded", json!({"output": "Done.", "stderr": "a warning"})),
            vec![json!({"timestamp": "t", "role": "assistant", "content": "Done."})],
        ),
        (
            "a command has both",
            &command,
            end("failed", json!({"stdout": "a", "stderr": "b"})),
            vec![bash(json!({"tool_output": "a\nb"}))],
        ),
        (
            "output that was cut says so",
            &command,
            end("succeeded", json!({"stdout": "a", "stderr": "", "truncated": true})),
            vec![bash(json!({"tool_output": "a", "truncated": true}))],
        ),
        ("what was skipped was not done", &command, end("skipped", Value::Null), vec![]),
    ] {
        let found =
            transcripts(&[at_step("step.started", start.clone()), at_step("step.completed", end)]);
        let mut found = found.into_iter().flat_map(|(_, lines)| lines).collect::<Vec<_>>();
        found.iter_mut().for_each(|line| line["timestamp"] = json!("t"));
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn an_answer_that_comes_after_its_step_stands_with_its_call() {
    let step = json!({"name": "s", "kind": "agent", "agent": {"provider": "claude"}});
    let call = json!({"name": "Bash", "call_id": "c", "input": {"command": "ls"}});
    let result = json!({"name": "Bash", "call_id": "c", "output": "a", "status": "completed"});
    let begin = [
        at_step("step.started", step.clone()),
        at_step("tool.call", call),
        at_step("step.completed", step.clone()),
    ];
    let late = [&begin[..], &[at_step("tool.result", result)]].concat();
    let again = [&begin[..], &[at_step("step.started", step)]].concat();
    for (run, expected) in [(late, json!("a")), (begin.to_vec(), json!(null)), (again, json!(null))]
    {
        let found = transcripts(&run);
        let calls: Vec<_> = found.iter().flat_map(|(_, lines)| lines).collect();
        assert_eq!(calls.len(), 1, "{found:?}");
        assert_eq!(calls[0]["tool_output"], expected, "{found:?}");
    }
}

#[test]
fn a_run_that_was_asked_to_be_a_stub_is_one_before_anybody_answers() {
    let run = r#"{"type":"run.started","payload":{"name":"w","kind":"workflow","labels":{"set.stub":"true"}}}
{"type":"step.started","path":"s","payload":{"name":"s","kind":"agent","agent":{"provider":"claude"}}}"#;
    let (tree, _) = files_of(&events(run));
    let (_, receipt) = documents(&tree, "/receipts/").remove(0);
    assert_eq!((&receipt["mode"], &receipt["model"]), (&json!("stub"), &json!("claude-stub")));
}

#[test]
fn the_id_of_a_step_has_no_dot_and_is_its_alone() {
    let step = |path: &str| {
        json!({"type": "step.started", "path": path,
            "payload": {"name": path, "kind": "agent", "agent": {"provider": "claude"}}})
    };
    let found = transcripts(&[step("impl-loop"), step("b_lint"), step("b.lint"), step("impl")]);
    let names: Vec<_> = found.iter().map(|(path, _)| path.rsplit('/').next().unwrap()).collect();
    let expected = [
        "b_lint-claude-claude.jsonl",
        "b_lint_2-claude-claude.jsonl",
        "impl-claude-claude.jsonl",
        "impl-loop-claude-claude.jsonl",
    ];
    assert_eq!(names, expected);
}

/// A shelf that only counts how much it was given.
#[derive(Default)]
struct Scale {
    calls: usize,
    largest: usize,
}

impl Shelf for Scale {
    fn append(&mut self, _: &str, bytes: &[u8]) {
        self.calls += 1;
        self.largest = self.largest.max(bytes.len());
    }
    fn put(&mut self, path: &str, bytes: &[u8]) {
        self.append(path, bytes);
    }
    fn rename(&mut self, _: &str, _: &str) {}
}

#[test]
fn bytes_leave_while_events_come() {
    let line = r#"{"type":"message.assistant","payload":{"role":"assistant","blocks":[{"type":"text","fidelity":"router","text":"x"}]}}"#;
    let (mut view, mut scale) = (FlowStudioView::new(), Scale::default());
    let event = &events(line)[0];
    for n in 1..2000 {
        view.add(event, &mut scale);
        assert!(scale.calls > n, "nothing was written at event {n}");
    }
    view.finish(&mut scale);
    assert!(scale.largest < 2000, "{} bytes at once", scale.largest);
}

fn any_event() -> impl Strategy<Value = Event> {
    let kinds: Vec<String> = Kind::ALL.iter().map(ToString::to_string).collect();
    let kind = prop_oneof![9 => prop::sample::select(kinds), 1 => "[a-z.]{0,8}"];
    let path = prop_oneof!["[ab]?([.][ab]|\\[[0-2]\\]){0,3}", "[./\\\\ é]{0,5}", "loop:[01]/a"];
    let text = prop_oneof!["[a-z]{0,3}", "\\PC{0,6}", Just("..".to_owned())];
    let block = (
        prop::sample::select(vec!["text", "thinking", "tool_use", "tool_result", "x"]),
        text.clone(),
    )
        .prop_map(|(kind, text)| {
            json!({"type": kind, "text": text, "thinking": text, "tool_id": "c", "tool_name": text,
                "fidelity": "router"})
        });
    let fields = (
        text.clone(),
        prop::sample::select(vec!["agent", "command", "for_each", "operation", ""]),
        prop::collection::vec(block, 0..3),
        prop::sample::select(vec![json!(null), json!("c"), json!({"a": 1}), json!([1])]),
        prop::option::of(text),
    );
    let payload = fields.prop_map(|(name, kind, blocks, value, provider)| {
        json!({"name": name, "kind": kind, "blocks": blocks, "input": value, "output": value,
            "call_id": "c", "result": value, "subtype": name, "role": "user",
            "agent": {"provider": provider}, "next": {"goto": value, "because": "retry"}})
    });
    let payload = prop_oneof![4 => payload, 1 => Just(Value::Null), 1 => Just(json!(7))];
    let source = prop::option::weighted(0.2, "subagent:[ab/.]{1,3}");
    (kind, path, payload, source).prop_map(|(kind, path, payload, source)| {
        let line = json!({"seq": 1, "run_id": "r", "type": kind, "path": path, "iteration": 0,
            "timestamp": "2026-01-01T00:00:00Z", "payload": payload, "source": source});
        decode_line(line.to_string().as_bytes()).unwrap()
    })
}

proptest! {
    #[test]
    fn whatever_happens_files_are_sound_and_stay_below_the_run(
        events in prop::collection::vec(any_event(), 1..50),
    ) {
        let (tree, losses) = files_of(&events);
        prop_assert!(losses.total() <= events.len() as u64);
        for (path, bytes) in &tree.0 {
            let parts: Vec<&str> = path.split('/').collect();
            prop_assert_eq!(parts[0], "r");
            for part in parts {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
                prop_assert!(!part.is_empty() && !part.starts_with('.'), "{}", path);
                prop_assert!(part.chars().all(is_plain), "{}", path);
            }
            if path.ends_with(".jsonl") {
                lines(bytes);
            } else {
                prop_assert!(serde_json::from_slice::<Value>(bytes).is_ok(), "{}", path);
            }
        }
        let receipts = tree.0.keys().filter(|path| path.contains("/receipts")).count();
        let transcripts = tree.0.keys().filter(|path| path.contains("/llm")).count();
        prop_assert_eq!(receipts, transcripts);
    }
}
