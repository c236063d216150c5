//! Kill -9, a full disk and a file size limit against a recording process.
//!
//! What was acknowledged on stdout must be in the file, and what is in the file must be a whole
//! run again after `quipu repair`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::session::{Outcome, QUIPU, Session};

const KILLS: u64 = 300;
/// More than there are cores: a process that is waiting is also a process that can be killed.
const AT_A_TIME: usize = 4;

/// Returns the draft that becomes event `seq`: steps open and close, and some lines are large.
fn draft(seq: u64) -> String {
    let step = format!("s{}", (seq - 2) / 4);
    let (kind, payload) = match seq % 4 {
        2 => ("step.started", json!({ "name": step, "kind": "agent", "n": seq })),
        3 => ("system", json!({ "subtype": "x".repeat((seq % 50) as usize), "n": seq })),
        0 if seq.is_multiple_of(40) => {
            ("system", json!({ "subtype": "y".repeat(200_000), "n": seq }))
        }
        0 => ("usage", json!({ "model": "m", "input_tokens": seq, "n": seq })),
        _ => ("step.completed", json!({ "name": step, "kind": "agent", "n": seq })),
    };
    json!({ "type": kind, "path": step, "payload": payload }).to_string()
}

/// Writes drafts until nobody reads them any more.
fn produce(mut stdin: impl Write) {
    for seq in 2.. {
        if writeln!(stdin, "{}", draft(seq)).is_err() {
            return;
        }
    }
}

fn seq_of(ack: &str) -> u64 {
    let ack: Value = serde_json::from_str(ack).expect("an acknowledgement is whole");
    ack["seq"].as_u64().expect("an acknowledgement has a number")
}

/// Starts a recording, kills it at a point that `chance` decides, and returns what it had
/// acknowledged.
fn record_and_kill(session: &Session, chance: u64) -> u64 {
    let mut child = session.spawn(&["record", "--name", "crash", "--id", "r1", "--ack"]);
    let stdin = child.stdin.take().unwrap();
    let mut acks = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    thread::scope(|scope| {
        scope.spawn(move || produce(stdin));
        let patience = chance % 60;
        let mut acknowledged = 0;
        for ack in acks.by_ref().take(patience as usize) {
            acknowledged = seq_of(&ack);
        }
        thread::sleep(Duration::from_micros(chance / 60 % 4000));
        child.kill().unwrap();
        child.wait().unwrap();
        // What it said before it died, it said.
        acks.map(|ack| seq_of(&ack)).last().unwrap_or(acknowledged)
    })
}

/// Checks that the file is the beginning of what was sent, cut anywhere, and returns how many
/// events it holds and which steps are open in it.
fn check_prefix(bytes: &[u8]) -> (u64, BTreeSet<String>) {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
    let mut open = BTreeSet::new();
    let mut seq = 0;
    for line in bytes[..whole].split_inclusive(|&byte| byte == b'\n') {
        seq += 1;
        let line: Value = serde_json::from_slice(line).expect("a whole line is JSON");
        assert_eq!(line["seq"], seq);
        if seq == 1 {
            assert_eq!(line["type"], "run.started");
            continue;
        }
        assert_eq!(line["payload"]["n"], seq, "events stand in the order in which they were sent");
        let path = line["path"].as_str().unwrap().to_owned();
        match line["type"].as_str().unwrap() {
            "step.started" => drop(open.insert(path)),
            "step.completed" => assert!(open.remove(&path)),
            _ => {}
        }
    }
    (seq, open)
}

