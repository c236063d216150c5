//! Runs commands: by a shell, or as programs of their own.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempPath;
use tokio::io::AsyncRead;

use super::keep::{Keeper, Kept, LIMIT};
use crate::engine::{CommandJob, Occurrence, Outcome, ScriptText, WorkStatus};
use crate::language::Value;
use crate::process::{Exit, Pipe, Spawn, SpawnError, Stdin, StopReason, StopSignal};
use crate::scribe::Scribe;

/// The longest command that is handed over as an argument; the system takes no more than 128 KiB.
const LONGEST_ARGUMENT: usize = 100_000;

/// The shells that values in commands are protected for.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "busybox"];

/// Runs a command, and returns what came of it.
pub(super) async fn perform(
    job: CommandJob,
    at: &Occurrence,
    scribe: &dyn Scribe,
    dir: &Path,
    stop: StopSignal,
) -> Outcome {
    let (mut spawn, script) = match prepare(&job.script, &shell()) {
        Ok(prepared) => prepared,
        Err(cause) => return failed(format!("the command cannot be put into a file: {cause}")),
    };
    spawn.dir = Some(job.dir.clone().unwrap_or_else(|| dir.to_owned()));
    spawn.env = job.env.clone();
    let mut running = match spawn.start().await {
        Ok(running) => running,
        Err(error) => return failed(explain(&error, &job.script)),
    };
    let limit = job.capture.as_ref().and_then(|capture| capture.max_size).unwrap_or(LIMIT);
    let (stdout, stderr) = (running.take_stdout(), running.take_stderr());
    let (exit, stdout, stderr) = tokio::join!(
        running.wait_or_stop(stop),
        read(stdout, Keeper::new(scribe, at, "stdout", limit)),
        read(stderr, Keeper::new(scribe, at, "stderr", limit)),
    );
    drop(script);
    match exit {
        Ok(exit) => outcome(&job, exit, stdout, stderr),
        Err(cause) => failed(format!("it is not known how the command ended: {cause}")),
    }
}

/// Returns the user's shell, if it is one that commands are made for; `/bin/sh` if it is not.
fn shell() -> PathBuf {
    let shell = std::env::var_os("SHELL").map(PathBuf::from);
    let fits = |shell: &PathBuf| {
        let name = shell.file_name().and_then(|name| name.to_str());
        shell.is_absolute() && shell.is_file() && name.is_some_and(|name| SHELLS.contains(&name))
    };
    shell.filter(fits).unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

/// Makes the program to start, and the file it is in, if it needs one.
fn prepare(script: &ScriptText, shell: &Path) -> std::io::Result<(Spawn, Option<TempPath>)> {
    let (mut spawn, file) = match script {
        ScriptText::Shell(script) if script.run.len() <= LONGEST_ARGUMENT => {
            let mut spawn = Spawn::new(shell);
            spawn.args = vec!["-c".into(), script.run.clone().into()];
            (spawn, None)
        }
        ScriptText::Shell(script) => {
            let file = write(&script.run, 0o600)?;
            let mut spawn = Spawn::new(shell);
            spawn.args = vec![file.as_os_str().to_owned()];
            (spawn, Some(file))
        }
        ScriptText::Program { text, .. } => {
            let file = write(text, 0o700)?;
            (Spawn::new(file.as_os_str()), Some(file))
        }
    };
    spawn.stdin = Stdin::Nothing;
    Ok((spawn, file))
}

/// Writes a script to a file of its own, closed again so that it can be executed.
fn write(text: &str, mode: u32) -> std::io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix("quipu-script-").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(Permissions::from_mode(mode))?;
    Ok(file.into_temp_path())
}

async fn read<R: AsyncRead + Unpin>(pipe: Option<Pipe<R>>, mut keeper: Keeper<'_>) -> Kept {
    if let Some(mut pipe) = pipe {
        let mut buffer = vec![0; 32 * 1024];
        loop {
            match pipe.read(&mut buffer).await {
                Ok(0) => break,
                Ok(read) => keeper.take(&buffer[..read]),
                Err(cause) => {
                    tracing::warn!(%cause, "a command's output could not be read to its end");
                    break;
                }
            }
        }
    }
    keeper.finish()
}

fn outcome(job: &CommandJob, exit: Exit, stdout: Kept, stderr: Kept) -> Outcome {
    let status = match exit.stopped() {
        Some(StopReason::TimedOut) => WorkStatus::TimedOut,
        Some(StopReason::Canceled | StopReason::Now) => WorkStatus::Canceled,
        None if exit.success() => WorkStatus::Succeeded,
        None => WorkStatus::Failed,
    };
    let error = match exit.stopped() {
        Some(_) => None,
        None => exit.trouble(),
    };
    let mut output = stdout.text;
    // As `$(…)` in a shell has it: a value, not a line.
    let output_tail = output.split_off(output.trim_end_matches('\n').len());
    let mut outcome = Outcome {
        status,
        error,
        output,
        output_tail,
        stderr: stderr.text,
        exit_code: Some(exit.code()),
        truncated: stdout.truncated || stderr.truncated,
        ..Outcome::default()
    };
    if let Some(capture) = &job.capture {
        if let Some(name) = &capture.stdout {
            outcome.named.insert(name.clone(), Value::from(outcome.output.as_str()));
        }
        if let Some(name) = &capture.stderr {
            let text = outcome.stderr.trim_end_matches('\n');
            outcome.named.insert(name.clone(), Value::from(text));
        }
    }
    outcome
}

fn explain(error: &SpawnError, script: &ScriptText) -> String {
    match (error, script) {
        (SpawnError::Missing { .. }, ScriptText::Program { text, from, .. }) => {
            let first = text.lines().next().unwrap_or_default();
            format!("{}: its interpreter is not there: {first}", from.display())
        }
        (SpawnError::NotAllowed { .. }, ScriptText::Program { text, from, .. }) => {
            let first = text.lines().next().unwrap_or_default();
            format!("{}: it may not be executed: {first}", from.display())
        }
        _ => error.to_string(),
    }
}

fn failed(error: String) -> Outcome {
    Outcome { status: WorkStatus::Failed, error: Some(error), ..Outcome::default() }
}

#[cfg(test)]
mod tests;
