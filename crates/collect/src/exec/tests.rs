//! A program under the recorder, from the inside. What a shell sees of it is tested with the command.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::thread;

use quipu_event::payload::{RunCompleted, RunStarted, Status, TokenCounts, Usage};
use quipu_event::{Event, Kind, RunId, RunIdentity};
use quipu_journal::{Layout, Options, Reader, Recorder};
use quipu_provider::find_provider;
use quipu_testkit::fake_agent;
use serde_json::Value;

use super::{Ended, Exec, ExecError, NoFollower, Program, Streams, run};

/// What came of a program: how it ended, what reached its reader, and what was recorded.
struct Outcome {
    ended: Result<Ended, ExecError>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    events: Vec<Event>,
}

fn exec(words: &[&str]) -> Exec {
    let mut words = words.iter().map(OsString::from);
    let program = Program { name: words.next().unwrap(), args: words.collect(), dir: None };
    Exec { program, name: None, provider: None, labels: Default::default() }
}

fn shell(script: &str) -> Exec {
    exec(&["sh", "-c", script])
}

/// Returns a script that has the fake agent play `script`, in the language of `provider`.
fn fake(provider: &str, dir: &Path, script: &str) -> String {
    let file = dir.join("script.json");
    std::fs::write(&file, script).unwrap();
    let program = fake_agent::program().display();
    format!("'{program}' --script '{}' {provider} -p hello", file.display())
}

fn outcome(exec: Exec) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    let identity = RunIdentity { run_id: RunId::random(), parent_run_id: None };
    let recorder =
        Recorder::create(&Layout::new(dir.path()), identity, Options::default()).unwrap();
    outcome_with(exec, &recorder)
}

fn outcome_with(exec: Exec, recorder: &Recorder) -> Outcome {
    let (mut from_out, stdout) = std::io::pipe().unwrap();
    let (mut from_err, stderr) = std::io::pipe().unwrap();
    let read = |from: &mut std::io::PipeReader| {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    };
    let streams = Streams::Piped { stdout: stdout.into(), stderr: stderr.into() };
    let (ended, stdout, stderr) = thread::scope(|scope| {
        let stdout = scope.spawn(|| read(&mut from_out));
        let stderr = scope.spawn(|| read(&mut from_err));
        let ended = run(exec, recorder, streams, &NoFollower);
        (ended, stdout.join().unwrap(), stderr.join().unwrap())
    });
    let events = Reader::open(recorder.path()).unwrap().filter_map(Result::ok).collect();
    Outcome { ended, stdout, stderr, events }
}

impl Outcome {
    fn kinds(&self) -> Vec<&Kind> {
        self.events.iter().map(|event| &event.kind).collect()
    }

    fn first(&self) -> RunStarted {
        self.events[0].payload.decode().unwrap()
    }

    fn last(&self) -> RunCompleted {
        self.events.last().unwrap().payload.decode().unwrap()
    }

    /// Returns what was recorded of a stream, put together again.
    fn recorded(&self, stream: &str) -> Vec<u8> {
        let piece = |event: &Event| {
            let payload: Value = event.payload.decode().unwrap();
            match &event.kind {
                Kind::System if payload["subtype"] == stream => {
                    Some(payload["text"].as_str().unwrap().as_bytes().to_vec())
                }
                Kind::Unknown if payload["native_type"] == stream => {
                    event.raw.as_ref().unwrap().bytes()
                }
                _ => None,
            }
        };
        self.events.iter().filter_map(piece).flatten().collect()
    }
}

#[test]
fn what_a_program_prints_is_passed_on_and_recorded_to_the_byte() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    bytes.extend_from_slice("zwölf 🦀\n\0\n".repeat(20_000).as_bytes());
    bytes.extend_from_slice(b"{\"half\": \xff");
    let file = dir.path().join("bytes");
    std::fs::write(&file, &bytes).unwrap();
    let file = file.display();
    let of = outcome(shell(&format!("cat '{file}'; cat '{file}' >&2; printf '\\303'; exit 9")));
    bytes.push(0xc3);
    assert!(of.stdout == bytes, "{} of {} bytes", of.stdout.len(), bytes.len());
    assert!(of.recorded("stdout") == bytes);
    bytes.pop();
    assert!(of.stderr == bytes);
    assert!(of.recorded("stderr") == bytes);
    assert_eq!(of.ended.unwrap().exit_code, 9);
}

