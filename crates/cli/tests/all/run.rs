//! `quipu run`: real workflows of shell commands and stub agents, from the command line to the end.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Child;

use serde_json::{Value, json};

use crate::session::{Session, finish};

const GREET: &str = r#"
name: greet
version: "1.0"
inputs:
  - {name: who, type: string, required: true, description: whom to greet}
  - {name: times, type: integer, default: 1}
  - {name: loud, type: boolean, default: false}
  - {name: tags, type: array, default: []}
  - {name: mode, type: string, default: fast, validation: {enum: [fast, slow]}}
states:
  initial: hello
  hello:
    type: step
    command: echo "hello {{.inputs.who}}"
    on_success: ask
  ask:
    type: agent
    provider: claude
    prompt: "Review {{.states.hello.Output}}"
    on_success: done
  done: {type: terminal, status: success, message: "greeted {{.inputs.who}}"}
"#;

const SLOW: &str = r#"
name: slow
states:
  initial: wait
  wait: {type: step, command: "echo begun; sleep 60", on_success: done}
  done: {type: terminal}
"#;

/// Begins in a directory with one workflow in it, `w.yaml`.
pub(crate) fn with_workflow(text: &str) -> Session {
    let session = Session::new();
    fs::write(session.dir().join("w.yaml"), text).unwrap();
    session
}

/// Returns the payload of a run's first event.
fn started(session: &Session, run: &str) -> Value {
    session.lines(run)[0]["payload"].clone()
}

/// Reads what a child says until it says `word`.
pub(crate) fn wait_for(child: &mut Child, word: &str) {
    let mut said = BufReader::new(child.stdout.as_mut().unwrap());
    let mut line = String::new();
    while !line.contains(word) {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended before it said {word:?}");
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(session: &Session, signal: &str, pid: u32) {
    let status = session.command("kill").args([signal, &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_run_says_where_it_is_recorded_what_happens_and_how_it_ended() {
    let session = with_workflow(GREET);
    let told = session.ok(&["run", "w.yaml", "-i", "who=you", "--stub", "--id", "first"]);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "run first greet");
    assert_eq!(lines[1], "transcript storage/transcripts/first.jsonl");
    assert_eq!(lines[2], "→ hello command: echo \"hello you\"");
    assert_eq!(lines[3], "hello │ hello you");
    assert!(lines[4].starts_with("✓ hello "), "{told}");
    assert_eq!(lines[5], "→ ask agent: claude");
    assert!(lines[6].starts_with("ask │ [STUB]"), "{told}");
    assert!(told.contains("✓ greet succeeded in "), "{told}");
    assert!(told.ends_with("  greeted you\n  quipu tree first\n"), "{told}");
    session.ok(&["verify", "first"]);
    let tree = session.ok(&["tree", "first"]);
    assert!(tree.contains("✓ ask (agent)"), "{tree}");
    assert_eq!(session.lines("first").last().unwrap()["type"], "run.completed");
}

#[test]
fn the_exit_code_says_whose_fault_it_was() {
    let step = |rest: &str| {
        format!(
            "name: w\nstates:\n  initial: a\n  a: {{type: step, {rest}}}\n  done: {{type: terminal}}\n"
        )
    };
    let cases = [
        (step("command: 'true', on_success: done"), 0),
        (step("command: exit 7, on_success: done"), 3),
        (step("command: exit 7, on_success: done, on_failure: {message: no, status: 42}"), 42),
        (step("command: exit 7, on_success: done, on_failure: done"), 0),
        (step("command: 'true', on_success: nowhere"), 2),
        ("name: [".to_owned(), 2),
    ];
    for (workflow, code) in cases {
        let session = with_workflow(&workflow);
        let outcome = session.quipu(&["run", "w.yaml"]);
        assert_eq!(outcome.code, Some(code), "{workflow}: {outcome:?}");
    }
    let session = with_workflow(GREET);
    for wrong in [
        &["run", "nonesuch.yaml"][..],
        &["run", "w.yaml"],
        &["run", "w.yaml", "-i", "who"],
        &["run", "w.yaml", "-i", "who=me", "-i", "times=many"],
        &["run", "w.yaml", "-i", "who=me", "-i", "mode=idle"],
        &["run", "w.yaml", "-i", "who=@nonesuch"],
        &["run", "w.yaml", "-i", "who=me", "--set", "modle=x"],
        &["run", "w.yaml", "-i", "who=me", "--set", "hello.model=x"],
        &["run", "w.yaml", "-i", "who=me", "--set", "asl.model=x"],
    ] {
        let outcome = session.quipu(wrong);
        assert_eq!(outcome.code, Some(1), "{wrong:?}: {outcome:?}");
    }
    assert!(!session.dir().join("storage").exists(), "nothing is written for what cannot run");
}

#[test]
fn a_reader_that_goes_away_changes_nothing() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: step, command: 'echo a; sleep 0.2; echo b; exit 7', on_success: done}\n  done: {type: terminal}\n",
    );
    let mut child = session.spawn(&["run", "w.yaml", "--id", "r"]);
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(session.lines("r").last().unwrap()["type"], "run.completed");
}

#[test]
fn a_failure_names_the_step_its_error_and_its_last_words() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: step, command: \"for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $i >&2; done; exit 7\", on_success: done}\n  done: {type: terminal}\n",
    );
    let outcome = session.quipu(&["run", "w.yaml", "--quiet", "--id", "f"]);
    assert_eq!(outcome.code, Some(3));
    assert!(outcome.stdout.contains("✗ w failed in "), "{outcome:?}");
    assert!(outcome.stdout.contains("`a` failed: exit code 7"), "{outcome:?}");
    assert!(outcome.stdout.contains("│ line 3\n") && outcome.stdout.contains("│ line 12\n"));
    assert!(!outcome.stdout.contains("│ line 2\n"), "only the last words: {outcome:?}");
    let loud = session.quipu(&["run", "w.yaml"]);
    assert!(loud.stdout.contains("  quipu resume "), "{loud:?}");
}

