//! `quipu resume`: what is finished stays finished, and the same file goes on.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use crate::run::{signal, wait_for, with_workflow};
use crate::session::Session;

const TWO_STEPS: &str = r#"
name: two
inputs:
  - {name: word, type: string, default: x}
states:
  initial: first
  first: {type: step, command: "echo first >> ran", on_success: second}
  second: {type: step, command: "echo second >> ran; test -e ready", on_success: done}
  done: {type: terminal}
"#;

const LOOP: &str = r#"
name: loop
states:
  initial: fan
  fan: {type: parallel, parallel: [each, side], on_success: done}
  side: {type: step, command: "echo side >> ran"}
  each: {type: for_each, items: [a, b, c, d], body: [check], on_complete: done}
  check: {type: step, command: 'if test "{{.loop.Item}}" = c && ! test -e ready; then echo stuck; sleep 60; fi; echo "{{.loop.Item}}" >> ran'}
  done: {type: terminal}
"#;

fn ran(session: &Session) -> Vec<String> {
    let mut ran: Vec<String> = fs::read_to_string(session.dir().join("ran"))
        .unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect();
    ran.sort();
    ran
}

#[test]
fn a_run_that_failed_goes_on_at_the_step_that_failed() {
    let session = with_workflow(TWO_STEPS);
    assert_eq!(session.quipu(&["run", "w.yaml", "--id", "r"]).code, Some(3));
    let before = session.lines("r").len();
    fs::write(session.dir().join("ready"), "").unwrap();
    let told = session.ok(&["resume", "r"]);
    assert!(told.starts_with("resuming r two\n"), "{told}");
    assert!(!told.contains("→ first"), "{told}");
    assert!(told.contains("✓ two succeeded in "), "{told}");
    assert_eq!(ran(&session), ["first", "second", "second"]);
    let lines = session.lines("r");
    assert!(lines.len() > before, "the same file goes on");
    let times = [&lines[0], lines.last().unwrap()].map(|line| {
        let time = line["timestamp"].as_str().unwrap();
        quipu_event::Timestamp::parse(time).unwrap()
    });
    let told = lines.last().unwrap()["payload"]["duration_ms"].as_u64().unwrap();
    let part = lines[before..].iter().find(|line| line["type"] == "run.started").unwrap();
    let part = quipu_event::Timestamp::parse(part["timestamp"].as_str().unwrap()).unwrap();
    assert!(told >= part.millis_since(times[0]), "the whole run's time is told, not its end's");
    assert!(told <= times[1].millis_since(times[0]));
    session.ok(&["verify", "r"]);
}

#[test]
fn a_run_that_was_killed_in_a_loop_beside_other_steps_does_nothing_twice() {
    let session = with_workflow(LOOP);
    let mut child = session.spawn(&["run", "w.yaml", "--id", "r"]);
    wait_for(&mut child, "│ stuck");
    while !ran(&session).contains(&"side".to_owned()) {
        std::thread::yield_now();
    }
    signal(&session, "-KILL", child.id());
    child.wait().unwrap();
    assert_eq!(session.quipu(&["status", "r", "--json"]).json()["status"], "interrupted");
    fs::write(session.dir().join("ready"), "").unwrap();
    session.ok(&["resume", "r"]);
    let each: Vec<String> = ran(&session).into_iter().filter(|word| word != "side").collect();
    assert_eq!(each, ["a", "b", "c", "d"]);
    session.ok(&["verify", "r"]);
    assert_eq!(session.quipu(&["status", "r", "--json"]).json()["status"], "succeeded");
}

