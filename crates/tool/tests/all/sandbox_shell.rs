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