#[test]
fn inputs_become_what_their_declarations_say_wherever_they_come_from() {
    let session = with_workflow(GREET);
    fs::write(session.dir().join("who.txt"), "the file\nof names").unwrap();
    fs::write(session.dir().join("in.json"), r#"{"who": "json", "times": 4, "tags": ["a"]}"#)
        .unwrap();
    fs::write(session.dir().join("in.yaml"), "who: yaml\nloud: true\ntags: [x, y]\n").unwrap();
    let all = |who: &str, times: u64, loud: bool, tags: &[&str]| json!({"who": who, "times": times, "loud": loud, "tags": tags, "mode": "fast"});
    let cases: [(&[&str], Value); 7] = [
        (&["-i", "who=me"], all("me", 1, false, &[])),
        (&["-i", "who=a=b", "-i", "times=3", "-i", "loud=true"], all("a=b", 3, true, &[])),
        (&["-i", "who=@who.txt"], all("the file\nof names", 1, false, &[])),
        (&["-i", "who=@@home", "-i", "tags=x, y"], all("@home", 1, false, &["x", "y"])),
        (&["--inputs", "in.json"], all("json", 4, false, &["a"])),
        (&["--inputs", "in.yaml"], all("yaml", 1, true, &["x", "y"])),
        (&["--inputs", "in.yaml", "-i", "who=flag"], all("flag", 1, true, &["x", "y"])),
    ];
    for (index, (flags, expected)) in cases.into_iter().enumerate() {
        let id = format!("run{index}");
        let arguments = [&["run", "w.yaml", "--stub", "--id", &id][..], flags].concat();
        session.ok(&arguments);
        assert_eq!(started(&session, &id)["inputs"], expected, "{flags:?}");
    }
}

#[test]
fn inputs_that_are_missing_are_all_told_with_what_they_are_for() {
    let session = with_workflow(
        "name: w\ninputs:\n  - {name: file, type: string, required: true, description: what to read}\n  - {name: level, type: string, required: true, validation: {enum: [low, high]}}\nstates:\n  initial: done\n  done: {type: terminal}\n",
    );
    let outcome = session.quipu(&["run", "w.yaml", "-i", "fiel=x"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("  file   what to read (string)\n"), "{outcome:?}");
    assert!(outcome.stderr.contains("  level  (string: low, high)\n"), "{outcome:?}");
    assert!(outcome.stderr.contains("`fiel` (did you mean `file`?)"), "{outcome:?}");
    assert!(outcome.stderr.contains("-i file=VALUE"), "{outcome:?}");
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_and_writes_nothing() {
    let session = with_workflow(GREET);
    let told =
        session.ok(&["run", "w.yaml", "-i", "who=you", "--dry-run", "--set", "ask.timeout=5m"]);
    for line in [
        "  1. hello  command\n     command    echo \"hello you\"\n     success    → ask\n",
        "  2. ask  agent\n     provider   claude\n     prompt     Review {{.states.hello.Output}}\n     timeout    5m00s\n",
        "  3. done  terminal\n     status     success\n     message    greeted you\n",
        "nothing was run\n",
    ] {
        assert!(told.contains(line), "{line}\n---\n{told}");
    }
    let outcome = session.quipu(&["run", "w.yaml", "-i", "who=you", "--dry-run", "--json"]);
    let plan = outcome.json();
    assert_eq!(plan["steps"][0]["does"]["command"], "echo \"hello you\"");
    assert_eq!(plan["steps"][1]["leads_to"], json!([{"when": "success", "goto": "done"}]));
    assert_eq!(session.quipu(&["run", "w.yaml", "--dry-run"]).code, Some(1));
    assert!(!session.dir().join("storage").exists());
}

#[test]
fn json_gives_one_object_a_line_and_quiet_only_the_last() {
    let session = with_workflow(GREET);
    let told = session.ok(&["run", "w.yaml", "-i", "who=you", "--stub", "--json"]);
    let events: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["event"], "run.started");
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    for name in ["step.started", "command.output", "agent.text", "step.completed", "run.completed"]
    {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let report = events.last().unwrap();
    assert_eq!(report["event"], "run.report");
    assert_eq!((&report["status"], &report["exit_code"]), (&json!("succeeded"), &json!(0)));
    assert!(session.dir().join(report["transcript"].as_str().unwrap()).is_file());
    let quiet = session.quipu(&["run", "w.yaml", "-i", "who=you", "--stub", "--json", "--quiet"]);
    assert_eq!(quiet.json()["event"], "run.report");
    let quiet = session.ok(&["run", "w.yaml", "-i", "who=you", "--stub", "--quiet"]);
    assert!(quiet.starts_with("✓ greet succeeded in "), "{quiet}");
    assert_eq!(quiet.lines().count(), 2);
}

#[test]
fn what_is_not_to_be_recorded_is_not() {
    let session = with_workflow(GREET);
    let told = session.ok(&["run", "w.yaml", "-i", "who=you", "--stub", "--no-record"]);
    assert!(told.contains("not recorded") && !told.contains("quipu tree"), "{told}");
    assert!(!session.dir().join("storage/transcripts").exists());
}

#[test]
fn secrets_are_neither_shown_nor_recorded() {
    let session = with_workflow(
        "name: w\ninputs:\n  - {name: api_key, type: string, required: true}\nstates:\n  initial: a\n  a: {type: step, command: 'echo \"key {{.inputs.api_key}}\"; echo \"{{.inputs.api_key}}\" >&2; exit 1', on_success: done}\n  done: {type: terminal}\n",
    );
    for flags in [&["run", "w.yaml"][..], &["run", "w.yaml", "--json"]] {
        let outcome =
            session.quipu(&[flags, &["-i", "api_key=hunter2-hunter2", "--id", "s"]].concat());
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        assert!(!format!("{outcome:?}").contains("hunter2"), "{outcome:?}");
        assert!(!fs::read_to_string(session.transcript("s")).unwrap().contains("hunter2"));
        fs::remove_file(session.transcript("s")).unwrap();
    }
    let plan = session.ok(&["run", "w.yaml", "-i", "api_key=hunter2-hunter2", "--dry-run"]);
    assert!(!plan.contains("hunter2"), "{plan}");
}

#[test]
fn secrets_are_hidden_in_the_last_words_and_in_the_audit_trail_under_any_name() {
    let session = with_workflow(
        "name: w\ninputs:\n  - {name: api_key, type: string, required: true}\nstates:\n  initial: a\n  a: {type: call_workflow, workflow: ./child.yaml, inputs: {plain: \"{{.inputs.api_key}}\"}, on_success: done, on_failure: {message: \"bad {{.inputs.api_key}}\", status: 5}}\n  done: {type: terminal, message: \"key {{.inputs.api_key}} {{.states.a.said}}\"}\n",
    );
    let child = |command: &str| {
        let text = format!(
            "name: child\ninputs:\n  - {{name: plain, type: string}}\noutputs:\n  - {{name: said, from: states.b.Output}}\nstates:\n  initial: b\n  b: {{type: step, command: '{command}', on_success: done}}\n  done: {{type: terminal}}\n"
        );
        fs::write(session.dir().join("child.yaml"), text).unwrap();
    };
    for (command, code) in [(r#"echo "{{.inputs.plain}}""#, 0), ("exit 1", 5)] {
        child(command);
        for flags in [&["run", "w.yaml"][..], &["run", "w.yaml", "--json"]] {
            let outcome = session.quipu(&[flags, &["-i", "api_key=hunter2-hunter2"]].concat());
            assert_eq!(outcome.code, Some(code), "{outcome:?}");
            assert!(!format!("{outcome:?}").contains("hunter2"), "{outcome:?}");
        }
    }
    let audit = fs::read_to_string(session.dir().join("storage/audit.jsonl")).unwrap();
    assert!(
        audit.contains(r#""plain":"***secret:api_key***""#) && !audit.contains("hunter2"),
        "{audit}"
    );
}

#[test]
fn what_commands_print_cannot_steer_the_terminal() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: step, command: 'printf \"\\033[2J\\033]0;x\\007red\\r50%%\\r100%%\\n\"', on_success: done}\n  done: {type: terminal}\n",
    );
    let told = session.ok(&["run", "w.yaml", "--color", "always"]);
    assert!(
        !told.contains("\u{1b}[2J") && !told.contains('\u{7}') && !told.contains('\r'),
        "{told:?}"
    );
    assert!(told.contains("100%"), "{told:?}");
}

#[test]
fn another_program_stands_for_an_agent_by_flag_or_by_settings_file() {
    let session = with_workflow(GREET);
    let fake = session.dir().join("fake");
    let script = "#!/bin/sh\necho \"$0 $1\" >> asked\necho '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"fine\",\"session_id\":\"s\"}'\n";
    fs::write(&fake, script).unwrap();
    session.command("chmod").args(["+x", "fake"]).status().unwrap();
    let flags = ["run", "w.yaml", "-i", "who=x", "--set"];
    session.ok(&[&flags[..], &["providers.claude.command=[\"./fake\", \"one\"]"]].concat());
    session.ok(&[&flags[..], &["providers.claude.command=./fake two"]].concat());
    fs::write(
        session.dir().join("quipu.toml"),
        "[providers.claude]\ncommand = [\"./fake\", \"three\"]\n",
    )
    .unwrap();
    session.ok(&["run", "w.yaml", "-i", "who=x"]);
    let asked = fs::read_to_string(session.dir().join("asked")).unwrap();
    let last_words: Vec<_> = asked.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(last_words, ["one", "two", "three"]);
}

#[test]
fn a_step_that_took_too_long_says_how_long_it_had() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: agent, provider: claude, prompt: go, command: [sh, -c, 'exec sleep 60'], timeout: 300ms, continue_on_error: true, on_success: b}\n  b: {type: step, command: 'exec sleep 60', timeout: 300ms}\n",
    );
    let outcome = session.quipu(&["run", "w.yaml"]);
    assert_eq!(outcome.stdout.matches("timed out after 300ms\n").count(), 3, "{outcome:?}");
}

