//! Programs that outlived the process that ran them: found by the marks in their environment, and
//! stopped before their steps run again.
//!
//! What a finished step left running is its own affair, and stays.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use quipu_event::RunId;
use rustix::process::{Pid, Signal, getpid, kill_process};
use serde_json::json;
use tokio::time::{Duration, Instant, sleep};

use crate::engine::{History, Occurrence};
use crate::language::Value;
use crate::process::GRACE;

/// The variable that names the run.
const RUN: &str = "QUIPU_RUN_ID";

/// The variable that names the run's transcript. Two runs may have the same id in two storages.
const TRANSCRIPT: &str = "QUIPU_TRANSCRIPT";

/// The variable that names the step, by its path.
const STEP: &str = "QUIPU_STEP";

/// The variable that says which attempt at the step it is.
const ATTEMPT: &str = "QUIPU_ATTEMPT";

/// The variable that names a plugin, which belongs to the run and to no step of it.
const PLUGIN: &str = "QUIPU_PLUGIN";

/// How often those who were asked to end are looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What tells the programs of a run from all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    run: String,
    transcript: String,
}

impl Marks {
    /// Returns the marks of a run that is recorded.
    pub(super) fn of(run: &RunId, transcript: &Path) -> Marks {
        let transcript = fs::canonicalize(transcript).unwrap_or_else(|_| transcript.to_owned());
        Marks { run: run.to_string(), transcript: transcript.display().to_string() }
    }

    /// Returns the variables of a plugin.
    pub(super) fn of_plugin(&self, name: &str) -> BTreeMap<String, String> {
        BTreeMap::from([
            (RUN.to_owned(), self.run.clone()),
            (TRANSCRIPT.to_owned(), self.transcript.clone()),
            (PLUGIN.to_owned(), name.to_owned()),
        ])
    }

    /// Returns the variables of what a step is about to start.
    pub(super) fn at(&self, at: &Occurrence) -> BTreeMap<String, String> {
        BTreeMap::from([
            (RUN.to_owned(), self.run.clone()),
            (TRANSCRIPT.to_owned(), self.transcript.clone()),
            (STEP.to_owned(), at.path.to_string()),
            (ATTEMPT.to_owned(), at.attempt.to_string()),
            // It may be that this process is a plugin's itself.
            (PLUGIN.to_owned(), String::new()),
        ])
    }
}

/// A program that outlived the process that ran it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leftover {
    pid: i32,
    /// When it began, which tells it apart from a later one with the same number.
    began: String,
    of: Owner,
    command: String,
}

/// Whom a program worked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Owner {
    /// A step, by its path, and the attempt at it.
    Step(String, u32),
    /// A plugin: the run starts its own again.
    Plugin(String),
}

impl Leftover {
    /// Returns what a transcript says of it.
    pub(super) fn facts(&self) -> Value {
        let (key, name) = match &self.of {
            Owner::Step(step, _) => ("step", step),
            Owner::Plugin(plugin) => ("plugin", plugin),
        };
        json!({ "pid": self.pid, key: name, "command": self.command })
    }

    fn is_there(&self) -> bool {
        began(self.pid).is_some_and(|began| began == self.began)
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.is_there()) {
            // An error means that it is gone.
            let _ = kill_process(pid, signal);
        }
    }
}

/// Finds what an earlier process left at work on steps that are not over. Nothing is found where the
/// system does not tell the environment of processes.
pub(super) fn find(marks: &Marks, history: &History) -> Vec<Leftover> {
    let around = ourselves();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| !around.contains(pid))
        .filter_map(|pid| look(pid, marks))
        // What belongs to no step was done when the run began, and is not done again.
        .filter(|found| match &found.of {
            Owner::Step(at, attempt) => !at.is_empty() && !history.is_finished(at, *attempt),
            Owner::Plugin(_) => true,
        })
        .collect()
}

/// Stops them: asks first, insists then.
pub(super) async fn stop(leftovers: &[Leftover]) {
    leftovers.iter().for_each(|program| program.signal(Signal::TERM));
    let deadline = Instant::now() + GRACE;
    while leftovers.iter().any(Leftover::is_there) && Instant::now() < deadline {
        sleep(LOOK).await;
    }
    leftovers.iter().for_each(|program| program.signal(Signal::KILL));
}

/// Returns this process and those around it, which may be at work on the same run.
fn ourselves() -> BTreeSet<i32> {
    let mut around = BTreeSet::new();
    let mut next = Some(getpid().as_raw_nonzero().get());
    while let Some(pid) = next.filter(|pid| *pid > 1 && around.insert(*pid)) {
        next = stat(pid).and_then(|fields| fields.get(1)?.parse().ok());
    }
    around
}

fn look(pid: i32, marks: &Marks) -> Option<Leftover> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = |name: &str| {
        let mut variables = environment.split(|byte| *byte == 0);
        let found = variables
            .find_map(|variable| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
        std::str::from_utf8(found).ok().map(str::to_owned)
    };
    if value(RUN)? != marks.run || value(TRANSCRIPT)? != marks.transcript {
        return None;
    }
    let of = match value(PLUGIN).filter(|plugin| !plugin.is_empty()) {
        Some(plugin) => Owner::Plugin(plugin),
        None => Owner::Step(value(STEP)?, value(ATTEMPT)?.parse().ok()?),
    };
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&words).trim_end_matches('\0').replace('\0', " ");
    Some(Leftover { pid, began: began(pid)?, of, command })
}

/// Returns when a process began; nothing if it is over.
fn began(pid: i32) -> Option<String> {
    let fields = stat(pid)?;
    let is_over = matches!(fields.first().map(String::as_str), Some("Z" | "X"));
    // Counted from the state, which is the third: the 22nd of all.
    fields.get(19).filter(|_| !is_over).cloned()
}

/// Reads what stands behind the name, which may hold anything.
fn stat(pid: i32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_ascii_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use quipu_event::StepPath;

    use super::*;
    use crate::engine::{Outcome, Past};

    fn sleeping(env: BTreeMap<String, String>) -> std::process::Child {
        std::process::Command::new("sleep").arg("600").envs(env).spawn().unwrap()
    }

    #[tokio::test]
    async fn only_plugins_and_programs_of_steps_that_are_not_over_are_stopped() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let run: RunId = "r".parse().unwrap();
        let marks = Marks::of(&run, file.path());
        let start = |path: &str| {
            let at = Occurrence { path: StepPath::from(path), iteration: 0, attempt: 1 };
            sleeping(marks.at(&at))
        };
        let mut plugin = sleeping(marks.of_plugin("p"));
        let mut children = ["open", "over", ""].map(start);
        let mut history = History::default();
        let past = |outcome| Past { seq: 1, name: "s".into(), outcome, child: None };
        history.insert("open", 1, past(None));
        history.insert("over", 1, past(Some(Outcome::default())));
        assert_eq!(find(&Marks::of(&run, Path::new("elsewhere")), &history), []);
        let found = find(&marks, &history);
        let owners: BTreeSet<String> = found.iter().map(|it| format!("{:?}", it.of)).collect();
        assert_eq!(
            owners.into_iter().collect::<Vec<_>>(),
            [r#"Plugin("p")"#, r#"Step("open", 1)"#]
        );
        assert!(found.iter().all(|it| it.command == "sleep 600"), "{found:?}");
        stop(&found).await;
        assert!(!plugin.wait().unwrap().success());
        assert!(!children[0].wait().unwrap().success());
        for child in &mut children[1..] {
            assert!(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
