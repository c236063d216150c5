//! Real programs, started and stopped.

use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use tokio::io::AsyncRead;
use tokio::sync::watch;
use tokio::time::timeout;

use super::{Exit, Pipe, Running, Spawn, SpawnError, Stdin, StopReason};

/// Longer than anything here takes on a slow machine; a test that gets here has failed.
const FAR_TOO_LONG: Duration = Duration::from_secs(60);

fn shell(script: &str) -> Spawn {
    let mut spawn = Spawn::new("/bin/sh");
    spawn.args = vec!["-c".into(), script.into()];
    spawn
}

async fn read_all<R: AsyncRead + Unpin>(pipe: Option<Pipe<R>>) -> String {
    let mut pipe = pipe.unwrap();
    let mut all = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        match pipe.read(&mut buffer).await.unwrap() {
            0 => return String::from_utf8_lossy(&all).into_owned(),
            read => all.extend_from_slice(&buffer[..read]),
        }
    }
}

struct Ended {
    exit: Exit,
    stdout: String,
    stderr: String,
}

async fn finish(mut running: Running, stop: super::StopSignal) -> Ended {
    let stdout = running.take_stdout();
    let stderr = running.take_stderr();
    let all =
        async { tokio::join!(running.wait_or_stop(stop), read_all(stdout), read_all(stderr)) };
    let (exit, stdout, stderr) = timeout(FAR_TOO_LONG, all).await.expect("it hangs");
    Ended { exit: exit.unwrap(), stdout, stderr }
}

fn never() -> super::StopSignal {
    watch::channel(None).1
}

/// Reads the first line, which tells that the program is ready and whom it started.
async fn first_line(running: &mut Running) -> String {
    let pipe = running.stdout_mut();
    let mut line = Vec::new();
    let mut byte = [0; 1];
    loop {
        let read = timeout(FAR_TOO_LONG, pipe.read(&mut byte)).await.expect("it hangs");
        if read.unwrap() == 0 || byte[0] == b'\n' {
            return String::from_utf8(line).unwrap();
        }
        line.push(byte[0]);
    }
}

fn lives(pid: &str) -> bool {
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    // A dead process that nobody has asked after is still there, as a zombie.
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    test_kill_process(pid).is_ok() && stat.is_ok_and(|stat| !stat.contains(") Z "))
}

async fn dies(pid: &str) {
    let death = async {
        while lives(pid) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(FAR_TOO_LONG, death).await.expect("it lives on");
}

#[tokio::test]
async fn a_program_ends_and_what_it_wrote_is_read() {
    let running = shell("echo out; echo err >&2; exit 3").start().await.unwrap();
    let ended = finish(running, never()).await;
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("out\n", "err\n"));
    assert_eq!(ended.exit.code(), 3);
    assert_eq!(ended.exit.trouble().as_deref(), Some("exit code 3"));
    assert_eq!(ended.exit.stopped(), None);
}

#[tokio::test]
async fn a_program_reads_what_it_is_given() {
    let mut spawn = shell("cat; cat");
    spawn.stdin = Stdin::Text(b"hello".to_vec());
    let ended = finish(spawn.start().await.unwrap(), never()).await;
    assert_eq!(ended.stdout, "hello");
}

#[tokio::test]
async fn a_program_that_is_given_nothing_is_at_the_end_of_its_input() {
    let ended = finish(shell("cat; echo done").start().await.unwrap(), never()).await;
    assert_eq!(ended.stdout, "done\n");
}

#[tokio::test]
async fn a_program_ended_by_a_signal_says_which() {
    let ended = finish(shell("kill -SEGV $$").start().await.unwrap(), never()).await;
    assert_eq!(ended.exit.code(), 139);
    assert_eq!(ended.exit.trouble().as_deref(), Some("killed by SIGSEGV"));
}