#[test]
fn what_an_agent_says_in_pieces_is_shown_once_and_in_its_order() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: agent, provider: gemini, prompt: go, command: [sh, -c, 'cat said.jsonl'], on_success: done}\n  done: {type: terminal}\n",
    );
    let piece = |text: &str| json!({"type": "message", "role": "assistant", "content": text, "delta": true});
    let said = [
        json!({"type": "init", "session_id": "s", "model": "m"}),
        piece("On"),
        piece("e"),
        json!({"type": "tool_use", "tool_name": "shell", "tool_id": "t", "parameters": {"command": "ls"}}),
        json!({"type": "tool_result", "tool_id": "t", "status": "success", "output": ""}),
        piece("Two"),
        json!({"type": "result", "status": "success", "stats": {}}),
    ];
    let said: String = said.iter().map(|line| format!("{line}\n")).collect();
    fs::write(session.dir().join("said.jsonl"), said).unwrap();
    let shown = session.ok(&["run", "w.yaml"]);
    assert!(shown.contains("a │ One\na │ ⚙ shell(ls)\na │ Two\n✓ a "), "{shown}");
}

#[test]
fn changes_for_one_run_reach_the_steps_they_name() {
    let session = with_workflow(GREET);
    for (change, id) in [("provider=stub", "all"), ("ask.provider=stub", "one")] {
        session.ok(&["run", "w.yaml", "-i", "who=x", "--set", change, "--id", id]);
        let lines = session.lines(id);
        let said = lines.iter().find(|line| line["type"] == "message.assistant").unwrap();
        assert_eq!(said["payload"]["model"], "claude-stub", "{change}");
    }
    let slow = with_workflow(SLOW);
    let outcome = slow.quipu(&["run", "w.yaml", "--set", "wait.timeout=100ms"]);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
}

