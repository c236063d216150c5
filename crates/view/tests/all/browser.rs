//! The pages in a real browser. The checks are in `tests/browser/test.mjs`; here pages are made for them.
//!
//! A machine without Node or without Chromium says loudly that nothing was checked, which is a
//! failure only where `QUIPU_BROWSER_REQUIRED` is 1.

use std::path::Path;
use std::process::Command;

use quipu_event::Event;
use quipu_view::html::{RunCard, index};
use quipu_view::{FileTree, FileView, HtmlView};
use serde_json::{Value, json};

use super::transcript::{event, events, summary_of};

const RUN: &str = include_str!("cases/one-of-everything.jsonl");
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

#[test]
fn pages_do_in_a_browser_what_they_promise() {
    let Some(browser) = find_browser() else {
        assert_ne!(std::env::var("QUIPU_BROWSER_REQUIRED").as_deref(), Ok("1"));
        println!("!! NOT CHECKED, because node or chromium is missing: the pages in a browser");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    write_page(folder.path(), "run.html", &events(RUN));
    write_page(folder.path(), "hostile.html", &hostile());
    write_page(folder.path(), "long.html", &long());
    write_page(folder.path(), "odd.html", &odd());
    std::fs::write(folder.path().join("index.html"), index(&cards())).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/test.mjs");
    let outcome = Command::new("node").arg(script).arg(browser).arg(folder.path()).output();
    let outcome = outcome.unwrap();
    println!("{}", String::from_utf8_lossy(&outcome.stdout));
    assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
}

fn find_browser() -> Option<&'static str> {
    let runs = |program: &&str| Command::new(program).arg("--version").output().is_ok();
    runs(&"node").then(|| BROWSERS.iter().find(|program| runs(program)).copied())?
}

fn write_page(folder: &Path, name: &str, events: &[Event]) {
    let mut view = HtmlView::new();
    let mut shelf = FileTree::default();
    events.iter().for_each(|event| view.add(event, &mut shelf));
    view.finish(&mut shelf);
    let (_, page) = shelf.0.pop_first().expect("a run with events has a page");
    std::fs::write(folder.join(name), page).expect("the folder is there");
}

fn events_of(lines: impl IntoIterator<Item = Value>) -> Vec<Event> {
    let fields = |line: Value| line.as_object().cloned().expect("a line is an object");
    (1..).zip(lines).map(|(n, line)| event(n, fields(line))).collect()
}

/// A run that tries to leave its page from everywhere.
fn hostile() -> Vec<Event> {
    let x = "</script><script>pwned=1</script><img src=x onerror=pwned=1><!-- --> [a](javascript:pwned=1) \
             ![a](http://example.org/x) <a href='javascript:pwned=1'>b</a> ]]> {{script}} \u{2028} \"'";
    events_of([
        json!({ "type": "run.started", "path": "", "payload": { "name": x, "kind": x, "cwd": x, "labels": { x: x }, "agent": { "model": x } } }),
        json!({ "type": "step.started", "path": x, "payload": { "name": x, "kind": x, "blocks": [{ "type": "command", "command": x }] } }),
        json!({ "type": "message.user", "path": x, "payload": { "blocks": [{ "type": "text", "text": x }, { "type": x, "content": x }] } }),
        json!({ "type": "message.assistant", "path": x, "payload": { "model": x, "stop_reason": x, "blocks": [
            { "type": "thinking", "thinking": x }, { "type": "tool_use", "tool_name": x, "tool_id": x, "tool_input": { x: x } },
            { "type": "tool_result", "tool_id": x, "tool_content": x, "is_error": true }] } }),
        json!({ "type": "tool.call", "path": x, "source": x, "payload": { "name": x, "call_id": x, "input": { x: { x: [x] } }, "provider": x } }),
        json!({ "type": "tool.result", "path": x, "payload": { "name": x, "call_id": x, "output": { "content": [{ "text": x }] }, "error": x, "status": x } }),
        json!({ "type": "usage", "path": x, "payload": { "model": x, "input_tokens": 1 } }),
        json!({ "type": "system", "path": "", "payload": { "subtype": x, "__proto__": { "a": x }, "constructor": x } }),
        json!({ "type": "error", "path": "", "payload": { "code": x, "category": x, "message": x, "details": x } }),
        json!({ "type": "unknown", "path": "", "raw": x, "payload": { "native_type": x, "reason": x } }),
        json!({ "type": "constructor", "path": "__proto__", "payload": { "a": 1 } }),
        json!({ "type": "__proto__", "path": "constructor", "payload": x }),
        json!({ "type": x, "path": x, x: { x: x }, "payload": { x: x } }),
        json!({ "type": "message.user", "path": "", "payload": { "blocks": "no list" } }),
        json!({ "type": "message.assistant", "path": "", "payload": { "blocks": [null, 3] } }),
        json!({ "type": "tool.result", "path": "", "payload": { "name": 5, "status": [] } }),
        json!({ "type": "step.completed", "path": "", "payload": { "status": 3, "result": [1] } }),
        json!({ "type": "file.rejected", "path": "", "payload": { "file": x, "reason": x } }),
        json!({ "type": "run.completed", "path": "", "payload": { "name": x, "status": x, "error": x, "result": x } }),
        json!({ "type": "error", "path": "", "payload": { "code": "long", "message": "m".repeat(2_000_000) } }),
    ])
}

