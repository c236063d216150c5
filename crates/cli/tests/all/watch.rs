//! Sessions as they run: through pipes, through JSON, and on a real terminal.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime};

use quipu_event::Timestamp;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use serde_json::{Value, json};

use crate::live::terminal;
use crate::session::{QUIPU, Session};

/// So long at most until what happens has to be seen.
const PATIENCE: Duration = Duration::from_secs(60);
const SESSION: &str = "11111111-0000-4000-8000-000000000001";

/// An agent's home, and a session in it that grows.
struct Agent<'a> {
    session: &'a Session,
    told: u32,
}

impl<'a> Agent<'a> {
    fn new(session: &'a Session) -> Self {
        std::fs::create_dir_all(session.dir().join("home/.claude/projects/-home-dev-shop"))
            .unwrap();
        Agent { session, told: 0 }
    }

    fn write(&mut self, role: &str, message: Value) {
        self.told += 1;
        let record = json!({
            "parentUuid": null, "isSidechain": false, "userType": "external",
            "cwd": "/home/dev/shop", "sessionId": SESSION, "version": "2.1.200", "type": role,
            "message": message, "timestamp": now().to_string(),
            "uuid": format!("aaaaaaaa-0000-4000-8000-{:012}", self.told),
        });
        let folder = self.session.dir().join("home/.claude/projects/-home-dev-shop");
        let path = folder.join(format!("{SESSION}.jsonl"));
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{record}\n").as_bytes()).unwrap();
    }

    fn prompt(&mut self, text: &str) {
        self.write("user", json!({ "role": "user", "content": text }));
    }

    fn reply(&mut self, block: Value, stop_reason: &str) {
        let usage = json!({ "input_tokens": 1000, "output_tokens": 20 });
        let id = format!("msg_{}", self.told);
        self.write(
            "assistant",
            json!({ "id": id, "type": "message", "role": "assistant", "model": "big",
                "content": [block], "stop_reason": stop_reason, "usage": usage }),
        );
    }

    fn call(&mut self, tool: &str, input: Value) {
        let id = format!("toolu_{tool}");
        self.reply(
            json!({ "type": "tool_use", "id": id, "name": tool, "input": input }),
            "tool_use",
        );
    }

    fn answer(&mut self, tool: &str) {
        let result = json!({
            "type": "tool_result", "tool_use_id": format!("toolu_{tool}"), "content": "ok",
        });
        self.write("user", json!({ "role": "user", "content": [result] }));
    }

    fn say(&mut self, text: &str) {
        self.reply(json!({ "type": "text", "text": text }), "end_turn");
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap())
}

/// Returns what comes out of a program, line by line, until nothing comes for long.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let out = BufReader::new(child.stdout.take().unwrap());
    let (tell, lines) = channel();
    std::thread::spawn(move || {
        out.lines().map_while(Result::ok).try_for_each(|line| tell.send(line))
    });
    lines
}

fn wait_for(lines: &Receiver<String>, mut is_it: impl FnMut(&Value) -> bool) -> Value {
    let end = Instant::now() + PATIENCE;
    let mut seen = Vec::new();
    while let Ok(line) = lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
        let value: Value = serde_json::from_str(&line).unwrap();
        if is_it(&value) {
            return value;
        }
        seen.push(line);
    }
    panic!("it never came; this did: {seen:#?}");
}

fn end(child: &mut Child, signal: Signal) -> Option<i32> {
    kill_process(Pid::from_child(child), signal).unwrap();
    child.wait().unwrap().code()
}

