//! Kill -9 against `quipu run` and `quipu resume`, at moments that numbers decide.
//!
//! Each step writes its place to a log as the last thing it does, so the log says what was really
//! done, and the transcript has to agree with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::session::{QUIPU, Session};

/// How many runs are killed; every third of them twice, every ninth three times.
const RUNS: u64 = 36;
const AT_A_TIME: usize = 2;

/// A loop inside a parallel step, a jump back, a retry, and a child with a loop of its own.
const PARENT: &str = r#"
name: parent
states:
  initial: first
  first: {type: step, command: 'echo main first >> log', on_success: fan}
  fan: {type: parallel, parallel: [each, side, sub], on_success: flaky}
  each: {type: for_each, items: [a, b, c], body: [check, note]}
  check: {type: step, command: 'sleep 0.01; echo "main fan.each[{{.loop.Index}}].check" >> log'}
  note: {type: step, command: 'echo "main fan.each[{{.loop.Index}}].note" >> log'}
  side: {type: step, command: 'sleep 0.03; echo main fan.side >> log'}
  sub: {type: call_workflow, workflow: child, inputs: {word: "{{.states.first.ExitCode}}"}}
  flaky:
    type: step
    command: 'if test -e again; then echo main flaky >> log; else touch again; exit 1; fi'
    retry: {max_attempts: 3, initial_delay: 5ms}
    on_success: last
  last: {type: step, command: 'echo main last >> log', on_success: done}
  done: {type: terminal, message: "all is done"}
"#;

const CHILD: &str = r#"
name: child
inputs: [{name: word, type: string, required: true}]
states:
  initial: inner
  inner: {type: step, command: 'echo child inner >> log', on_success: twice}
  twice: {type: while, while: 'loop.Index < 2', max_iterations: 5, body: [deep], on_complete: done}
  deep: {type: step, command: 'sleep 0.01; echo "child twice[{{.loop.Index}}].deep" >> log'}
  done: {type: terminal}
"#;

/// Every place that writes to the log.
const PLACES: [&str; 13] = [
    "child inner",
    "child twice[0].deep",
    "child twice[1].deep",
    "main fan.each[0].check",
    "main fan.each[0].note",
    "main fan.each[1].check",
    "main fan.each[1].note",
    "main fan.each[2].check",
    "main fan.each[2].note",
    "main fan.side",
    "main first",
    "main flaky",
    "main last",
];

fn log(session: &Session) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(session.dir().join("log")).unwrap_or_default().lines() {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

/// Runs `quipu` and kills it when the transcript has grown by so many lines, or a while later.
/// Tells whether it was killed before it had ended by itself.
fn run_and_kill(session: &Session, arguments: &[&str], chance: u64) -> bool {
    let mut child = session
        .command(QUIPU)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let path = session.transcript("r");
    let lines = || fs::read(&path).unwrap_or_default().iter().filter(|b| **b == b'\n').count();
    let patience = lines() + (chance % 40) as usize;
    let started = Instant::now();
    while lines() < patience && child.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(60), "it hangs");
        thread::sleep(Duration::from_micros(200));
    }
    thread::sleep(Duration::from_micros(chance / 40 % 3000));
    let alive = child.try_wait().unwrap().is_none();
    // A process that is gone cannot be killed, and that is as good.
    let _ = child.kill();
    child.wait().unwrap();
    alive
}

/// Lists the runs that have a transcript.
fn runs(session: &Session) -> Vec<String> {
    let Ok(folder) = fs::read_dir(session.dir().join("storage/transcripts")) else {
        return Vec::new();
    };
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(".jsonl").map(str::to_owned)).collect()
}

