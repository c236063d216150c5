//! The engine alone, without processes: workflows whose work is answered from a script.
//!
//! A case is a workflow in `tests/cases/engine/<name>.yaml` and what the engine does with it in
//! `<name>.out`. Comments at the top of the workflow are the script:
//!
//! ```text
//! # input limit = 3                     an input
//! # answer build#1: fail 2              what the first execution of `build` comes to
//! # answer each[1].check: ok two words  what it answers; without a number, every execution
//! # cancel build                        the run is canceled when `build` has been started
//! ```
//!
//! Work without an answer succeeds and says its own path. `BLESS=1` writes the `.out` files anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quipu_event::{RunId, Timestamp};
use quipu_workflow::definition::Workflow;
use quipu_workflow::engine::{
    Effect, Engine, History, Input, Occurrence, Outcome, Past, ReadFile, Setup, TaskId, Work,
    WorkStatus,
};
use serde_json::Value;

#[test]
fn cases_come_to_what_they_say() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    for file in case_files() {
        let case = Case::read(&file);
        let trace = case.play(History::default()).trace;
        let expected_file = file.with_extension("out");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected_file, &trace).unwrap();
        }
        let expected = std::fs::read_to_string(&expected_file).unwrap_or_default();
        if trace != expected {
            wrong.push(format!("{}\n--- expected\n{expected}--- came to\n{trace}", file.display()));
        }
        checked += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 20, "only {checked} cases");
}

#[test]
fn every_step_that_began_ends_exactly_once() {
    for file in case_files() {
        let mut played = Case::read(&file).play(History::default());
        played.begun.sort();
        played.ended.sort();
        assert_eq!(played.begun, played.ended, "{}", file.display());
    }
}

/// Cuts each case short after each of its answers, and resumes it from what was over by then.
#[test]
fn a_resumed_run_comes_to_the_same_end_and_repeats_nothing_that_was_over() {
    for file in case_files() {
        let case = Case::read(&file);
        if case.cancel_at.is_some() {
            continue;
        }
        let whole = case.play(History::default());
        for answers in 0..whole.performed.len() {
            let first = case.play_until(History::default(), Some(answers));
            let second = case.play(first.history.clone());
            assert_eq!(second.end, whole.end, "{} after {answers}", file.display());
            let repeated: Vec<_> =
                second.begun.iter().filter(|at| first.over.contains(at)).collect();
            assert!(repeated.is_empty(), "{} after {answers}: {repeated:?}", file.display());
            // Under another number it would be a repetition too.
            let both = first.over.iter().chain(&second.over);
            assert_eq!(paths(both), paths(&whole.over), "{} after {answers}", file.display());
        }
    }
}

/// Lists the paths of executions, sorted, each as often as it was executed.
fn paths<'a>(places: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    let mut paths: Vec<_> =
        places.into_iter().map(|place| place.split_once('#').unwrap().0).collect();
    paths.sort_unstable();
    paths
}

fn case_files() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/engine");
    let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|e| e == "yaml")).collect();
    files.sort();
    files
}

struct Case {
    plan: Arc<Workflow>,
    inputs: serde_json::Map<String, Value>,
    answers: BTreeMap<String, Outcome>,
    cancel_at: Option<String>,
}

#[derive(Default)]
struct Played {
    trace: String,
    end: Option<String>,
    begun: Vec<String>,
    ended: Vec<String>,
    /// What was over, and will not be asked again.
    over: Vec<String>,
    performed: Vec<String>,
    history: History,
}