/// Repairs a copy of what a dead recorder left and checks that a whole run came of it.
fn check_repair(session: &Session, storage: &str, before: &[u8]) {
    let (events, open) = check_prefix(before);
    let repaired = session.quipu(&["repair", "r1", "--json", "--storage", storage]);
    assert_eq!(repaired.code, Some(0), "{repaired:?}");
    let after = fs::read(session.dir().join(storage).join("transcripts/r1.jsonl")).unwrap();
    let whole = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
    assert!(after.starts_with(&before[..whole]), "no line that was written is changed");
    assert!(after.is_empty() || after.ends_with(b"\n"), "nothing torn is left");
    let told = repaired.json();
    assert_eq!(told["torn"].is_object(), whole < before.len());
    let added: Vec<Value> = after[whole..]
        .split_inclusive(|&byte| byte == b'\n')
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let aborted: BTreeSet<String> = added
        .iter()
        .filter(|line| line["type"] == "step.completed" && line["payload"]["status"] == "aborted")
        .map(|line| line["path"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(aborted, open);
    if events > 0 {
        let last = added.last().expect("a run without an end gets one");
        assert_eq!(
            (&last["type"], &last["payload"]["status"]),
            (&json!("run.completed"), &json!("aborted"))
        );
    }
    let verified = session.quipu(&["verify", "--storage", storage]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn everything_acknowledged_survives_kill_9_and_nothing_torn_survives_repair() {
    let started = AtomicU64::new(0);
    let with_events = AtomicU64::new(0);
    let work = || {
        loop {
            let number = started.fetch_add(1, Ordering::Relaxed);
            if number >= KILLS {
                return;
            }
            let session = Session::new();
            let acknowledged = record_and_kill(&session, mix(number));
            let Ok(before) = fs::read(session.transcript("r1")) else {
                assert_eq!(acknowledged, 0, "there is no file, so nothing can be acknowledged");
                continue;
            };
            let (events, _) = check_prefix(&before);
            assert!(events >= acknowledged, "{events} events, {acknowledged} acknowledged");
            with_events.fetch_add(u64::from(events > 0), Ordering::Relaxed);
            check_repair(&session, "storage", &before);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
    let with_events = with_events.into_inner();
    assert!(with_events > KILLS / 2, "only {with_events} of {KILLS} were killed while recording");
}

/// Spreads small numbers all over (the finaliser of SplitMix64).
fn mix(number: u64) -> u64 {
    let mut z = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Runs `script` in a shell whose `$0` is quipu, feeds it drafts, and returns what came of it and
/// how many drafts it took.
fn feed(session: &Session, shell: &[&str], script: &str, drafts: u64) -> (Outcome, u64) {
    let mut child = session
        .command(shell[0])
        .args(&shell[1..])
        .args(["-c", script, QUIPU])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell can be started");
    let mut stdin = child.stdin.take().unwrap();
    let (taken, output) = thread::scope(|scope| {
        let producer = scope.spawn(move || {
            (0..drafts).take_while(|sent| writeln!(stdin, "{}", draft(sent + 2)).is_ok()).count()
        });
        let output = child.wait_with_output().unwrap();
        (producer.join().unwrap() as u64, output)
    });
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    (Outcome { code: output.status.code(), stdout, stderr }, taken)
}

#[track_caller]
fn check_refusal(session: &Session, storage: &str, outcome: &Outcome, cause: &str) {
    assert_eq!(outcome.code, Some(4), "{outcome:?}");
    assert_eq!(outcome.stderr.matches("error: ").count(), 1, "told once: {}", outcome.stderr);
    assert!(
        outcome.stderr.contains(cause) && outcome.stderr.contains("hint: "),
        "{}",
        outcome.stderr
    );
    let before = fs::read(session.dir().join(storage).join("transcripts/r1.jsonl")).unwrap();
    let (events, _) = check_prefix(&before);
    let acknowledged = outcome.stdout.lines().last().map_or(0, seq_of);
    assert!(acknowledged > 1, "some drafts fit: {outcome:?}");
    assert_eq!(events, acknowledged);
    check_repair(session, storage, &before);
}

#[test]
fn a_file_size_limit_is_told_once_and_does_not_disturb_the_producer() {
    let session = Session::new();
    let script = "ulimit -f 32; exec \"$0\" record --name full --id r1 --ack";
    let (outcome, taken) = feed(&session, &["sh"], script, 2000);
    assert_eq!(taken, 2000, "input is read to its end");
    check_refusal(&session, "storage", &outcome, "File too large");
}

#[test]
fn a_full_disk_is_told_once_and_does_not_disturb_the_producer() {
    let session = Session::new();
    // A file system of our own needs a namespace of our own; what is left in it is copied out.
    let script = "mkdir small && mount -t tmpfs -o size=64k tmpfs small || exit 77
        \"$0\" record --name full --id r1 --ack --storage small
        code=$?; cp -a small copy; exit $code";
    if !may_mount() {
        eprintln!("THIS MACHINE DOES NOT LET US MOUNT A SMALL FILE SYSTEM: ENOSPC is NOT checked");
        return;
    }
    let (outcome, taken) = feed(&session, &["unshare", "-rm", "sh"], script, 2000);
    assert_eq!(taken, 2000, "input is read to its end");
    check_refusal(&session, "copy", &outcome, "No space left on device");
}

fn may_mount() -> bool {
    let dir = tempfile::tempdir().unwrap();
    let mount = |dir: &Path| {
        Command::new("unshare")
            .args(["-rm", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs"])
            .arg(dir)
            .stderr(Stdio::null())
            .status()
    };
    mount(dir.path()).is_ok_and(|status| status.success())
}