#[test]
fn a_run_that_cannot_be_resumed_says_why() {
    let session = with_workflow(TWO_STEPS);
    fs::write(session.dir().join("ready"), "").unwrap();
    session.ok(&["run", "w.yaml", "--id", "whole"]);
    let outcome = session.quipu(&["resume", "whole"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("run whole is complete"), "{outcome:?}");
    assert_eq!(session.quipu(&["resume", "nonesuch"]).code, Some(1));

    fs::remove_file(session.dir().join("ready")).unwrap();
    session.quipu(&["run", "w.yaml", "--id", "part"]);
    fs::write(session.dir().join("w.yaml"), format!("{TWO_STEPS}# changed\n")).unwrap();
    fs::write(session.dir().join("ready"), "").unwrap();
    let outcome = session.quipu(&["resume", "part"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("w.yaml has changed since the run began"), "{outcome:?}");
    assert!(outcome.stderr.contains("--force"), "{outcome:?}");
    session.ok(&["resume", "part", "--force"]);
}

#[test]
fn a_run_that_goes_on_already_is_refused() {
    let session = with_workflow(LOOP);
    let mut child = session.spawn(&["run", "w.yaml", "--id", "r"]);
    wait_for(&mut child, "│ stuck");
    let outcome = session.quipu(&["resume", "r"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("run r is still running"), "{outcome:?}");
    signal(&session, "-INT", child.id());
    child.wait().unwrap();
}

#[test]
fn secret_inputs_have_to_be_given_again() {
    let session = with_workflow(
        "name: w\ninputs: [{name: token, required: true}]\nstates:\n  initial: a\n  a: {type: step, command: 'test -e ready && echo \"{{.inputs.token}}\" > said', on_success: done}\n  done: {type: terminal}\n",
    );
    assert_eq!(session.quipu(&["run", "w.yaml", "-i", "token=hunter2", "--id", "r"]).code, Some(3));
    fs::write(session.dir().join("ready"), "").unwrap();
    let outcome = session.quipu(&["resume", "r"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("secret inputs are not recorded: token"), "{outcome:?}");
    session.ok(&["resume", "r", "-i", "token=hunter2"]);
    assert_eq!(fs::read_to_string(session.dir().join("said")).unwrap(), "hunter2\n");
}

#[test]
fn a_run_is_resumed_from_any_directory_in_its_own() {
    let session = with_workflow(TWO_STEPS);
    assert_eq!(session.quipu(&["run", "w.yaml", "--id", "r"]).code, Some(3));
    fs::write(session.dir().join("ready"), "").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let storage = session.dir().join("storage");
    let status = session
        .command(crate::session::QUIPU)
        .current_dir(elsewhere.path())
        .args(["resume", "r", "--quiet", "--storage"])
        .arg(&storage)
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(ran(&session), ["first", "second", "second"]);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_run_that_goes_on_has_its_secrets_back_where_results_held_them() {
    let session = with_workflow(
        "name: w\ninputs:\n  - {name: api_key, type: string}\n  - {name: header, type: string}\nstates:\n  initial: a\n  a: {type: step, command: 'echo \"token={{.inputs.api_key}} ***secret:x***\"', on_success: b}\n  b: {type: step, command: 'test -e ready && echo \"{{.states.a.Output}} {{.inputs.header}}\" > said', on_success: done}\n  done: {type: terminal}\n",
    );
    let key = ["-i", "api_key=hunter2-x"];
    let args = ["run", "w.yaml", key[0], key[1], "-i", "header=Bearer hunter2-x", "--id", "r"];
    assert_eq!(session.quipu(&args).code, Some(3));
    let text = fs::read_to_string(session.transcript("r")).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    assert!(text.contains("token=***secret:api_key***"), "{text}");
    fs::write(session.dir().join("ready"), "").unwrap();
    let told = session.ok(&["resume", "r", key[0], key[1]]);
    assert!(!told.contains("secrets"), "{told}");
    let said = fs::read_to_string(session.dir().join("said")).unwrap();
    assert_eq!(said, "token=hunter2-x ***secret:x*** Bearer hunter2-x\n");
    session.ok(&["verify", "r"]);
}

#[test]
fn a_run_that_goes_on_says_which_results_lost_their_secrets() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: step, command: 'printf \"ghp_%036d\" 7', on_success: b}\n  b: {type: step, command: 'test -e ready', on_success: done}\n  done: {type: terminal}\n",
    );
    let args = ["run", "w.yaml", "--mask", "secrets", "--id", "r"];
    assert_eq!(session.quipu(&args).code, Some(3));
    fs::write(session.dir().join("ready"), "").unwrap();
    let told = session.ok(&["resume", "r"]);
    assert!(told.contains("! some secrets are not known any more"), "{told}");
    assert!(told.contains("in the results of a\n"), "{told}");
    session.ok(&["verify", "r"]);
}

#[test]
fn what_was_changed_for_a_run_holds_when_it_goes_on() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: agent, provider: claude, prompt: hi, on_success: b}\n  b: {type: step, command: 'test -e ready', on_success: c}\n  c: {type: agent, provider: claude, prompt: hi, on_success: done}\n  done: {type: terminal}\n",
    );
    let args =
        ["run", "w.yaml", "--set", "provider=codex", "--set", "model=one", "--stub", "--id", "r"];
    assert_eq!(session.quipu(&args).code, Some(3));
    fs::write(session.dir().join("ready"), "").unwrap();
    session.ok(&["resume", "r", "--set", "model=two"]);
    let agents: Vec<String> = session
        .lines("r")
        .iter()
        .filter(|line| line["type"] == "step.started" && line["payload"]["kind"] == "agent")
        .map(|line| line["payload"]["agent"].to_string())
        .collect();
    assert_eq!(agents.len(), 2, "{agents:?}");
    assert!(agents[0].contains("codex") && agents[0].contains("one"), "{agents:?}");
    assert!(agents[1].contains("codex") && agents[1].contains("two"), "{agents:?}");
}