impl Case {
    fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap();
        let plan = super::load(file);
        let mut case = Case {
            plan,
            inputs: serde_json::Map::new(),
            answers: BTreeMap::new(),
            cancel_at: None,
        };
        for line in text.lines().take_while(|line| line.starts_with('#')) {
            case.read_direction(line.trim_start_matches("# "));
        }
        case
    }

    fn read_direction(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "input" => {
                let (name, value) = rest.split_once(" = ").unwrap();
                let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
                self.inputs.insert(name.to_owned(), value);
            }
            "answer" => {
                let (at, answer) = rest.split_once(": ").unwrap();
                self.answers.insert(at.to_owned(), outcome(answer));
            }
            "cancel" => self.cancel_at = Some(rest.to_owned()),
            _ => {}
        }
    }

    fn play(&self, history: History) -> Played {
        self.play_until(history, None)
    }

    /// Plays the run, or as much of it as `limit` pieces of work.
    fn play_until(&self, history: History, limit: Option<usize>) -> Played {
        let mut engine = Engine::new(Arc::clone(&self.plan), self.setup(history.clone()));
        let mut played = Played { history, ..Played::default() };
        let mut waiting: Vec<(TaskId, Occurrence, Work)> = Vec::new();
        let mut stopped: Vec<TaskId> = Vec::new();
        let mut now = Duration::ZERO;
        let mut inputs = vec![Input::Start];
        loop {
            for input in std::mem::take(&mut inputs) {
                for effect in engine.step(now, input) {
                    played.take(&effect);
                    match effect {
                        Effect::Perform { task, at, work, .. } => waiting.push((task, at, *work)),
                        Effect::Stop { task } => stopped.push(task),
                        _ => {}
                    }
                }
            }
            now += Duration::from_millis(10);
            if self.cancel_at.is_some()
                && waiting
                    .iter()
                    .any(|(_, at, _)| Some(at.path.as_str()) == self.cancel_at.as_deref())
                && !played.trace.contains("cancel!")
            {
                played.trace.push_str("cancel!\n");
                inputs.push(Input::Cancel { reason: "interrupted".to_owned() });
                continue;
            }
            if engine.is_over() || limit.is_some_and(|limit| played.performed.len() >= limit) {
                return played;
            }
            // An alarm rings only when nothing else is left to wait for.
            let next = waiting.iter().position(|(task, _, work)| {
                stopped.contains(task) || !matches!(work, Work::Wait(_))
            });
            assert!(!waiting.is_empty(), "nothing happens any more\n{}", played.trace);
            let (task, at, work) = waiting.remove(next.unwrap_or(0));
            let outcome = if stopped.contains(&task) {
                Outcome { status: WorkStatus::Canceled, ..Outcome::default() }
            } else {
                self.answer(&at, &work)
            };
            if !matches!(work, Work::Wait(_)) {
                played.performed.push(at.path.to_string());
            }
            inputs.push(Input::Finished { task, outcome });
        }
    }

    fn answer(&self, at: &Occurrence, work: &Work) -> Outcome {
        if matches!(work, Work::Wait(_)) {
            return Outcome::default();
        }
        let exact = format!("{}#{}", at.path, at.attempt);
        let said = self.answers.get(&exact).or_else(|| self.answers.get(at.path.as_str()));
        said.cloned().unwrap_or_else(|| Outcome {
            output: at.path.to_string(),
            exit_code: Some(0),
            session: Some(format!("session of {}", at.path)),
            ..Outcome::default()
        })
    }

    fn setup(&self, history: History) -> Setup {
        let mut inputs = self.inputs.clone();
        for declared in &self.plan.inputs {
            if let (false, Some(default)) = (inputs.contains_key(&declared.name), &declared.default)
            {
                inputs.insert(declared.name.clone(), default.clone());
            }
        }
        Setup {
            run_id: RunId::parse("run").unwrap(),
            started_at: Timestamp::parse("2026-06-08T10:14:42Z").unwrap(),
            inputs,
            env: BTreeMap::from([("HOME".to_owned(), "/home/ada".to_owned())]),
            working_dir: PathBuf::from("/project"),
            user: "ada".to_owned(),
            hostname: "loom".to_owned(),
            awf: BTreeMap::from([("scripts_dir".to_owned(), "/scripts".to_owned())]),
            skill_dirs: Vec::new(),
            role_dirs: Vec::new(),
            files: Arc::new(NoFiles),
            history,
        }
    }
}

