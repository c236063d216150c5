//! An agent under the recorder: its streams, its exit code, signals, and what is recorded meanwhile.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::process::Child;
use std::thread;
use std::time::Duration;

use quipu_testkit::fake_agent;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use crate::session::{Outcome, QUIPU, Session, finish};

/// Runs a shell script under the recorder.
fn exec(session: &Session, script: &str) -> Outcome {
    session.quipu(&["exec", "--", "sh", "-c", script])
}

/// Returns the transcripts there are, each as its lines; one that is being written without its last.
fn runs(session: &Session) -> Vec<Vec<Value>> {
    let Ok(files) = fs::read_dir(session.dir().join("storage/transcripts")) else {
        return Vec::new();
    };
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let lines = |text: String| {
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<Value>>()
    };
    texts.map(lines).collect()
}

/// Returns the lines of the only run there is.
fn only_run(session: &Session) -> Vec<Value> {
    let mut runs = runs(session);
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// Waits until the only run has an event that `is` one of.
fn wait_for_event(session: &Session, is: impl Fn(&Value) -> bool) {
    while !runs(session).iter().flatten().any(&is) {
        thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

fn end_of(run: &[Value]) -> &Value {
    let last = run.last().unwrap();
    assert_eq!(last["type"], "run.completed");
    &last["payload"]
}

#[test]
fn ten_megabytes_of_anything_pass_through_to_the_byte() {
    let session = Session::new();
    let mut seed: u32 = 7;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    })
    .take(10 * 1024 * 1024)
    .collect();
    fs::write(session.dir().join("bytes"), &bytes).unwrap();
    let child = session.spawn(&["exec", "--quiet", "--", "cat", "bytes"]);
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout == bytes, "{} bytes", output.stdout.len());
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    session.ok(&["verify", "last"]);
}

#[test]
fn the_exit_code_is_the_programs() {
    for (script, code, status) in [
        ("exit 0", 0, "succeeded"),
        ("exit 3", 3, "failed"),
        ("exit 255", 255, "failed"),
        ("kill -KILL $$", 137, "canceled"),
        ("kill -SEGV $$", 139, "failed"),
    ] {
        let session = Session::new();
        let outcome = exec(&session, script);
        assert_eq!(outcome.code, Some(code), "{script}: {outcome:?}");
        let run = only_run(&session);
        let end = end_of(&run);
        assert_eq!((&end["status"], &end["result"]["exit_code"]), (&status.into(), &code.into()));
    }
}

#[test]
fn a_program_that_cannot_be_started_has_the_exit_code_of_a_shell() {
    let session = Session::new();
    fs::write(session.dir().join("plain"), "text").unwrap();
    for (program, code, why) in
        [("no-such-program", 127, "no such program"), ("./plain", 126, "may not be executed")]
    {
        let outcome = session.quipu(&["exec", "--", program]);
        assert_eq!(outcome.code, Some(code), "{outcome:?}");
        assert!(outcome.stderr.contains(why), "{outcome:?}");
    }
    assert_eq!(runs(&session).len(), 2, "both are recorded");
}

#[test]
fn nothing_runs_when_nothing_can_be_recorded() {
    let session = Session::new();
    fs::write(session.dir().join("file"), "").unwrap();
    let outcome = session.quipu(&["exec", "--storage", "file/x", "--", "touch", "ran"]);
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    let outcome = session.quipu(&["exec", "--cwd", "nowhere", "--", "touch", "ran"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(!session.dir().join("ran").exists());
}

#[test]
fn what_a_program_says_is_recorded_while_it_runs() {
    let session = Session::new();
    let mut child =
        session.spawn(&["exec", "--", "sh", "-c", "echo first; read line; echo got $line"]);
    wait_for_event(&session, |event| event["payload"]["text"] == "first\n");
    assert!(child.try_wait().unwrap().is_none(), "it waits for us");
    let outcome = finish(child, b"more\n");
    assert_eq!((outcome.code, &*outcome.stdout), (Some(0), "first\ngot more\n"));
}

#[test]
fn a_tool_call_is_recorded_while_the_tool_is_at_work() {
    let session = Session::new();
    let script = r#"{"steps": [{"text": "Looking."},
        {"tool": {"name": "Bash", "input": {"command": "sleep 99"}}}, "hang"]}"#;
    fs::write(session.dir().join("script.json"), script).unwrap();
    let agent = fake_agent::program().to_str().unwrap();
    let child =
        session.spawn(&["exec", "--", agent, "--script", "script.json", "claude", "-p", "hello"]);
    wait_for_event(&session, |event| event["type"] == "tool.call");
    signal(&child, Signal::TERM);
    let outcome = finish(child, b"");
    assert_eq!(outcome.code, Some(143), "{outcome:?}");
    let run = only_run(&session);
    assert_eq!(end_of(&run)["status"], "canceled");
    assert_eq!(end_of(&run)["result"]["signal"], "SIGTERM");
    assert_eq!(run[0]["payload"]["agent"]["provider"], "claude");
    assert_eq!(run[0]["payload"]["session_id"], "fake-session");
}