/// Lists the places that the transcripts call finished, as far as they are whole.
fn finished(session: &Session) -> BTreeSet<String> {
    let mut finished = BTreeSet::new();
    for run in runs(session) {
        let text = fs::read(session.transcript(&run)).unwrap();
        let lines = text.split_inclusive(|byte| *byte == b'\n').filter(|l| l.ends_with(b"\n"));
        for line in lines {
            let line: serde_json::Value = serde_json::from_slice(line).unwrap();
            let succeeded = line["payload"]["status"] == "succeeded";
            if line["type"] == "step.completed" && succeeded {
                let owner = if run == "r" { "main" } else { "child" };
                finished.insert(format!("{owner} {}", line["path"].as_str().unwrap()));
            }
        }
    }
    finished
}

fn check_end(session: &Session, settled: &BTreeMap<String, usize>, kills: usize) {
    let counts = log(session);
    let places: Vec<&str> = counts.keys().map(String::as_str).collect();
    assert_eq!(places, PLACES, "everything is done");
    for (place, count) in &counts {
        assert!(*count <= 1 + kills, "{place} was done {count} times after {kills} kills");
        if let Some(before) = settled.get(place) {
            assert_eq!(count, before, "{place} was finished, and was done again");
        }
    }
    session.ok(&["verify"]);
    assert_eq!(session.quipu(&["status", "r", "--json"]).json()["status"], "succeeded");
    let lines = session.lines("r");
    let numbers: Vec<u64> = lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert!(numbers.iter().copied().eq(1..=numbers.len() as u64), "{numbers:?}");
    assert_eq!(lines.last().unwrap()["payload"]["status"], "succeeded");
    let children: BTreeSet<_> = lines.iter().filter_map(|l| l["child_run_id"].as_str()).collect();
    let mut linked: BTreeSet<String> = runs(session).into_iter().collect();
    assert!(linked.remove("r"));
    assert_eq!(linked.iter().map(String::as_str).collect::<BTreeSet<_>>(), children);
}

#[test]
fn no_finished_step_runs_again_after_kill_9_and_the_transcript_verifies() {
    let (started, killed) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        loop {
            let number = started.fetch_add(1, Ordering::Relaxed);
            if number >= RUNS {
                return;
            }
            killed.fetch_add(kill_and_resume(number), Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
    let killed = killed.into_inner();
    assert!(killed > RUNS / 2, "only {killed} of {RUNS} runs were killed while they ran");
}

/// Kills a run, resumes it, maybe kills that too, and checks the end. Returns how many kills hit.
fn kill_and_resume(number: u64) -> u64 {
    let session = Session::new();
    fs::write(session.dir().join("parent.yaml"), PARENT).unwrap();
    fs::write(session.dir().join("child.yaml"), CHILD).unwrap();
    let mut kills = 0;
    // What was finished before some kill, with how often it had been done by then.
    let mut settled: BTreeMap<String, usize> = BTreeMap::new();
    let rounds = 1 + u64::from(number.is_multiple_of(3)) + u64::from(number.is_multiple_of(9));
    for round in 0..rounds {
        let first = &["run", "parent.yaml", "--id", "r", "--quiet"][..];
        let arguments = if round == 0 { first } else { &["resume", "r", "--quiet"] };
        if !run_and_kill(&session, arguments, mix(number * 7 + round)) {
            break;
        }
        kills += 1;
        if fs::read(session.transcript("r")).unwrap_or_default().is_empty() {
            // It never said which run it was, so there is nothing to go on with.
            assert!(log(&session).is_empty());
            return 0;
        }
        let counts = log(&session);
        for place in finished(&session) {
            // Loops and terminal steps finish without a line in the log.
            if let Some(count) = counts.get(&place) {
                settled.entry(place).or_insert(*count);
            }
        }
    }
    if session.quipu(&["status", "r", "--json"]).json()["status"] != "succeeded" {
        session.ok(&["resume", "r", "--quiet"]);
    }
    check_end(&session, &settled, kills);
    kills as u64
}

/// Spreads small numbers all over (the finaliser of SplitMix64).
fn mix(number: u64) -> u64 {
    let mut z = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