#[tokio::test]
async fn stopping_reaches_what_the_program_started() {
    for reason in [StopReason::TimedOut, StopReason::Canceled, StopReason::Now] {
        let script = "sleep 1000 & echo $!; wait";
        let mut running = shell(script).start().await.unwrap();
        let grandchild = first_line(&mut running).await;
        assert!(lives(&grandchild));
        let (_tell, stop) = watch::channel(Some(reason));
        let ended = finish(running, stop).await;
        assert_eq!(ended.exit.stopped(), Some(reason));
        dies(&grandchild).await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn stopping_reaches_what_has_left_the_group() {
    for reason in [StopReason::TimedOut, StopReason::Canceled, StopReason::Now] {
        // The one in between ends with the program and takes with it who started the last one.
        let script = "sh -c 'setsid sleep 1000 >/dev/null 2>&1 & echo $!; wait' & wait";
        let mut running = shell(script).start().await.unwrap();
        let stray = first_line(&mut running).await;
        assert!(lives(&stray));
        let (_tell, stop) = watch::channel(Some(reason));
        finish(running, stop).await;
        dies(&stray).await;
    }
}

#[tokio::test]
async fn a_program_that_is_asked_to_end_has_the_time_to_say_goodbye() {
    let script = "trap 'echo goodbye; exit 7' TERM; echo ready; while :; do sleep 0.01; done";
    let mut running = shell(script).start().await.unwrap();
    first_line(&mut running).await;
    let (_tell, stop) = watch::channel(Some(StopReason::Canceled));
    let ended = finish(running, stop).await;
    assert_eq!((ended.stdout.as_str(), ended.exit.code()), ("goodbye\n", 7));
}

#[tokio::test]
async fn a_program_that_will_not_end_is_killed() {
    let script = "trap '' TERM; echo ready; while :; do sleep 0.01; done";
    for second in [None, Some(StopReason::Now)] {
        let mut running = shell(script).start().await.unwrap();
        first_line(&mut running).await;
        let (tell, stop) = watch::channel(Some(StopReason::TimedOut));
        let insist = async {
            tokio::task::yield_now().await;
            if second.is_some() {
                tell.send_replace(second);
            }
        };
        let (ended, ()) = tokio::join!(finish(running, stop), insist);
        assert_eq!(ended.exit.code(), 137);
        assert_eq!(ended.exit.stopped(), Some(StopReason::TimedOut));
    }
}

#[tokio::test]
async fn leftovers_that_hold_the_pipes_are_not_waited_for() {
    let script = "sleep 1000 & echo $!";
    let ended = finish(shell(script).start().await.unwrap(), never()).await;
    assert!(ended.exit.success());
    dies(ended.stdout.trim()).await;
}

#[tokio::test]
async fn leftovers_that_never_stop_writing_are_not_waited_for() {
    let script = "yes & echo started";
    let ended = finish(shell(script).start().await.unwrap(), never()).await;
    assert!(ended.exit.success());
}

#[tokio::test]
async fn a_service_that_keeps_its_output_to_itself_may_stay() {
    let script = "sleep 1000 >/dev/null 2>&1 & echo $!";
    let ended = finish(shell(script).start().await.unwrap(), never()).await;
    let service = ended.stdout.trim();
    assert!(lives(service));
    let pid = Pid::from_raw(service.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_program_that_is_dropped_is_killed_with_its_group() {
    let mut running = shell("sleep 1000 & echo $!; wait").start().await.unwrap();
    let grandchild = first_line(&mut running).await;
    drop(running);
    dies(&grandchild).await;
}

#[tokio::test]
async fn what_cannot_be_started_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "x").unwrap();
    let missing = Spawn::new("no-such-program-here").start().await.unwrap_err();
    assert!(
        matches!(&missing, SpawnError::Missing { program } if program == "no-such-program-here")
    );
    let plain = Spawn::new(plain).start().await.unwrap_err();
    assert!(matches!(plain, SpawnError::NotAllowed { .. }));
    let mut nowhere = shell("true");
    nowhere.dir = Some(dir.path().join("nowhere"));
    let nowhere = nowhere.start().await.unwrap_err();
    assert!(matches!(nowhere, SpawnError::NoDirectory { .. }));
}

#[tokio::test]
async fn a_program_is_not_given_the_variables_that_are_hidden_from_it() {
    let script = || shell("echo ${CARGO_MANIFEST_DIR-none} ${HELD-none}");
    let open = finish(script().start().await.unwrap(), never()).await;
    assert_eq!(open.stdout, concat!(env!("CARGO_MANIFEST_DIR"), " none\n"));
    let env = [("HELD".to_owned(), "given".to_owned())].into();
    let hidden = vec!["CARGO_MANIFEST_DIR".into(), "HELD".into()];
    let running = Spawn { env, hidden, ..script() }.start().await.unwrap();
    assert_eq!(finish(running, never()).await.stdout, "none given\n");
}

#[tokio::test]
async fn a_program_inherits_what_was_done_to_the_thread_that_started_it() {
    let narrow = || {
        rustix::thread::set_no_new_privs(true)?;
        Ok(())
    };
    let status = "grep NoNewPrivs /proc/self/status";
    let free = finish(shell(status).start().await.unwrap(), never()).await;
    let spawn = Spawn { prepare: Some(super::Prepare::new(narrow)), ..shell(status) };
    let narrowed = finish(spawn.start().await.unwrap(), never()).await;
    assert_eq!((free.stdout.trim(), narrowed.stdout.trim()), ("NoNewPrivs:\t0", "NoNewPrivs:\t1"));
    let refuse = || Err(std::io::Error::other("not today"));
    let spawn = Spawn { prepare: Some(super::Prepare::new(refuse)), ..shell("true") };
    let refused = spawn.start().await.unwrap_err().to_string();
    assert_eq!(refused, "/bin/sh: cannot be started: not today");
}

#[tokio::test]
async fn a_program_that_ends_when_its_input_does_leaves_nothing_behind() {
    // One child stays in the group, the other has left it; neither holds the pipes.
    let mut spawn = shell(
        "sleep 600 >/dev/null 2>&1 & a=$!; setsid sleep 600 >/dev/null 2>&1 & echo $a $!; cat; exit 4",
    );
    spawn.stdin = Stdin::Open;
    let mut running = spawn.start().await.unwrap();
    let pids = first_line(&mut running).await;
    running.know_family();
    drop(running.take_stdin().unwrap());
    assert!(running.take_stdin().is_none());
    let ended =
        timeout(FAR_TOO_LONG, running.wait_then_stop(FAR_TOO_LONG)).await.expect("it hangs");
    let exit = ended.unwrap();
    assert_eq!((exit.code(), exit.stopped()), (4, None));
    for pid in pids.split(' ') {
        dies(pid).await;
    }
}

#[tokio::test]
async fn a_program_that_ignores_the_end_of_its_input_is_stopped() {
    let mut spawn = shell("sleep 600");
    spawn.stdin = Stdin::Open;
    let mut running = spawn.start().await.unwrap();
    drop(running.take_stdin().unwrap());
    let ended = running.wait_then_stop(Duration::ZERO);
    let exit = timeout(FAR_TOO_LONG, ended).await.expect("it hangs").unwrap();
    assert_eq!(exit.stopped(), Some(StopReason::Canceled));
}