#[test]
fn a_run_under_the_recorder_begins_and_ends_once() {
    let script = r#"{"steps": [{"text": "One."},
        {"tool": {"name": "Bash", "input": {"command": "ls"}, "result": "a"}}, {"text": "Two."},
        {"usage": {"input": 7, "output": 3}}]}"#;
    for provider in fake_agent::PROVIDERS {
        let dir = tempfile::tempdir().unwrap();
        let line = fake(provider, dir.path(), script);
        let plain = Command::new("sh").args(["-c", &line]).output().unwrap();
        let of = outcome(shell(&line));
        assert_eq!(of.stdout, plain.stdout, "{provider}");
        let count = |kind: Kind| of.kinds().iter().filter(|known| ***known == kind).count();
        assert_eq!((count(Kind::RunStarted), count(Kind::RunCompleted)), (1, 1), "{provider}");
        assert_eq!(of.kinds().first(), Some(&&Kind::RunStarted), "{provider}");
        assert_eq!(of.kinds().last(), Some(&&Kind::RunCompleted), "{provider}");
        assert!(count(Kind::MessageAssistant) >= 1, "{provider}");
        assert_eq!((count(Kind::ToolCall), count(Kind::ToolResult)), (1, 1), "{provider}");
        let (first, last) = (of.first(), of.last());
        assert_eq!(first.kind.as_str(), "exec", "{provider}");
        assert_eq!(first.agent.unwrap().provider.as_deref(), Some(*provider));
        assert_eq!(last.status, Some(Status::Succeeded), "{provider}: {:?}", last.error);
        assert_eq!(last.counts.unwrap().events, of.events.len() as u64);
        let mut sum = TokenCounts::default();
        for event in of.events.iter().filter(|event| event.kind == Kind::Usage) {
            sum.add(&event.payload.decode::<Usage>().unwrap().tokens());
        }
        assert_eq!(last.usage, Some(sum), "{provider}");
        assert_eq!(of.ended.unwrap().provider, Some(*provider));
    }
}