#[test]
fn programs_of_a_killed_run_are_stopped_before_their_steps_run_again() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: step, command: 'echo $$ >> pids; if ! test -e ready; then echo stuck; sleep 600; fi', on_success: done}\n  done: {type: terminal}\n",
    );
    let mut child = session.spawn(&["run", "w.yaml", "--id", "r"]);
    wait_for(&mut child, "│ stuck");
    signal(&session, "-KILL", child.id());
    child.wait().unwrap();
    let pids = fs::read_to_string(session.dir().join("pids")).unwrap();
    // Whoever takes care of orphans may leave a dead one standing.
    let is_there = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pids.trim())).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
    };
    assert!(is_there(), "the command outlives the process that ran it");
    fs::write(session.dir().join("ready"), "").unwrap();
    let told = session.ok(&["resume", "r"]);
    assert!(told.contains("stopped 2 programs of the process that ran this before"), "{told}");
    assert!(!is_there());
    let lines = session.lines("r");
    let stopped = lines.iter().find(|line| line["payload"]["subtype"] == "leftovers_stopped");
    assert_eq!(stopped.unwrap()["payload"]["programs"][0]["step"], "a");
    session.ok(&["verify", "r"]);
}

#[test]
fn a_command_that_a_model_asked_for_is_stopped_when_its_killed_run_goes_on() {
    let url = model_that_asks_once("echo $$ > pid; sleep 600");
    let session = with_workflow(&format!(
        "name: w\nstates:\n  initial: ask\n  ask:\n    type: agent\n    provider: openai_compatible\n    prompt: go\n    options: {{base_url: '{url}', model: m, api_key: sk-0123456789, stream: false}}\n    mcp_proxy: {{enable: true}}\n    on_success: done\n  done: {{type: terminal}}\n"
    ));
    let mut child = session.spawn(&["run", "w.yaml", "--id", "r"]);
    wait_for(&mut child, "Bash(");
    let pid = session.dir().join("pid");
    while fs::read_to_string(&pid).unwrap_or_default().trim().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    signal(&session, "-KILL", child.id());
    child.wait().unwrap();
    let told = session.ok(&["resume", "r"]);
    assert!(told.contains("of the process that ran this before"), "{told}");
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", fs::read_to_string(&pid).unwrap().trim()));
    let stat = stat.unwrap_or_default();
    let state = stat.rsplit_once(')').map_or("", |(_, rest)| rest.trim_start());
    assert!(state.is_empty() || state.starts_with(['Z', 'X']), "{state}");
    session.ok(&["verify", "r"]);
}

/// Serves an API whose model asks for one command, and afterwards only says that it is done.
fn model_that_asks_once(command: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let arguments = serde_json::json!({ "command": command }).to_string();
    let function = serde_json::json!({ "name": "Bash", "arguments": arguments });
    let call = serde_json::json!({ "id": "c", "type": "function", "function": function });
    let asks = serde_json::json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    let is_done = serde_json::json!({ "role": "assistant", "content": "done" });
    std::thread::spawn(move || {
        let messages = std::iter::once(asks).chain(std::iter::repeat(is_done));
        for (stream, message) in listener.incoming().zip(messages) {
            let mut stream = BufReader::new(stream.unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                let line = line.trim().to_ascii_lowercase();
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            stream.read_exact(&mut vec![0; length]).unwrap();
            let choice = serde_json::json!({ "message": message, "finish_reason": "stop" });
            let body = serde_json::json!({ "model": "m", "choices": [choice] }).to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            write!(stream.get_mut(), "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
                .unwrap();
        }
    });
    url
}

#[test]
fn a_run_that_was_killed_before_its_first_line_says_what_to_do() {
    let session = with_workflow(TWO_STEPS);
    fs::create_dir_all(session.dir().join("storage/transcripts")).unwrap();
    fs::write(session.transcript("r"), "").unwrap();
    let outcome = session.quipu(&["resume", "r"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("run r ended before its first line"), "{outcome:?}");
    assert!(outcome.stderr.contains("r.jsonl is empty and can be removed"), "{outcome:?}");
    assert!(session.ok(&["ls"]).contains("interrupted"));
    let told = session.ok(&["status", "r"]);
    assert!(told.contains("interrupted\n") && told.contains("before its first line"), "{told}");
}
