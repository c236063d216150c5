//! Real commands.

use std::collections::BTreeMap;
use std::sync::Mutex;

use quipu_event::{Draft, StepPath};
use tokio::sync::watch;

use super::*;
use crate::definition::Capture;
use crate::display::DisplayEvent;
use crate::language::ShellScript;

#[derive(Default)]
struct Heard {
    drafts: Mutex<Vec<Draft>>,
    shown: Mutex<Vec<(&'static str, String)>>,
}

impl Scribe for Heard {
    fn record(&self, draft: Draft) {
        self.drafts.lock().unwrap().push(draft);
    }
    fn show(&self, event: DisplayEvent) {
        if let DisplayEvent::Output { stream, text, .. } = event {
            self.shown.lock().unwrap().push((stream, text));
        }
    }
}

fn job(script: &str) -> CommandJob {
    CommandJob {
        script: ScriptText::Shell(ShellScript { shown: script.into(), run: script.into() }),
        dir: None,
        env: BTreeMap::new(),
        capture: None,
    }
}

fn program(text: &str) -> CommandJob {
    let script =
        ScriptText::Program { text: text.into(), shown: text.into(), from: "scripts/check".into() };
    CommandJob { script, ..job("") }
}

async fn run(job: CommandJob) -> (Outcome, Heard) {
    let heard = Heard::default();
    let at = Occurrence { path: StepPath::from("s"), iteration: 0, attempt: 1 };
    let (_bell, stop) = watch::channel(None);
    let outcome = perform(job, &at, &heard, Path::new("/"), stop).await;
    (outcome, heard)
}

#[tokio::test]
async fn what_a_command_writes_is_its_output_without_the_last_line_feeds() {
    let (outcome, heard) = run(job("printf 'a\\n\\nb\\n\\n'; echo oops >&2; exit 4")).await;
    assert_eq!(outcome.status, WorkStatus::Failed);
    assert_eq!(outcome.error.as_deref(), Some("exit code 4"));
    assert_eq!((outcome.output.as_str(), outcome.output_tail.as_str()), ("a\n\nb", "\n\n"));
    assert_eq!((outcome.stderr.as_str(), outcome.exit_code), ("oops\n", Some(4)));
    let shown = heard.shown.into_inner().unwrap();
    let of = |stream| shown.iter().filter(move |(of, _)| *of == stream).map(|(_, text)| text);
    assert_eq!(of("stdout").collect::<Vec<_>>(), ["a\n", "\n", "b\n", "\n"]);
    assert_eq!(of("stderr").collect::<Vec<_>>(), ["oops\n"]);
    assert!(heard.drafts.into_inner().unwrap().is_empty());
}

#[tokio::test]
async fn captured_output_has_its_names() {
    let capture =
        Capture { stdout: Some("out".into()), stderr: Some("err".into()), max_size: None };
    let (outcome, _) =
        run(CommandJob { capture: Some(capture), ..job("echo 1; echo 2 >&2") }).await;
    let named: Vec<_> = outcome.named.into_iter().collect();
    assert_eq!(named, [("err".to_owned(), Value::from("2")), ("out".to_owned(), Value::from("1"))]);
}

#[tokio::test]
async fn a_command_runs_where_and_with_what_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let env = BTreeMap::from([("WHO".to_owned(), "you".to_owned())]);
    let (outcome, _) =
        run(CommandJob { dir: Some(dir.clone()), env, ..job("pwd; echo $WHO; cat") }).await;
    assert_eq!(outcome.output, format!("{}\nyou", dir.display()));
}

#[tokio::test]
async fn a_command_longer_than_an_argument_can_be_runs_all_the_same() {
    let text = "x".repeat(300_000);
    let (outcome, _) = run(job(&format!("cat <<'END'\n{text}\nEND\n"))).await;
    assert_eq!((outcome.status, outcome.output.len()), (WorkStatus::Succeeded, 300_000));
}

#[tokio::test]
async fn a_program_runs_by_the_interpreter_it_names() {
    let (outcome, _) = run(program("#!/bin/sh\necho \"$0\" | grep -c quipu-script")).await;
    assert_eq!(outcome.output, "1");
    let (outcome, _) = run(program("#!/no/such/interpreter -x\n")).await;
    assert_eq!(
        outcome.error.as_deref(),
        Some("scripts/check: its interpreter is not there: #!/no/such/interpreter -x")
    );
}

#[tokio::test]
async fn many_programs_at_once_never_find_their_files_busy() {
    let runs = (0..40).map(|n| tokio::spawn(run(program(&format!("#!/bin/sh\necho {n}")))));
    for (n, run) in runs.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(run.await.unwrap().0.output, n.to_string());
    }
}

#[tokio::test]
async fn a_signal_is_named() {
    let (outcome, _) = run(job("kill -KILL $$")).await;
    assert_eq!(
        (outcome.exit_code, outcome.error.as_deref()),
        (Some(137), Some("killed by SIGKILL"))
    );
}

#[tokio::test]
async fn bytes_that_are_no_text_are_in_the_transcript() {
    let (outcome, heard) = run(job("printf 'a\\377b'")).await;
    assert_eq!((outcome.output.as_str(), outcome.truncated), ("a\u{fffd}b", false));
    let drafts = heard.drafts.into_inner().unwrap();
    assert_eq!(drafts.len(), 1);
    assert_eq!(drafts[0].raw.as_ref().unwrap().bytes().unwrap(), b"a\xffb");
}

#[tokio::test]
async fn output_beyond_the_limit_is_in_the_transcript_from_its_first_byte() {
    let capture = Capture { max_size: Some(1000), ..Capture::default() };
    let command = job("yes 123456789 | head -n 30000");
    let (outcome, heard) = run(CommandJob { capture: Some(capture), ..command }).await;
    assert!(outcome.truncated);
    assert_eq!(outcome.output.len() + outcome.output_tail.len(), 1000);
    let mut offset = 0;
    for draft in heard.drafts.into_inner().unwrap() {
        let facts: Value = draft.payload.decode().unwrap();
        assert_eq!(facts["offset"], offset);
        offset += facts["text"].as_str().unwrap().len();
    }
    assert_eq!(offset, 300_000);
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_named() {
    let (outcome, _) = run(CommandJob { dir: Some("/no/such/place".into()), ..job("true") }).await;
    let error = outcome.error.unwrap();
    assert!(error.starts_with("/no/such/place: not a directory"), "{error}");
}
