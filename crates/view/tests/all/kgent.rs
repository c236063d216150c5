//! The kgent layout: its eight acceptance criteria by name.
//!
//! - `hostile`: what transcripts that make no sense do to it
//! - `course`: what is told of steps, tools and files

mod course;
mod hostile;

use std::collections::BTreeSet;

use quipu_event::{Event, decode_line};
use quipu_view::{FileTree, FileView, KgentOptions, KgentView, Losses, Shelf};
use serde_json::{Value, json};

use super::transcript::events;

const SECTIONS: [&str; 8] = [
    "## Metadata",
    "## Prompt",
    "## Effective Role Summary",
    "## Skills Used",
    "## Tool Activity Summary",
    "## Work Notes",
    "## Deliverables",
    "## Errors and Warnings",
];

const TYPES: [&str; 21] = [
    "run.created",
    "run.started",
    "run.completed",
    "run.failed",
    "config.loaded",
    "prompt.rendered",
    "skill.indexed",
    "skill.loaded",
    "memory.recall.started",
    "memory.recall.completed",
    "memory.write.requested",
    "tool.started",
    "tool.completed",
    "tool.failed",
    "file.read",
    "file.written",
    "file.rejected",
    "deliverable.check.started",
    "deliverable.check.completed",
    "deliverable.missing",
    "error",
];

/// A run with something of everything.
const RUN: &str = r#"
{"type":"run.created","payload":{"name":"report","kind":"workflow"}}
{"type":"run.started","payload":{"name":"report","kind":"workflow","cwd":"/w","session_id":"s-1","agent":{"provider":"claude","model":"m-1"}}}
{"type":"config.loaded","payload":{"profile_id":"p"}}
{"type":"skill.indexed","payload":{"count":2}}
{"type":"skill.loaded","payload":{"skill_id":"writing"}}
{"type":"step.started","path":"draft","payload":{"name":"draft","kind":"agent"}}
{"type":"message.user","path":"draft","payload":{"role":"user","blocks":[{"type":"text","text":"You are careful.","purpose":"system_prompt"},{"type":"text","text":"Write the SECRETPROMPT report."}]}}
{"type":"memory.recall.started","path":"draft","payload":{"query_summary":"reports"}}
{"type":"memory.recall.completed","path":"draft","payload":{"count":3}}
{"type":"tool.call","path":"draft","payload":{"name":"Read","call_id":"c1","input":{"file_path":"in.csv"}}}
{"type":"tool.result","path":"draft","payload":{"name":"Read","call_id":"c1","output":"a,b","duration_ms":7}}
{"type":"message.assistant","path":"draft","payload":{"role":"assistant","blocks":[{"type":"text","text":"I have read it."}]}}
{"type":"tool.call","path":"draft","payload":{"name":"Write","call_id":"c2","input":{"file_path":"report.md","content":"abc"}}}
{"type":"tool.result","path":"draft","payload":{"name":"Write","call_id":"c2","output":"ok"}}
{"type":"tool.call","path":"draft","payload":{"name":"Write","call_id":"c3","input":{"file_path":"/etc/passwd","content":"x"}}}
{"type":"tool.result","path":"draft","payload":{"name":"Write","call_id":"c3","output":null,"status":"blocked","error":"outside the working directory"}}
{"type":"tool.call","path":"draft","payload":{"name":"Bash","call_id":"c4","input":{"command":"make"}}}
{"type":"tool.result","path":"draft","payload":{"name":"Bash","call_id":"c4","output":"boom","status":"failed","error":"exit 2"}}
{"type":"memory.write.requested","path":"draft","payload":{"scope":"project"}}
{"type":"error","path":"draft","payload":{"code":"rate_limit","category":"provider","message":"slow down","retryable":true,"details":{"after":3}}}
{"type":"usage","path":"draft","payload":{"model":"m-1","input_tokens":10,"output_tokens":5,"scope":"message"}}
{"type":"step.completed","path":"draft","payload":{"name":"draft","kind":"agent","status":"succeeded","duration_ms":1500}}
{"type":"system","payload":{"subtype":"note","title":"Why","content":"Because of the numbers."}}
{"type":"deliverable.check.started","payload":{"required":["report.md","plot.png"],"missing":[]}}
{"type":"deliverable.missing","payload":{"required":["report.md","plot.png"],"missing":["plot.png"]}}
{"type":"deliverable.check.completed","payload":{"required":["report.md","plot.png"],"missing":["plot.png"],"result":"incomplete"}}
{"type":"run.completed","payload":{"name":"report","kind":"workflow","status":"succeeded","duration_ms":29000}}
"#;