/// Records a run through `quipu record`, from `lines` dated now.
fn record(session: &Session, id: &str, lines: &[Value]) {
    let dated = lines.iter().map(|line| {
        let mut line = line.clone();
        line["timestamp"] = json!(now());
        format!("{line}\n")
    });
    let input: String = dated.collect();
    let outcome = session.quipu_with_input(&["record", "--id", id, "--name", id], input);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

fn rows(outcome: &str) -> Vec<Value> {
    outcome.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn once_shows_what_was_recorded_lately() {
    let session = Session::new();
    assert!(session.ok(&["watch", "--once", "--no-collect"]).contains("Nothing runs now."));
    let usage =
        json!({"type":"usage","payload":{"input_tokens":1200,"output_tokens":34,"cost_usd":0.25}});
    record(&session, "priced", &[usage]);
    record(
        &session,
        "other",
        &[
            json!({"type":"tool.call","payload":{"name":"Bash","call_id":"1","input":{"command":"echo \u{1b}[2J"}}}),
        ],
    );
    let rows = rows(&session.ok(&["watch", "--once", "--no-collect", "--json"]));
    let priced = rows.iter().find(|row| row["run_id"] == "priced").unwrap();
    assert_eq!((&priced["tokens"], &priced["cost_usd"]), (&json!(1234), &json!(0.25)));
    assert_eq!(priced["state"], "ended");
    let other = rows.iter().find(|row| row["run_id"] == "other").unwrap();
    assert_eq!((&other["tokens"], &other["cost_usd"]), (&Value::Null, &Value::Null));
    let table = session.ok(&["watch", "--once", "--no-collect", "--color", "always"]);
    assert!(table.contains("$0.25") && table.contains("–"), "{table}");
    assert!(!table.contains("\u{1b}[2J"), "{table:?}");
    // What is older than asked for is not shown, unless everything is asked for.
    let old = r#"{"seq":1,"run_id":"old","type":"run.started","path":"","iteration":0,"timestamp":"2020-01-01T00:00:00Z","payload":{"name":"old","kind":"session"}}"#;
    std::fs::write(session.transcript("old"), format!("{old}\n")).unwrap();
    assert!(!session.ok(&["watch", "--once", "--no-collect"]).contains("old"));
    assert!(session.ok(&["watch", "--once", "--no-collect", "--all"]).contains("old"));
}

#[test]
fn a_span_that_is_none_is_refused() {
    let outcome = Session::new().quipu(&["watch", "--recent", "soon"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("expected 90s"), "{outcome:?}");
    let outcome = Session::new().quipu(&["watch", "--home", "nowhere"]);
    assert_eq!(outcome.code, Some(1));
}

#[test]
fn a_session_is_told_while_it_grows() {
    let session = Session::new();
    let mut agent = Agent::new(&session);
    agent.prompt("Run the tests.");
    let mut child = session.spawn(&["watch", "--home", "home", "--json"]);
    let lines = lines_of(&mut child);
    let first = wait_for(&lines, |row| row["action"] == "thinking: Run the tests.");
    assert_eq!((&first["agent"], &first["project"]), (&json!("claude"), &json!("shop")));
    agent.call("Bash", json!({ "command": "cargo test" }));
    let row = wait_for(&lines, |row| row["action"] == "running Bash: cargo test");
    assert_eq!((&row["state"], &row["tokens"]), (&json!("working"), &json!(1020)));
    agent.answer("Bash");
    wait_for(&lines, |row| row["action"] == "thinking after Bash: cargo test");
    agent.call("AskUserQuestion", json!({ "questions": [{ "question": "Which one?" }] }));
    wait_for(&lines, |row| row["state"] == "waiting" && row["action"] == "asks: Which one?");
    agent.answer("AskUserQuestion");
    agent.say("All pass.");
    wait_for(&lines, |row| row["state"] == "waiting" && row["action"] == "wrote: All pass.");
    assert_eq!(end(&mut child, Signal::INT), Some(0));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "", "the collector keeps silent");
    // Watching recorded it, and recorded it well.
    session.ok(&["verify", "--all"]);
}

#[test]
fn what_another_process_collects_is_shown_without_collecting() {
    let session = Session::new();
    let mut agent = Agent::new(&session);
    let mut collector = session.spawn(&["collect", "--follow", "--home", "home"]);
    let mut watchers =
        [&["watch", "--no-collect", "--json"][..], &["watch", "--home", "home", "--json"][..]]
            .map(|arguments| session.spawn(arguments));
    let lines = watchers.each_mut().map(lines_of);
    agent.prompt("Hello.");
    for lines in &lines {
        wait_for(lines, |row| row["action"] == "thinking: Hello.");
    }
    for watcher in &mut watchers {
        assert_eq!(end(watcher, Signal::TERM), Some(0));
    }
    assert_eq!(end(&mut collector, Signal::TERM), Some(0));
    session.ok(&["verify", "--all"]);
}

/// `quipu watch` on a terminal of its own.
struct OnATerminal {
    child: Child,
    /// The program's side, to see how it is left.
    theirs: File,
    ours: File,
    parts: Receiver<Vec<u8>>,
    said: String,
}

impl OnATerminal {
    fn start(session: &Session, arguments: &[&str]) -> Self {
        let (ours, theirs) = terminal();
        let mut command: Command = session.command(QUIPU);
        command.args(arguments).env("TERM", "xterm-256color");
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap());
        let child = command.stderr(Stdio::null()).spawn().unwrap();
        let ours = File::from(ours);
        let (tell, parts) = channel();
        let mut reader = ours.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut part) {
                if tell.send(part[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        OnATerminal { child, theirs, ours, parts, said: String::new() }
    }

    fn wait_for(&mut self, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.said.contains(text) {
            let left = end.saturating_duration_since(Instant::now());
            match self.parts.recv_timeout(left) {
                Ok(part) => self.said += &String::from_utf8_lossy(&part),
                Err(_) => panic!("{text:?} never came: {:?}", self.said),
            }
        }
    }

    /// Tells whether keys are read line by line and shown, as a shell wants it.
    fn is_as_before(&self) -> bool {
        let modes = tcgetattr(&self.theirs).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }
}

#[test]
fn the_screen_shows_sessions_and_gives_the_terminal_back() {
    let session = Session::new();
    let mut agent = Agent::new(&session);
    agent.prompt("Run the tests.");
    for how in ["q", "signal"] {
        let mut glass = OnATerminal::start(
            &session,
            &["watch", "--home", "home", "--bell", "--color", "never"],
        );
        glass.wait_for("shop");
        assert!(glass.said.starts_with("\u{1b}[?1049h"), "{:?}", glass.said);
        assert!(!glass.is_as_before(), "keys are heard one by one");
        agent.prompt("Again.");
        glass.wait_for("thinking: Again");
        glass.said.clear();
        agent.say("Done, I think.");
        glass.wait_for("▶ waiting");
        assert!(glass.said.contains('\u{7}'), "the bell rings: {:?}", glass.said);
        glass.said.clear();
        tcsetwinsize(&glass.theirs, Winsize { ws_row: 10, ws_col: 40, ws_xpixel: 0, ws_ypixel: 0 })
            .unwrap();
        kill_process(Pid::from_child(&glass.child), Signal::WINCH).unwrap();
        glass.wait_for("▶ waiting");
        match how {
            "q" => glass.ours.write_all(b"q").unwrap(),
            _ => kill_process(Pid::from_child(&glass.child), Signal::TERM).unwrap(),
        }
        assert!(glass.child.wait().unwrap().success());
        glass.wait_for("\u{1b}[?25h\u{1b}[?1049l");
        assert!(glass.is_as_before(), "left by {how}");
    }
}

#[test]
fn a_screen_whose_terminal_went_away_ends() {
    let session = Session::new();
    record(&session, "r", &[json!({"type":"usage","payload":{"input_tokens":1}})]);
    let mut glass = OnATerminal::start(&session, &["watch", "--no-collect"]);
    glass.wait_for("ended");
    let OnATerminal { mut child, ours, parts, theirs, .. } = glass;
    // Whoever reads our side stops at the next picture: each second has one, since ages change.
    drop((ours, parts, theirs));
    let end = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("it goes on");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