#[test]
fn interrupting_once_ends_a_run_in_order() {
    for kind in ["-INT", "-TERM"] {
        let session = with_workflow(SLOW);
        let mut child = session.spawn(&["run", "w.yaml", "--id", "r"]);
        wait_for(&mut child, "│ begun");
        signal(&session, kind, child.id());
        let outcome = finish(child, b"");
        assert_eq!(outcome.code, Some(3), "{kind}: {outcome:?}");
        assert!(outcome.stdout.contains("✗ slow canceled in "), "{outcome:?}");
        assert!(outcome.stderr.contains("stopping in order"), "{outcome:?}");
        let lines = session.lines("r");
        assert_eq!(lines.last().unwrap()["payload"]["status"], "canceled");
        let ended = lines.iter().find(|line| line["type"] == "step.completed").unwrap();
        assert_eq!(ended["payload"]["status"], "canceled");
        session.ok(&["verify", "r"]);
    }
}

#[test]
fn interrupting_twice_ends_a_run_that_does_not_want_to_end() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: step, command: \"trap '' INT TERM; echo begun; while :; do sleep 1; done\", on_success: done}\n  done: {type: terminal}\n",
    );
    let mut child = session.spawn(&["run", "w.yaml", "--id", "r"]);
    wait_for(&mut child, "│ begun");
    signal(&session, "-INT", child.id());
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "stopping in order; press Ctrl-C again to stop at once\n");
    signal(&session, "-INT", child.id());
    let outcome = finish(child, b"");
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert_eq!(session.lines("r").last().unwrap()["payload"]["status"], "canceled");
}