impl Played {
    fn take(&mut self, effect: &Effect) {
        let place = |at: &Occurrence| format!("{}#{} ~{}", at.path, at.attempt, at.iteration);
        match effect {
            Effect::Begin(begin) => {
                let _ = writeln!(
                    self.trace,
                    "begin {} {}{}",
                    place(&begin.at),
                    begin.kind,
                    shown(begin.work.as_deref())
                );
                self.begun.push(place(&begin.at));
            }
            Effect::End(end) => {
                let next = end.next.as_ref().map(|next| {
                    format!(" -> {} ({})", next.goto.as_deref().unwrap_or("."), next.because)
                });
                let error =
                    end.error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
                let status = serde_json::to_value(&end.status).unwrap();
                let _ = writeln!(
                    self.trace,
                    "end   {} {}{error}{}",
                    place(&end.at),
                    status.as_str().unwrap(),
                    next.unwrap_or_default()
                );
                self.ended.push(place(&end.at));
                let is_over = status == "succeeded" || status == "failed";
                if is_over {
                    self.over.push(place(&end.at));
                }
                let seq = self.ended.len() as u64;
                let outcome = is_over.then(|| end.outcome.clone());
                let past = Past { seq, name: end.name.clone(), outcome, child: None };
                self.history.insert(end.at.path.as_str(), end.at.attempt, past);
            }
            Effect::Note { at, subtype, facts } => {
                let at = at.as_ref().map(place).unwrap_or_default();
                let _ = writeln!(self.trace, "note  {at} {subtype} {facts}");
            }
            Effect::Stop { task: _ } => self.trace.push_str("stop\n"),
            Effect::Finish(end) => {
                let told = format!(
                    "{} error={:?} message={:?} terminal={:?} exit={:?} outputs={}",
                    serde_json::to_value(&end.status).unwrap().as_str().unwrap(),
                    end.error,
                    end.message,
                    end.terminal,
                    end.exit_status,
                    Value::Object(end.outputs.clone())
                );
                let _ = writeln!(self.trace, "finish {told}");
                self.end = Some(told);
            }
            Effect::Perform { work, timeout, .. } => {
                if let Some(timeout) = timeout {
                    let _ = writeln!(self.trace, "      within {timeout:?}");
                }
                if let Work::Wait(_) = **work {
                    self.trace.push_str("      wait\n");
                }
            }
            Effect::Turn { .. } => {}
        }
    }
}

/// What the work is, on one line.
fn shown(work: Option<&Work>) -> String {
    match work {
        Some(Work::Command(job)) => format!(" {:?}", job.script.shown()),
        Some(Work::Agent(job)) => {
            format!(
                " {} {:?} system={:?} resume={:?}",
                job.provider, job.prompt, job.system_prompt, job.resume
            )
        }
        Some(Work::Operation(job)) => {
            format!(" {} {}", job.operation, Value::Object(job.inputs.clone()))
        }
        Some(Work::Call(job)) => format!(" {} {}", job.workflow, Value::Object(job.inputs.clone())),
        Some(Work::Custom(job)) => format!(" {}", job.step_type),
        Some(Work::Wait(_)) | None => String::new(),
    }
}

/// Reads an answer: `ok some text`, `fail 2 some error`, `timeout`, `json {"a": 1}`.
fn outcome(answer: &str) -> Outcome {
    let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
    match word {
        "ok" => Outcome { output: rest.to_owned(), exit_code: Some(0), ..Outcome::default() },
        "json" => Outcome {
            output: rest.to_owned(),
            json: Some(serde_json::from_str(rest).unwrap()),
            ..Outcome::default()
        },
        "fail" => {
            let (code, error) = rest.split_once(' ').unwrap_or((rest, ""));
            Outcome {
                status: WorkStatus::Failed,
                exit_code: Some(code.parse().unwrap()),
                error: (!error.is_empty()).then(|| error.to_owned()),
                stderr: error.to_owned(),
                ..Outcome::default()
            }
        }
        "timeout" => Outcome { status: WorkStatus::TimedOut, ..Outcome::default() },
        other => panic!("{other} is no answer"),
    }
}

struct NoFiles;

impl ReadFile for NoFiles {
    fn read(&self, path: &Path) -> Result<String, String> {
        match path.file_name().and_then(|name| name.to_str()) {
            Some("prompt.md") => Ok("From a file: {{.inputs.what}}\n".to_owned()),
            Some("script.sh") => Ok("#!/bin/sh\necho {{.inputs.what}}\n".to_owned()),
            _ => Err("no such file".to_owned()),
        }
    }
}
