//! This very binary, started again: another process that records what it is told to.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use quipu_event::RunIdentity;
use quipu_journal::{Layout, Options, Recorder};
use quipu_testkit::{assistant_text, run_id, run_started};

const STORAGE: &str = "QUIPU_TEST_OTHER_PROCESS";
/// Stands before what the other process says; its test harness also speaks.
const ANSWER: &str = "recorded ";

/// Another process that records a run line by line.
pub(crate) struct OtherProcess {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl OtherProcess {
    /// Starts it; it has begun the run `r` with a `run.started` when this returns.
    pub(crate) fn recording_in(storage: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["process::the_other_process", "--exact", "--ignored", "--nocapture"])
            .env(STORAGE, storage)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut other = OtherProcess { child, orders, answers };
        assert_eq!(other.answer(), 1);
        other
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has it record `text` and returns the number it got.
    pub(crate) fn record(&mut self, text: &str) -> u64 {
        writeln!(self.orders, "{text}").unwrap();
        self.answer()
    }

    /// Ends it as nobody wants to end.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn answer(&mut self) -> u64 {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.answers.read_line(&mut line).unwrap(), 0, "the other process is gone");
            // The harness may have said something on the same line before.
            if let Some((_, number)) = line.split_once(ANSWER) {
                return number.trim().parse().unwrap();
            }
        }
    }
}

impl Drop for OtherProcess {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "not a test: what the other process does when a test starts it"]
fn the_other_process() {
    let Some(storage) = std::env::var_os(STORAGE) else { return };
    let run = RunIdentity { run_id: run_id("r"), parent_run_id: None };
    let recorder = Recorder::create(&Layout::new(storage), run, Options::default()).unwrap();
    println!("{ANSWER}{}", recorder.record(run_started("other")).unwrap());
    for order in std::io::stdin().lines() {
        println!("{ANSWER}{}", recorder.record(assistant_text(&order.unwrap())).unwrap());
    }
}