#[test]
fn a_detached_run_goes_on_by_itself() {
    let session = with_workflow(
        "name: w\ninputs: [{name: word, required: true}]\nstates:\n  initial: a\n  a: {type: step, command: 'for i in $(seq 600); do test -e go && break; sleep 0.05; done; echo \"{{.inputs.word}}\" > said', on_success: done}\n  done: {type: terminal}\n",
    );
    let outcome = session.quipu(&["run", "w.yaml", "--detach"]);
    assert_eq!(
        outcome.code,
        Some(1),
        "what is missing is told before anything starts: {outcome:?}"
    );
    let told = session.ok(&["run", "w.yaml", "-i", "word=behind", "--detach"]);
    let id = told.lines().next().unwrap();
    let short: String = id.chars().take(8).collect();
    assert!(told.contains(&format!("quipu tail -f {short}")), "{told}");
    assert_eq!(session.quipu(&["status", id, "--json"]).json()["status"], "running");
    fs::write(session.dir().join("go"), "").unwrap();
    session.ok(&["status", id, "-w"]);
    assert_eq!(session.quipu(&["status", id, "--json"]).json()["status"], "succeeded");
    assert_eq!(fs::read_to_string(session.dir().join("said")).unwrap(), "behind\n");
}

#[test]
fn an_operations_answer_reaches_the_next_step() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = String::new();
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        while !asked.ends_with("\r\n\r\n") {
            lines.read_line(&mut asked).unwrap();
        }
        stream
            .write_all(b"HTTP/1.1 404 X\r\ncontent-length: 4\r\nconnection: close\r\n\r\ngone")
            .unwrap();
        asked
    });
    let session = with_workflow(
        "name: w\ninputs: [{name: url, required: true}]\nstates:\n  initial: ask\n  ask: {type: operation, operation: http.request, inputs: {method: GET, url: '{{inputs.url}}'}, on_success: tell}\n  tell: {type: step, command: 'echo \"{{.states.ask.Response.status_code}} {{.states.ask.Response.body}}\"', on_success: done}\n  done: {type: terminal}\n",
    );
    let told = session.ok(&["run", "w.yaml", "-i", &format!("url=http://{address}/x")]);
    assert!(told.contains("tell │ 404 gone\n"), "{told}");
    assert!(server.join().unwrap().starts_with("GET /x HTTP/1.1\r\n"));
}