/// What is easily told wrong: spelled numbers, a loop without events of its own, an id that is used
/// twice, a cost that is not the whole.
fn odd() -> Vec<Event> {
    let payload = r#"{"b":1.10,"a":1e400,"2":{},"1":"\\u003c\"<"}"#;
    let spelled = format!(
        r#"{{"seq":1,"run_id":"run","type":"odd","path":"p","iteration":0,"timestamp":"2026-01-01T00:00:01.000000Z","child_run_id":"index","source":"<s>","later":[1.0],"payload":{payload}}}"#
    );
    let mut events = vec![quipu_event::decode_line(spelled.as_bytes()).expect("it is a line")];
    let round = |n: u64| {
        let status = if n == 120 { "failed" } else { "succeeded" };
        let path = format!("each[{n}].check");
        [
            json!({ "type": "step.started", "path": &path, "payload": { "name": "check" } }),
            json!({ "type": "step.completed", "path": &path, "payload": { "name": "check", "status": status } }),
        ]
    };
    let attempt = |n: u64| {
        let input = json!({ "file_path": format!("{n}.rs") });
        let used = json!({ "type": "tool_use", "tool_name": "Read", "tool_id": "c", "tool_input": &input });
        let status = if n == 1 { "failed" } else { "succeeded" };
        [
            json!({ "type": "step.started", "path": "twice", "payload": { "name": "twice", "attempt": n } }),
            json!({ "type": "message.assistant", "path": "twice", "payload": { "blocks": [used] } }),
            json!({ "type": "tool.call", "path": "twice", "payload": { "name": "Read", "call_id": "c", "input": input } }),
            json!({ "type": "step.completed", "path": "twice", "payload": { "name": "twice", "status": status } }),
        ]
    };
    let used = [
        json!({ "type": "usage", "path": "", "payload": { "model": "a", "input_tokens": 1, "cost_usd": 0.5 } }),
        json!({ "type": "usage", "path": "", "payload": { "model": "b", "input_tokens": 1 } }),
    ];
    let lines = (0..150).flat_map(round).chain((1..3).flat_map(attempt)).chain(used);
    let mut rest = events_of(lines);
    rest.iter_mut().for_each(|event| event.seq += 1);
    events.append(&mut rest);
    events
}

/// A hundred thousand events, with a word in the last but one that stands nowhere else.
fn long() -> Vec<Event> {
    let said = |text: String| json!({ "blocks": [{ "type": "text", "text": text }] });
    let line = |n: u64| {
        let path = format!("each[{}].check", n / 5);
        let times = n as usize % 40;
        let (kind, payload) = match n % 5 {
            _ if n == 99_998 => ("message.assistant", said("The last needle.".to_owned())),
            0 => ("step.started", json!({ "name": "check", "kind": "agent" })),
            1 => {
                let input = json!({ "command": format!("case {n} ") });
                ("tool.call", json!({ "name": "Bash", "call_id": n.to_string(), "input": input }))
            }
            2 => {
                let call = (n - 1).to_string();
                let output = "a line\n".repeat(times);
                ("tool.result", json!({ "name": "Bash", "call_id": call, "output": output }))
            }
            3 => ("message.assistant", said("It is read once. ".repeat(times))),
            _ => ("step.completed", json!({ "name": "check", "status": "succeeded" })),
        };
        json!({ "type": kind, "path": path, "payload": payload })
    };
    events_of((0..100_000).map(line))
}

fn cards() -> Vec<RunCard> {
    let card = |second: u64, id: &str, name: &str, parent: Option<&str>| {
        let mut line = json!({ "seq": 1, "run_id": id, "type": "run.started", "path": "", "payload": { "name": name } });
        if let Some(parent) = parent {
            line["parent_run_id"] = parent.into();
        }
        let event = event(second, line.as_object().cloned().expect("a line is an object"));
        RunCard::of(&summary_of(&[event])).expect("an event names its run")
    };
    vec![
        card(1, "a", "apple", None),
        card(9, "z", "zebra", None),
        card(10, "c", "child of zebra", Some("z")),
    ]
}