#[test]
fn signals_reach_the_program() {
    let script = r#"for s in INT TERM HUP QUIT USR1; do trap "echo $s; exit 5" $s; done
        echo ready; while :; do sleep 0.02; done"#;
    for (sent, name, status) in [
        (Signal::INT, "INT", "canceled"),
        (Signal::TERM, "TERM", "canceled"),
        (Signal::HUP, "HUP", "canceled"),
        (Signal::QUIT, "QUIT", "canceled"),
        (Signal::USR1, "USR1", "failed"),
    ] {
        let session = Session::new();
        let mut child = session.spawn(&["exec", "--", "sh", "-c", script]);
        let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(stdout.next().unwrap().unwrap(), "ready");
        signal(&child, sent);
        assert_eq!(stdout.next().unwrap().unwrap(), name);
        assert_eq!(child.wait().unwrap().code(), Some(5));
        let run = only_run(&session);
        assert_eq!(end_of(&run)["status"], status, "{name}");
    }
}

#[test]
fn a_job_that_is_stopped_goes_on_when_it_is_continued() {
    let session = Session::new();
    // Stopped by its own hand: what the system does depends on who started the tests.
    let script = r#"trap 'echo stopping; kill -STOP $$; echo going on; exit 5' TSTP
        echo ready; while :; do sleep 0.02; done"#;
    let mut child = session.spawn(&["exec", "--", "sh", "-c", script]);
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(stdout.next().unwrap().unwrap(), "ready");
    signal(&child, Signal::TSTP);
    let is_stopped = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        stat.rsplit_once(')').unwrap().1.trim_start().starts_with('T')
    };
    while !is_stopped() {
        thread::sleep(Duration::from_millis(10));
    }
    signal(&child, Signal::CONT);
    assert_eq!(stdout.next().unwrap().unwrap(), "stopping");
    assert_eq!(stdout.next().unwrap().unwrap(), "going on");
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let session = Session::new();
    let inner = format!("exec '{QUIPU}' exec -- sh -c 'kill -HUP $PPID; kill -HUP $$; echo alive'");
    let output = session.command("sh").args(["-c", &format!("trap '' HUP; {inner}")]).output();
    let output = output.unwrap();
    assert_eq!(output.stdout, b"alive\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn standard_input_is_the_programs() {
    let session = Session::new();
    let input = "zwölf\0\n".repeat(50_000);
    let outcome = session.quipu_with_input(&["exec", "-q", "--", "cat"], &input);
    assert!(outcome.stdout == input && outcome.stderr.is_empty());
}

#[test]
fn a_reader_that_goes_away_ends_the_program_as_in_any_pipeline() {
    let session = Session::new();
    let line = format!("'{QUIPU}' exec -- yes | head -n 1");
    let output = session.command("sh").args(["-c", &line]).output().unwrap();
    assert_eq!(output.stdout, b"y\n");
    let run = only_run(&session);
    assert_eq!(end_of(&run)["result"]["signal"], "SIGPIPE");
    assert!(run[1]["payload"]["text"].as_str().unwrap().starts_with("y\ny\n"));
    // What was passed on stands before the news that nobody took the rest.
    assert_eq!(run[run.len() - 2]["payload"]["subtype"], "output_refused");
    session.ok(&["verify", "last"]);
}

