//! Commands that try to get out, where the kernel has Landlock.

use quipu_event::payload::ToolStatus;
use serde_json::json;

use crate::stage::{CANARY, Stage};

/// What the tool says of itself, which depends on the kernel.
fn description(stage: &Stage) -> &str {
    let bash = stage.router.specs().find(|spec| spec.name == "Bash").unwrap();
    &bash.description
}

#[tokio::test]
async fn a_command_cannot_read_or_change_files_outside() {
    let stage = Stage::new();
    let description = description(&stage);
    if !description.contains("confined to the working directory by Landlock") {
        return;
    }
    let outside = stage.outside().display().to_string();
    std::os::unix::fs::symlink(&outside, stage.root().join("link")).unwrap();
    let us = std::process::id();
    let mut commands = vec![
        format!("cat {outside}/canary"),
        "cat ../outside/canary".to_owned(),
        "cat link/canary".to_owned(),
        "cd ../outside; cat canary".to_owned(),
        format!("ls {outside}"),
        format!("echo x > {outside}/new"),
        format!("echo x >> {outside}/canary"),
        format!("rm {outside}/canary"),
        format!("mv {outside}/canary ."),
        format!("ln {outside}/canary . && cat canary"),
        format!("mkdir {outside}/dir"),
        format!("cat /proc/self/root{outside}/canary"),
        format!("cat /proc/{us}/root{outside}/canary"),
        format!("cat /proc/{us}/environ"),
        format!("cat /proc/{us}/cmdline"),
        format!("ls /proc/{us}/fd/"),
        "mknod disk b 8 0".to_owned(),
        "echo x > /dev/tty".to_owned(),
        "mkdir -p m && unshare -m mount -t tmpfs none m".to_owned(),
        format!("nsenter -t {us} -m cat {outside}/canary"),
        "date -s '2001-01-01'".to_owned(),
        "hostname elsewhere".to_owned(),
        "sysctl -w kernel.hostname=elsewhere".to_owned(),
        "mv \"$PWD\" ../outside/".to_owned(),
        "rmdir \"$PWD\"".to_owned(),
        "mount --bind /etc .".to_owned(),
        "cat /etc/shadow".to_owned(),
        format!("(setsid sh -c 'cat {outside}/canary')"),
    ];
    let newer = [
        ("emptying files", format!("truncate -s 0 {outside}/canary")),
        ("signals", format!("kill -0 {us}")),
    ];
    // What an older kernel leaves open is said, and what is not said is closed.
    let closed = newer.into_iter().filter(|(gap, _)| !description.contains(gap));
    commands.extend(closed.map(|(_, command)| command));
    for command in commands {
        let answer = stage.call("Bash", json!({ "command": command })).await;
        let what = format!("{command}: {}", answer.text());
        assert_eq!(answer.status, ToolStatus::Failed, "{what}");
        assert!(!answer.text().contains(CANARY), "{what}");
        stage.assert_outside_untouched(&what);
    }
    let denied = stage.fails("Bash", json!({ "command": "cat ../outside/canary" })).await;
    assert!(denied.contains("[note] Commands are confined: "), "{denied}");
}

#[tokio::test]
async fn a_command_can_work_in_the_root_with_what_the_system_has() {
    let stage = Stage::new();
    let commands = [
        "mkdir -p a/b && echo x > a/b/c && mv a/b/c d && ln d e && ln -s d f && cat f && rm -r a",
        "echo x > /dev/null && head -c 1 /dev/urandom > /dev/null",
        "cat /etc/passwd /proc/meminfo > /dev/null",
        "cat <(echo process substitution)",
        "printf '#!/bin/sh\\necho ran\\n' > run && chmod +x run && ./run",
        "mktemp && mktemp -d && cd ~ && echo at home > x",
        "echo x | tee /dev/stderr",
        "sh -c 'sleep 100 & kill $!'",
        "if command -v git >/dev/null; then git init -q repo && cd repo && git status; fi",
        "if command -v python3 >/dev/null; then python3 -c 'import tempfile, ssl, json; tempfile.TemporaryFile()'; fi",
    ];
    for command in commands {
        stage.done("Bash", json!({ "command": command })).await;
    }
}

#[tokio::test]
async fn a_command_that_hides_does_not_outlive_its_call() {
    let stage = Stage::new();
    let is_confined = description(&stage).contains("confined to the working directory by Landlock");
    if !is_confined || description(&stage).contains("signals") {
        return;
    }
    let hiding = [
        "sleep 1000 >/dev/null 2>&1 & echo $! > pid",
        "setsid sleep 1000 >/dev/null 2>&1 & sleep 0.2; echo $! > pid",
        "(env -i setsid sh -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 &) ; sleep 0.2",
        "setsid sh -c '(trap \"\" TERM HUP; echo $$ > pid; sleep 1000) & sleep 0.2' >/dev/null 2>&1",
    ];
    for command in hiding {
        stage.done("Bash", json!({ "command": command })).await;
        let pid: u32 = stage.text("pid").trim().parse().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        assert!(stat.is_err() || stat.unwrap().contains(") Z "), "{command}");
    }
}

#[tokio::test]
async fn calls_at_the_same_time_neither_see_nor_end_one_another() {
    let stage = Stage::new();
    let one = "echo $TMPDIR > where.new; mv where.new where; until [ -e done ]; do sleep 0.01; done; echo whole";
    let long = stage.call("Bash", json!({ "command": one }));
    let short = async {
        while !stage.root().join("where").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let look = "ls $(cat where) && echo x > $(cat where)/x";
        let looked = stage.call("Bash", json!({ "command": look })).await;
        std::fs::write(stage.root().join("done"), "").unwrap();
        looked
    };
    let (long, looked) = tokio::join!(long, short);
    assert_eq!(long.text(), "whole\n");
    if description(&stage).contains("confined to the working directory by Landlock") {
        assert_eq!(looked.status, ToolStatus::Failed, "{}", looked.text());
    }
}

#[tokio::test]
async fn a_command_is_not_given_files_that_were_open_before() {
    let name = "sandbox_shell::a_command_is_not_given_files_that_were_open_before";
    if std::env::var_os("OPEN_BEFORE").is_none() {
        // A shell hands this test, which it starts again, a directory as its seventeenth file.
        let test = std::env::current_exe().unwrap();
        let again = std::process::Command::new("/bin/bash")
            .args(["-c", "exec \"$0\" --exact \"$1\" 17</etc"])
            .arg(test)
            .arg(name)
            .env("OPEN_BEFORE", "yes")
            .output();
        let Ok(again) = again else { return };
        let said = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let command = "if { true <&17; } 2>/dev/null; then echo open; else echo closed; fi; echo $0";
    let text = Stage::new().done("Bash", json!({ "command": command })).await;
    assert!(text.starts_with("closed\n/") && text.ends_with("bash\n"), "{text}");
}

#[tokio::test]
async fn a_command_is_not_given_secrets() {
    let name = "sandbox_shell::a_command_is_not_given_secrets";
    if std::env::var_os("NIGHTLY_API_TOKEN").is_none() {
        // Variables of a process are set by whoever starts it: this test starts itself again.
        let again = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .envs([("NIGHTLY_API_TOKEN", "hush"), ("NIGHTLY_DB", "pg://me:hush@db")])
            .env("NIGHTLY_MODE", "loud")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let environment = Stage::new().done("Bash", json!({ "command": "env" })).await;
    assert!(environment.contains("NIGHTLY_MODE=loud\n"), "{environment}");
    assert!(environment.contains("PATH=") && !environment.contains("hush"), "{environment}");
}