/// A shelf that notices when something that was written changes.
#[derive(Default)]
struct AppendOnly {
    tree: FileTree,
    put: BTreeSet<String>,
}

impl Shelf for AppendOnly {
    fn append(&mut self, path: &str, bytes: &[u8]) {
        assert!(!self.put.contains(path), "{path} was written whole before");
        self.tree.append(path, bytes);
    }

    fn put(&mut self, path: &str, bytes: &[u8]) {
        self.put.insert(path.to_owned());
        self.tree.put(path, bytes);
    }

    fn rename(&mut self, from: &str, _: &str) {
        panic!("{from} was moved");
    }
}

fn exported(events: &[Event]) -> (FileTree, Losses) {
    let mut view = KgentView::new(KgentOptions::default());
    let mut tree = FileTree::default();
    events.iter().for_each(|event| view.add(event, &mut tree));
    view.finish(&mut tree);
    (tree, view.losses().clone())
}

fn tree_of(lines: &str) -> FileTree {
    exported(&events(lines)).0
}

fn lines(tree: &FileTree, file: &str) -> Vec<Value> {
    let text = tree.text(&format!("runs/run/{file}")).unwrap_or_else(|| panic!("no {file}"));
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

fn log(tree: &FileTree) -> Vec<Value> {
    lines(tree, "events.jsonl")
}

fn of_type<'a>(log: &'a [Value], kind: &str) -> Vec<&'a Value> {
    log.iter().filter(|event| event["type"] == kind).collect()
}

fn transcript(tree: &FileTree) -> &str {
    tree.text("runs/run/transcript.md").expect("there is a transcript")
}

fn headings(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("## ") || line.starts_with("# ")).collect()
}

#[track_caller]
fn assert_sections(text: &str) {
    let expected: Vec<&str> = ["# Run Transcript"].into_iter().chain(SECTIONS).collect();
    assert_eq!(headings(text), expected, "{text}");
}

#[test]
fn criterion_1_every_run_creates_events_and_a_transcript() {
    let cases = [
        RUN,
        r#"{"type":"run.created","payload":{}}"#,
        r#"{"type":"tool.result","payload":7}"#,
        r#"{"type":"message.assistant","payload":null}"#,
        r#"{"type":"from.the.future","payload":{"a":1}}"#,
    ];
    for case in cases {
        let tree = tree_of(case);
        let files: Vec<&str> = tree.0.keys().map(String::as_str).collect();
        let expected = [
            "runs/run/events.jsonl",
            "runs/run/logs/errors.jsonl",
            "runs/run/logs/tools.jsonl",
            "runs/run/run.json",
            "runs/run/transcript.md",
        ];
        assert_eq!(files, expected, "{case}");
        assert_sections(transcript(&tree));
    }
}

#[test]
fn criterion_2_tool_calls_record_start_completion_failure_and_duration() {
    let tree = tree_of(RUN);
    let log = log(&tree);
    let started = of_type(&log, "tool.started");
    let completed = of_type(&log, "tool.completed");
    let failed = of_type(&log, "tool.failed");
    assert_eq!((started.len(), completed.len(), failed.len()), (4, 2, 2));
    for end in completed.iter().chain(&failed) {
        let start = started.iter().find(|s| s["correlation_id"] == end["correlation_id"]).unwrap();
        assert_eq!(end["parent_event_id"], start["event_id"]);
        assert!(end["data"]["duration_ms"].is_u64(), "{end}");
    }
    assert_eq!(completed[0]["data"]["duration_ms"], 7);
    assert_eq!(completed[1]["data"]["duration_ms"], 1000, "measured where nobody says");
    assert_eq!(failed[0]["data"]["status"], "blocked");
    assert_eq!(failed[0]["severity"], "warning");
    let tools = lines(&tree, "logs/tools.jsonl");
    let told: Vec<_> = tools.iter().map(|t| (t["call_id"].clone(), t["status"].clone())).collect();
    let expected = [("c1", "completed"), ("c2", "completed"), ("c3", "blocked"), ("c4", "failed")];
    assert_eq!(told, expected.map(|(id, status)| (json!(id), json!(status))));
    assert_eq!(tools[1]["artifacts"], json!(["report.md"]));
    assert_eq!(tools[3]["error"]["category"], "tool");
}