#[test]
fn text_before_the_first_record_hides_no_record() {
    let dir = tempfile::tempdir().unwrap();
    let line = fake("claude", dir.path(), r#"{"steps": [{"text": "Done."}], "session": "s1"}"#);
    let of = outcome(shell(&format!("echo Loading; sleep 0.5; {line}")));
    assert_eq!(of.recorded("stdout"), b"Loading\n");
    assert!(of.kinds().contains(&&Kind::MessageAssistant), "{:?}", of.kinds());
    let facts: Vec<Value> = of.events.iter().map(|event| event.payload.decode().unwrap()).collect();
    let session = facts.iter().find(|facts| facts["subtype"] == "session_started").unwrap();
    assert_eq!(session["session_id"], "s1", "the beginning was told already");
    let of = outcome(shell(&format!("echo Loading; {line}")));
    assert!(of.kinds().contains(&&Kind::MessageAssistant), "{:?}", of.kinds());
}

#[test]
fn a_program_does_not_notice_a_recorder_that_fails() {
    let dir = tempfile::tempdir().unwrap();
    let identity = RunIdentity { run_id: RunId::random(), parent_run_id: None };
    let recorder =
        Recorder::create(&Layout::new(dir.path()), identity, Options::default()).unwrap();
    recorder.close().unwrap();
    let of = outcome_with(shell("cat /dev/zero | head -c 1000000; exit 3"), &recorder);
    assert_eq!(of.stdout.len(), 1_000_000);
    let ended = of.ended.unwrap();
    assert_eq!(ended.exit_code, 3);
    assert!(ended.failure.is_some());
}

#[test]
fn a_document_of_many_lines_is_one() {
    let report = r#"printf '{\n  "session_id": "g1",\n'; sleep 0.4; printf '  "response": "Hi.",\n'
        printf '  "stats": {"models": {}, "tools": {}, "files": {}}\n}\n'"#;
    let of = outcome(Exec { provider: find_provider("gemini"), ..shell(report) });
    assert_eq!(of.recorded("stdout"), b"", "{:?}", of.kinds());
    assert!(of.kinds().contains(&&Kind::MessageAssistant), "{:?}", of.kinds());
}

#[test]
fn a_line_that_comes_in_pieces_is_one() {
    let long = "x".repeat(200_000);
    let line = format!(r#"{{"type":"thread.started","thread_id":"t1","pad":"{long}"}}"#);
    let (half, rest) = line.split_at(100_000);
    let dir = tempfile::tempdir().unwrap();
    for (name, part) in [("half", half), ("rest", rest)] {
        std::fs::write(dir.path().join(name), part).unwrap();
    }
    let dir = dir.path().display();
    let of = outcome(shell(&format!("cat '{dir}/half'; sleep 0.3; cat '{dir}/rest'; echo")));
    assert_eq!(of.first().session_id.as_deref(), Some("t1"));
    assert_eq!(of.recorded("stdout"), b"");
    assert_eq!(of.last().status, Some(Status::Aborted), "it never said how it ended");
}

#[test]
fn records_that_are_nobodys_are_text() {
    let line = r#"{"level":"info","msg":"ready"}"#;
    let of = outcome(shell(&format!("echo '{line}'; echo '{line}'")));
    assert_eq!(of.recorded("stdout"), format!("{line}\n{line}\n").as_bytes());
    assert_eq!(of.ended.unwrap().provider, None);
}

#[test]
fn the_end_says_what_the_program_and_the_agent_say() {
    let dir = tempfile::tempdir().unwrap();
    let failing = fake("claude", dir.path(), r#"{"steps": [{"fail": "overloaded"}]}"#);
    let crashing = r#"{"steps": [{"stderr": "out of memory"}, {"crash": 70}]}"#;
    let end = |script: &str| {
        let end = outcome(shell(script)).last();
        (end.status.unwrap(), end.error.unwrap_or_default())
    };
    let (status, error) = end(&failing);
    assert_eq!(status, Status::Failed);
    assert!(error.contains("overloaded"), "{error}");
    let (status, error) = end(&fake("claude", dir.path(), crashing));
    assert_eq!(status, Status::Failed);
    assert!(error.contains("out of memory") && error.contains("exit code 70"), "{error}");
    assert_eq!(end("kill -TERM $$"), (Status::Canceled, "stopped by SIGTERM".to_owned()));
    assert_eq!(end("kill -SEGV $$"), (Status::Failed, "stopped by SIGSEGV".to_owned()));
    assert_eq!(end("exit 130").0, Status::Canceled);
    assert_eq!(end("exit 1"), (Status::Failed, "exit code 1".to_owned()));
}

#[test]
fn a_program_that_cannot_be_started_is_a_run_that_failed() {
    let of = outcome(exec(&["no-such-program-here", "x"]));
    let Err(ExecError::Start(error)) = of.ended else { panic!("it was started") };
    assert_eq!(error.exit_code(), 127);
    assert_eq!(of.stdout, b"");
    let dir = tempfile::tempdir().unwrap();
    let last = of.events.last().unwrap().payload.decode::<RunCompleted>().unwrap();
    assert_eq!(last.status, Some(Status::Failed));
    assert_eq!(last.error.unwrap(), "no-such-program-here: no such program");
    let script = dir.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    let of = outcome(exec(&[script.to_str().unwrap()]));
    let Err(ExecError::Start(error)) = of.ended else { panic!("it was started") };
    assert_eq!(error.exit_code(), 126, "{error}");
}