#[test]
fn standard_error_passes_through_and_is_recorded() {
    let session = Session::new();
    let outcome = exec(&session, "echo out; echo 'went wrong' >&2; exit 2");
    assert_eq!(outcome.stdout, "out\n");
    let (theirs, ours) = outcome.stderr.split_once('\n').unwrap();
    assert_eq!(theirs, "went wrong");
    let run = only_run(&session);
    assert!(ours.contains(run[0]["run_id"].as_str().unwrap()), "{ours}");
    assert!(run.iter().any(|event| event["payload"]["subtype"] == "stderr"));
    assert_eq!(end_of(&run)["error"], "went wrong (exit code 2)");
}

#[test]
fn a_run_says_what_was_run_and_hides_what_it_should() {
    let session = Session::new();
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    fs::create_dir(session.dir().join("below")).unwrap();
    let outcome = session.quipu(&[
        "exec",
        "--name",
        "n",
        "--cwd",
        "below",
        "--mask",
        "secrets",
        "--label",
        "a=b",
        "--json",
        "--",
        "sh",
        "-c",
        "echo $QUIPU_RUN_ID; pwd; : $0",
        key,
    ]);
    let run = only_run(&session);
    let (id, dir) = outcome.stdout.split_once('\n').unwrap();
    assert_eq!(run[0]["run_id"], id);
    assert!(dir.ends_with("/below\n"), "{dir}");
    let started = &run[0]["payload"];
    assert_eq!((&started["name"], &started["kind"]), (&"n".into(), &"exec".into()));
    assert_eq!(started["labels"]["a"], "b");
    assert_eq!(started["inputs"]["argv"][0], "sh");
    assert!(started["cwd"].as_str().unwrap().ends_with("/below"));
    assert!(!started.to_string().contains(key), "{started}");
    let told: Value = serde_json::from_str(&outcome.stderr).unwrap();
    assert_eq!((&told["run_id"], &told["exit_code"]), (&id.into(), &0.into()));
}

#[test]
fn a_disk_that_refuses_does_not_disturb_the_program() {
    let session = Session::new();
    let inner = "head -c 3000000 /dev/zero; exit 6";
    let line = format!("ulimit -f 500; exec '{QUIPU}' exec -q -- sh -c '{inner}'");
    let output = session.command("sh").args(["-c", &line]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(6), 3_000_000));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("not everything was recorded"), "{told}");
}

#[test]
fn what_a_program_leaves_running_does_not_keep_us() {
    let session = Session::new();
    let outcome = exec(&session, "sleep 600 & echo $!");
    assert_eq!(outcome.code, Some(0));
    let left = Pid::from_raw(outcome.stdout.trim().parse().unwrap()).unwrap();
    test_kill_process(left).expect("it is left alone");
    kill_process(left, Signal::KILL).unwrap();
}

/// Makes a terminal: our side of it, and that of a program.
fn terminal() -> (File, File) {
    let ours: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let path = std::ffi::OsStr::from_bytes(name.to_bytes());
    let theirs = OpenOptions::new().read(true).write(true).open(path).unwrap();
    (File::from(ours), theirs)
}

/// Starts `quipu` in a session of its own, on a terminal that is its own.
fn on_a_terminal(session: &Session, arguments: &[&str]) -> (Child, File) {
    let (ours, theirs) = terminal();
    let mut command = session.command("setsid");
    command.args(["--ctty", "--wait", QUIPU]).args(arguments);
    command.stdin(theirs.try_clone().unwrap());
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    (command.spawn().unwrap(), ours)
}

/// Reads from a terminal until `end` stands there, or until nobody holds its other side.
fn read_until(terminal: &mut File, end: &str) -> String {
    let (mut said, mut part) = (String::new(), [0; 4096]);
    while let Ok(count @ 1..) = terminal.read(&mut part) {
        said += &String::from_utf8_lossy(&part[..count]);
        if said.contains(end) {
            break;
        }
    }
    said
}

#[test]
fn an_output_that_is_refused_is_told() {
    let session = Session::new();
    let line = format!("'{QUIPU}' exec -q -- echo hello > /dev/full");
    let output = session.command("sh").args(["-c", &line]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("standard output refused"), "{told}");
    assert!(only_run(&session).iter().any(|event| event["payload"]["text"] == "hello\n"));
}