#[test]
fn criterion_3_errors_are_written_to_the_log_of_errors() {
    let errors = lines(&tree_of(RUN), "logs/errors.jsonl");
    let codes: Vec<_> = errors.iter().map(|e| e["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["tool_blocked", "tool_failed", "rate_limit", "deliverables_incomplete"]);
    let reported = &errors[2];
    assert_eq!(reported["category"], "unknown", "a family that the layout does not know");
    assert_eq!(reported["details"], json!({"after": 3, "category": "provider"}));
    assert_eq!(reported["retryable"], true);

    let failing = r#"
{"type":"run.started","payload":{"name":"r","kind":"workflow"}}
{"type":"step.completed","path":"build","payload":{"name":"build","kind":"command","status":"failed","error":"exit code 2","result":{"stderr":"no rule","exit_code":2}}}
{"type":"run.completed","payload":{"status":"failed","error":"build failed"}}"#;
    let tree = tree_of(failing);
    let errors = lines(&tree, "logs/errors.jsonl");
    assert_eq!(errors[0]["details"]["stderr"], "no rule", "enough to find the reason");
    assert_eq!(errors[1]["code"], "run_failed");
    assert_eq!(of_type(&log(&tree), "error").len(), 1);
}

#[test]
fn criterion_4_file_operations_are_recorded() {
    let log = log(&tree_of(RUN));
    let told = |kind: &str| {
        let all = of_type(&log, kind);
        all.iter().map(|e| e["data"]["path"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(told("file.read"), [json!("in.csv")]);
    assert_eq!(told("file.written"), [json!("report.md")]);
    assert_eq!(told("file.rejected"), [json!("/etc/passwd")]);
    let written = of_type(&log, "file.written")[0];
    assert_eq!(written["data"]["bytes"], 3);
    let starts = of_type(&log, "tool.started");
    assert_eq!(written["parent_event_id"], starts[1]["event_id"]);
    assert_eq!(written["correlation_id"], "c2");
}

#[test]
fn criterion_5_checks_of_deliverables_emit_events() {
    let log = log(&tree_of(RUN));
    let started = of_type(&log, "deliverable.check.started")[0];
    for kind in ["deliverable.missing", "deliverable.check.completed"] {
        let told = of_type(&log, kind);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["parent_event_id"], started["event_id"]);
        assert_eq!(told[0]["data"]["missing"], json!(["plot.png"]));
        assert_eq!(
            (&told[0]["actor"], &told[0]["severity"]),
            (&json!("governance"), &json!("warning"))
        );
    }
    assert_eq!(of_type(&log, "deliverable.check.completed")[0]["data"]["status"], "incomplete");
}

#[test]
fn criterion_6_events_have_ids_a_monotonic_sequence_an_actor_a_severity_and_a_summary() {
    let log = log(&tree_of(RUN));
    assert_complete(&log);
    assert!(log.iter().all(|event| event["session_id"] == "s-1"), "the first line too");
    assert!(log.iter().all(|event| event["task_id"] == "task_run"));
    let told: BTreeSet<&str> = log.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let all: BTreeSet<&str> = TYPES.into_iter().filter(|kind| *kind != "run.failed").collect();
    assert_eq!(told, all);
}

#[track_caller]
fn assert_complete(log: &[Value]) {
    let mut ids = BTreeSet::new();
    for (n, event) in log.iter().enumerate() {
        let text = |key: &str| event[key].as_str().expect("every event has it");
        assert_eq!(event["sequence"], n as u64 + 1);
        for key in ["run_id", "session_id", "task_id", "timestamp", "actor", "summary"] {
            assert!(event[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {event}");
        }
        assert!(TYPES.contains(&text("type")), "{event}");
        assert!(text("event_id").starts_with("evt_"));
        assert!(ids.insert(text("event_id")), "{event} has the name of another");
        assert!(["debug", "info", "warning", "error"].contains(&text("severity")));
        assert!(text("summary").chars().count() <= 200);
        assert!(event["data"].is_object());
        if event.get("parent_event_id").is_some() {
            assert!(ids.contains(text("parent_event_id")), "{event} comes from nowhere");
        }
    }
}

#[test]
fn criterion_7_event_writes_are_append_only() {
    let events = events(RUN);
    let mut view = KgentView::new(KgentOptions::default());
    let mut shelf = AppendOnly::default();
    let mut before = Vec::new();
    for event in &events {
        view.add(event, &mut shelf);
        if let Some(now) = shelf.tree.0.get("runs/run/events.jsonl") {
            assert!(now.starts_with(&before));
            before.clone_from(now);
        }
    }
    view.finish(&mut shelf);
    let put: Vec<&str> = shelf.put.iter().map(String::as_str).collect();
    assert_eq!(put, ["runs/run/run.json", "runs/run/transcript.md"]);
    assert_eq!(shelf.tree, exported(&events).0);
}

#[test]
fn the_transcript_of_a_run_that_goes_on_says_so_and_what_came_so_far() {
    let events = events(RUN);
    let mut view = KgentView::new(KgentOptions::default());
    let mut tree = FileTree::default();
    for (n, event) in events.iter().enumerate() {
        view.add(event, &mut tree);
        if let Some(text) = tree.text("runs/run/transcript.md") {
            let after = (n + 1).next_power_of_two() / if (n + 1).is_power_of_two() { 1 } else { 2 };
            assert!(
                text.contains(&format!("\nThe run after {after} events. It goes on; ")),
                "{text}"
            );
        }
    }
    let so_far = tree.text("runs/run/transcript.md").unwrap().to_owned();
    assert!(so_far.contains("I have read it.") && so_far.contains("| `Write` |"), "{so_far}");
    view.finish(&mut tree);
    assert!(!tree.text("runs/run/transcript.md").unwrap().contains("It goes on"));
}

#[test]
fn a_deliverable_with_a_problem_is_not_called_there() {
    let tree = tree_of(
        r#"
        {"type":"run.started","payload":{"name":"w","kind":"workflow"}}
        {"type":"deliverable.check.started","payload":{"required":["a.md","../b.md","c.md"],"missing":[]}}
        {"type":"deliverable.check.completed","payload":{"required":["a.md","../b.md","c.md"],"missing":["c.md"],"problems":["../b.md: lies outside","c.md: is empty"],"result":"blocked"}}
        "#,
    );
    let text = transcript(&tree);
    for part in ["a.md): there\n", "b.md): lies outside\n", "c.md): is empty\n"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn what_was_not_looked_for_is_not_said_to_be_unneeded() {
    let started = r#"{"type":"run.started","payload":{"name":"w","kind":"workflow"}}"#;
    let ended = |status: &str| {
        format!(r#"{{"type":"run.completed","payload":{{"name":"w","status":"{status}"}}}}"#)
    };
    let (required, checked) = ("No deliverables were required.", "No deliverables were checked: ");
    for (lines, expected) in [
        (vec![started], checked),
        (vec![started, &ended("aborted")], checked),
        (vec![started, &ended("failed"), started], checked),
        (vec![started, &ended("failed")], required),
        (vec![started, &ended("aborted"), started, &ended("succeeded")], required),
    ] {
        let tree = tree_of(&lines.join("\n"));
        let text = transcript(&tree);
        assert!(text.contains(&format!("## Deliverables\n\n{expected}")), "{lines:?}\n{text}");
    }
}

#[test]
fn criterion_8_the_transcript_is_readable_and_points_to_the_deliverables() {
    let tree = tree_of(RUN);
    let text = transcript(&tree);
    assert_sections(text);
    for part in [
        "- Name: report",
        "- Status: **completed**",
        "- Duration: 29.0 s",
        "(logs/tools.jsonl)",
        "(events.jsonl)",
        "> You are careful.",
        "- `writing`",
        "| `Write` | 2 | 1 | 0 | 1 | 0 | 2.0 s |",
        "Files: 1 read, 1 written, 1 rejected",
        "I have read it.",
        "- 00:00:06 to 00:00:22 `draft` (agent) succeeded, 1.5 s",
        "### Why\n\nBecause of the numbers.\n",
        "- [report.md](report.md): there",
        "- [plot.png](plot.png): missing",
        "`rate_limit` slow down",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let options = KgentOptions { root: Some("/w/out".to_owned()) };
    let (mut view, mut tree) = (KgentView::new(options), FileTree::default());
    events(RUN).iter().for_each(|event| view.add(event, &mut tree));
    view.finish(&mut tree);
    assert!(transcript(&tree).contains("- [report.md](../../../report.md): there"));
}

#[test]
fn a_file_that_the_transcript_speaks_of_is_told_once() {
    let call =
        r#"{"type":"tool.call","payload":{"name":"Write","call_id":"c","input":{"path":"a"}}}"#;
    let result = r#"{"type":"tool.result","payload":{"name":"Write","call_id":"c","output":"ok"}}"#;
    let other = r#"{"type":"tool.result","payload":{"name":"x","call_id":"d","output":"ok"}}"#;
    let word =
        r#"{"type":"file.written","payload":{"file":"a","bytes":3,"sha256":"f","call_id":"c"}}"#;
    let orders =
        [[call, word, result, other], [call, result, word, other], [call, result, other, word]];
    for order in orders {
        let log = log(&tree_of(&order.join("\n")));
        let told = of_type(&log, "file.written");
        assert_eq!(told.len(), 1, "{order:?}");
        assert_eq!(told[0]["data"]["sha256"], "f");
        assert_eq!(told[0]["parent_event_id"], of_type(&log, "tool.started")[0]["event_id"]);
    }
}

#[test]
fn a_prompt_stands_in_no_event() {
    let tree = tree_of(RUN);
    let text = tree.text("runs/run/events.jsonl").unwrap();
    assert!(!text.contains("SECRETPROMPT") && !text.contains("careful"));
    let log = log(&tree);
    let prompt = of_type(&log, "prompt.rendered")[0];
    assert_eq!(prompt["data"]["prompt"]["characters"], 30);
    assert_eq!(prompt["data"]["prompt"]["sha256"].as_str().unwrap().len(), 64);
    let told = r#"{"type":"prompt.rendered","payload":{"text":"SECRETPROMPT","template":"t"}}"#;
    let tree = tree_of(told);
    assert!(!tree.text("runs/run/events.jsonl").unwrap().contains("SECRETPROMPT"));
    assert_eq!(self::log(&tree)[0]["data"]["template"], "t");
}

#[test]
fn what_was_hidden_in_is_not_measured() {
    let tree = tree_of(
        r#"
        {"type":"message.user","payload":{"role":"user","blocks":[{"type":"text","text":"Use [masked:github]."}]}}
        {"type":"prompt.rendered","payload":{"text":"Use ***secret:api_key***."}}
        {"type":"tool.call","payload":{"name":"Write","call_id":"c","input":{"path":"a","content":"k=[masked:github]"}}}
        {"type":"tool.result","payload":{"name":"Write","call_id":"c","output":"ok"}}
        "#,
    );
    let log = log(&tree);
    let prompts = of_type(&log, "prompt.rendered");
    assert_eq!(prompts[0]["data"]["prompt"], json!({"masked": true}));
    assert_eq!(prompts[0]["summary"], "prompt rendered");
    assert_eq!(prompts[1]["data"]["text"], json!({"masked": true}));
    let written = &of_type(&log, "file.written")[0]["data"];
    assert_eq!((written.get("bytes"), written.get("sha256")), (None, None), "{written}");
    assert!(transcript(&tree).contains("- Use \\[masked:github\\].\n"), "{}", transcript(&tree));
}

#[test]
fn large_outputs_are_told_in_few_words() {
    let large = "line of output\n".repeat(100_000);
    let call = json!({"type": "tool.call", "payload": {"name": "Write", "call_id": "c",
        "input": {"path": "a", "content": large}}});
    let result = json!({"type": "tool.result", "payload": {"name": "Write", "call_id": "c",
        "input": {"path": "a", "content": large}, "output": large}});
    let tree = tree_of(&format!("{call}\n{result}"));
    let sizes: Vec<usize> = tree.0.values().map(Vec::len).collect();
    assert!(sizes.iter().all(|size| *size < 4_000), "{sizes:?}");
    assert!(log(&tree)[1]["data"]["result_summary"].as_str().unwrap().ends_with("(1500000 bytes)"));
}

#[test]
fn a_number_that_nobody_can_hold_leaves_the_rest_of_a_call_as_it_is() {
    let tree = tree_of_lines(&[
        r#"{"name":"Write","call_id":"c","input":{"file_path":"b.txt","n":1e400}}"#,
        r#"{"name":"Write","call_id":"c","input":null,"output":{"content":"done","n":1e400}}"#,
    ]);
    let tool = &lines(&tree, "logs/tools.jsonl")[0];
    assert_eq!(tool["args_summary"], json!({"file_path": "b.txt", "n": "1e400"}));
    assert_eq!(tool["result_summary"], "done");
    assert_eq!(of_type(&log(&tree), "file.written")[0]["data"]["path"], "b.txt");
}

/// Returns what a call and its result come to, whose payloads are spelled as they stand.
fn tree_of_lines(payloads: &[&str; 2]) -> FileTree {
    let line = |(n, payload): (usize, &&str)| {
        let kind = ["tool.call", "tool.result"][n];
        let line = format!(
            r#"{{"seq":{n},"run_id":"run","type":"{kind}","path":"","iteration":0,"timestamp":"2026-01-01T00:00:00Z","payload":{payload}}}"#
        );
        decode_line(line.as_bytes()).expect("it is an event")
    };
    exported(&payloads.iter().enumerate().map(line).collect::<Vec<_>>()).0
}

#[test]
fn a_call_without_a_result_is_recorded_as_started() {
    let tree = tree_of(
        r#"{"type":"run.started","payload":{"name":"r"}}
           {"type":"tool.call","payload":{"name":"Bash","call_id":"c","input":"ls"}}"#,
    );
    let tools = lines(&tree, "logs/tools.jsonl");
    assert_eq!(tools.len(), 1);
    assert_eq!((&tools[0]["status"], &tools[0]["completed_at"]), (&json!("started"), &json!(null)));
    assert_eq!(tools[0]["args_summary"], json!({"input": "ls"}));
    let run: Value = serde_json::from_str(tree.text("runs/run/run.json").unwrap()).unwrap();
    assert_eq!(run["status"], "running");
}

#[test]
fn run_json_has_the_final_status_and_times() {
    let ends = [
        ("succeeded", "run.completed", "completed", "info"),
        ("failed", "run.failed", "failed", "error"),
        ("aborted", "run.failed", "failed", "error"),
        ("canceled", "run.failed", "cancelled", "warning"),
    ];
    for (status, kind, state, severity) in ends {
        let tree = tree_of(&format!(
            r#"{{"type":"run.started","payload":{{"name":"r","kind":"exec"}}}}
               {{"type":"run.completed","payload":{{"status":"{status}"}}}}"#
        ));
        let log = log(&tree);
        assert_eq!((&log[1]["type"], &log[1]["severity"]), (&json!(kind), &json!(severity)));
        let run: Value = serde_json::from_str(tree.text("runs/run/run.json").unwrap()).unwrap();
        assert_eq!(run["status"], state);
        assert_eq!(run["started_at"], "2026-01-01T00:00:01.000000Z");
        assert_eq!(run["completed_at"], "2026-01-01T00:00:02.000000Z");
        assert_eq!(run["duration_ms"], 1000);
    }
}

#[test]
fn the_duration_of_a_resumed_run_is_the_time_between_its_start_and_its_end() {
    let tree = tree_of(
        r#"
        {"type":"run.started","payload":{"name":"w","kind":"workflow"}}
        {"type":"run.completed","payload":{"name":"w","status":"aborted"}}
        {"type":"run.started","payload":{"name":"w","kind":"workflow"}}
        {"type":"run.completed","payload":{"name":"w","status":"succeeded","duration_ms":139}}
        "#,
    );
    let run: Value = serde_json::from_str(tree.text("runs/run/run.json").unwrap()).unwrap();
    assert_eq!(run["started_at"], "2026-01-01T00:00:01.000000Z");
    assert_eq!(run["completed_at"], "2026-01-01T00:00:04.000000Z");
    assert_eq!(run["duration_ms"], 3000);
    assert!(transcript(&tree).contains("- Duration: 3.0 s\n"));
}
