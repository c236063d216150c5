//! `--detach`: the run goes on in a process of its own, in a session of its own.
//!
//! Inputs go over a pipe, never over the command line, where others could read them.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use quipu_event::RunId;
use quipu_workflow::language::Value;
use serde_json::{Map, json};

use super::Args;
use crate::Context;
use crate::exit::Exit;
use crate::format::entry::short_id;
use crate::format::visible::visible;
use crate::settings::durability_text;

/// How often to look whether the run has begun.
const PACE: Duration = Duration::from_millis(10);

/// Leaves the terminal that the run was started from.
pub(super) fn leave_the_terminal() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// Starts the run in the background, and waits until it has begun.
pub(super) fn start(
    context: &Context,
    args: &Args,
    run: &RunId,
    inputs: &Map<String, Value>,
) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let transcript = layout.transcript(run);
    let log = transcript.with_extension("log");
    let mut child = spawn(context, args, run, &log)?;
    if let Some(mut stdin) = child.stdin.take() {
        let given = serde_json::to_vec(&Value::Object(inputs.clone()))?;
        // A child that went away says why in its log.
        let _ = stdin.write_all(&given);
    }
    if let Some(ended) = wait_until_begun(&mut child, &transcript)? {
        return Ok(told_early_end(context, ended, &log));
    }
    let id = short_id(run);
    if context.screen.json {
        let pid = child.id();
        context.screen.print_json(&json!({
            "run_id": run, "transcript": transcript, "log": log, "pid": pid,
        }))?;
        return Ok(Exit::Ok);
    }
    let mut out = context.screen.stdout();
    writeln!(out, "{run}")?;
    if !args.quiet {
        let storage = context.settings.storage_flag();
        writeln!(out, "transcript {}", transcript.display())?;
        for command in ["status", "tail -f", "tree"] {
            writeln!(out, "  quipu {command} {id}{storage}")?;
        }
    }
    out.flush()?;
    Ok(Exit::Ok)
}

fn spawn(context: &Context, args: &Args, run: &RunId, log: &Path) -> anyhow::Result<Child> {
    if let Some(dir) = log.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(log)
        .with_context(|| format!("cannot write {}", log.display()))?;
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("quipu"));
    let mut command = Command::new(program);
    command
        .arg("--storage")
        .arg(std::path::absolute(context.settings.layout().storage())?)
        .args(["--color", "never", "run", &args.workflow])
        .args(["--inputs", "-", "--in-background", "--quiet", "--id", run.as_str()]);
    if let Some(log_file) = &context.settings.log_file.value {
        command.arg("--log-file").arg(std::path::absolute(log_file)?);
    }
    if args.stub {
        command.arg("--stub");
    }
    if args.no_mask {
        command.arg("--no-mask");
    }
    if let Some(mask) = args.mask {
        command.args(["--mask", mask.word()]);
    }
    if let Some(durability) = args.durability {
        command.args(["--durability", &durability_text(durability)]);
    }
    for path in &args.deliverables {
        command.args(["--deliverable", path]);
    }
    for change in &args.set {
        command.args(["--set", change]);
    }
    for view in &args.views {
        command.arg("--view").arg(view.spelled()?);
    }
    command.stdin(Stdio::piped()).stdout(file.try_clone()?).stderr(file);
    command.spawn().context("cannot start a process for the run")
}

/// Waits until the transcript is there, or the process is not.
fn wait_until_begun(child: &mut Child, transcript: &Path) -> io::Result<Option<ExitStatus>> {
    loop {
        if std::fs::metadata(transcript).is_ok_and(|file| file.len() > 0) {
            return Ok(None);
        }
        if let Some(ended) = child.try_wait()? {
            // It may have begun, and ended, since.
            let begun = std::fs::metadata(transcript).is_ok_and(|file| file.len() > 0);
            return Ok((!begun).then_some(ended));
        }
        std::thread::sleep(PACE);
    }
}

fn told_early_end(context: &Context, ended: ExitStatus, log: &Path) -> Exit {
    let said = std::fs::read_to_string(log).unwrap_or_default();
    context.screen.note(visible(said.trim_end()));
    let code = ended.code().and_then(|code| u8::try_from(code).ok());
    code.filter(|code| *code != 0).map_or(Exit::System, Exit::Asked)
}