#[test]
fn an_agent_that_talks_to_a_person_has_the_terminal() {
    let session = Session::new();
    let script = r#"test -t 0 && test -t 1 && test -t 2 && echo terminals; read line; echo "<$line>"
        exit 4"#;
    let as_claude = ["exec", "--provider", "claude", "--", "sh", "-c", script];
    let (mut child, mut terminal) = on_a_terminal(&session, &as_claude);
    let said = read_until(&mut terminal, "terminals");
    assert!(said.contains("terminals"), "{said}");
    terminal.write_all(b"hello\n").unwrap();
    let said = read_until(&mut terminal, "no session");
    assert!(said.contains("<hello>") && said.contains("no session"), "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(4));
    let run = only_run(&session);
    assert_eq!(run.len(), 2, "what is said on a terminal is not recorded here");
    assert_eq!(end_of(&run)["result"]["exit_code"], 4);
    assert!(end_of(&run)["result"]["note"].as_str().unwrap().contains("no session"));
}

#[test]
fn the_session_of_an_agent_that_has_the_terminal_is_followed() {
    let session = Session::new();
    let script = r#"mkdir -p "$HOME/.claude/projects/-p"
        line() { printf '{"type":"user","uuid":"%s","sessionId":"s1","cwd":"%s","message":{"role":"user","content":"%s"}}\n' "$1" "$PWD" "$2"; }
        line u1 'the first prompt' >> "$HOME/.claude/projects/-p/s1.jsonl"
        echo written; read line
        line u2 'the second prompt' >> "$HOME/.claude/projects/-p/s1.jsonl""#;
    let as_claude = ["exec", "--provider", "claude", "--", "sh", "-c", script];
    let (mut child, mut terminal) = on_a_terminal(&session, &as_claude);
    read_until(&mut terminal, "written");
    // It is recorded while the agent waits for its person.
    let path = session.transcript(quipu_collect::run_of_session("claude", "s1").as_str());
    while !fs::read_to_string(&path).is_ok_and(|text| text.contains("the first prompt")) {
        thread::sleep(Duration::from_millis(10));
    }
    terminal.write_all(b"go on\n").unwrap();
    let said = read_until(&mut terminal, "the session is run");
    assert!(said.contains("the session is run"), "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(fs::read_to_string(&path).unwrap().contains("the second prompt"));
    session.ok(&["verify", "--all"]);
}

#[test]
fn output_for_programs_is_recorded_on_a_terminal_too() {
    let session = Session::new();
    let agent = fake_agent::program().to_str().unwrap();
    let (mut child, mut terminal) = on_a_terminal(
        &session,
        &["exec", "--", agent, "claude", "-p", "hello", "--output-format", "stream-json"],
    );
    read_until(&mut terminal, "as run");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(only_run(&session).iter().any(|event| event["type"] == "message.assistant"));
}

#[test]
fn a_key_that_interrupts_does_so_once() {
    let session = Session::new();
    // The agent takes two: the second would end it with another exit code.
    let script = r#"n=0; trap 'n=$((n+1)); echo "interrupted $n"; test $n = 1 || exit 9' INT
        trap 'exit 5' TERM; echo ready; while :; do sleep 0.02; done"#;
    let (mut child, mut terminal) = on_a_terminal(&session, &["exec", "--", "sh", "-c", script]);
    read_until(&mut terminal, "ready");
    terminal.write_all(b"\x03").unwrap();
    read_until(&mut terminal, "interrupted 1");
    thread::sleep(Duration::from_millis(300));
    let quipu = child_of(child.id());
    kill_process(quipu, Signal::TERM).unwrap();
    let said = read_until(&mut terminal, "as run");
    assert!(!said.contains("interrupted 2"), "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(5), "{said}");
    assert_eq!(end_of(&only_run(&session))["status"], "canceled");
}

/// Returns the process below `pid`, or itself if it is `quipu`.
fn child_of(pid: u32) -> Pid {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let of = |pid: i32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let own = i32::try_from(pid).unwrap();
    let pids = children.split_whitespace().map(|pid| pid.parse().unwrap());
    let quipu = std::iter::once(own).chain(pids).find(|pid| of(*pid).trim() == "quipu");
    Pid::from_raw(quipu.expect("quipu runs")).unwrap()
}