#[test]
fn a_workflow_is_found_by_its_name() {
    let session = Session::new();
    fs::create_dir_all(session.dir().join(".awf/workflows")).unwrap();
    fs::write(session.dir().join(".awf/workflows/greet.yaml"), GREET).unwrap();
    session.ok(&["run", "greet", "-i", "who=me", "--stub"]);
    let outcome = session.quipu(&["run", "gret"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("did you mean `greet`?"), "{outcome:?}");
}

#[test]
fn the_step_that_failed_is_the_one_that_decided_the_run() {
    let flow = |after: &str| {
        format!(
            "name: w\nstates:\n  initial: a\n  a: {{type: step, command: exit 1, on_failure: b}}\n  \
             b: {{type: step, command: 'true', on_success: {after}}}\n  c: {{type: step, command: 'true', on_success: end}}\n  \
             end: {{type: terminal, status: failure, message: too bad}}\n"
        )
    };
    // Cleaning up before the end does not make a failure good; going back to work does.
    for (after, failed) in [("end", Value::from("a")), ("c", Value::Null)] {
        let session = with_workflow(&flow(after));
        let outcome = session.quipu(&["run", "w.yaml", "--json"]);
        let report: Value = serde_json::from_str(outcome.stdout.lines().last().unwrap()).unwrap();
        assert_eq!(report["failed_step"]["path"], failed, "{report}");
    }
}

#[test]
fn hooks_of_a_step_see_its_variables() {
    let session = with_workflow(
        "name: w\nstates:\n  initial: a\n  a: {type: step, command: 'true', timeout: 30s, env: {MODE: fast}, hooks: {pre: [{command: 'echo $MODE >> said'}], post: [{command: 'echo $MODE >> said'}]}, on_success: done}\n  done: {type: terminal}\n",
    );
    session.ok(&["run", "w.yaml", "--id", "r"]);
    assert_eq!(fs::read_to_string(session.dir().join("said")).unwrap(), "fast\nfast\n");
    let lines = session.lines("r");
    let started = lines.iter().find(|line| line["type"] == "step.started").unwrap();
    assert_eq!(started["payload"]["timeout_ms"], 30_000);
    assert_eq!(started["payload"]["env"], serde_json::json!(["MODE"]));
}
