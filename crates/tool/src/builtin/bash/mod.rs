//! Bash: a command in a shell, in a process group of its own, confined where the kernel can.
//!
//! What the command does to files is not recorded here; nobody is told by the kernel.

mod collect;
mod environment;
mod inherited;
mod scratch;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quipu_event::payload::ToolStatus;
use quipu_process::{Exit, Running, Spawn, StopReason, StopSignal, stop_beyond};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::arguments::{Argument, Arguments, Shape, schema_of};
use super::on_files::settle;
use crate::sandbox::{Confinement, Hold, Place, Root, Trouble};
use crate::{Answer, CallContext, Calling, Tool, ToolSpec};
use collect::{Kept, collect};
use scratch::Scratch;

/// How long a command may take, unless the call says, in seconds.
const TIMEOUT: u64 = 120;
/// The longest that a call may ask for, in seconds.
const LONGEST_TIMEOUT: u64 = 600;

const ARGUMENTS: &[Argument] = &[
    Argument::required("command", Shape::Text, "The command, as a shell reads it."),
    Argument::optional(
        "cwd",
        Shape::Text,
        "The directory to run it in; the working directory if it is left out.",
    ),
    Argument::optional(
        "timeout_seconds",
        Shape::Whole { least: 1, most: LONGEST_TIMEOUT },
        "After how many seconds it is stopped; 120 if it is left out.",
    ),
];

/// The tool.
pub(super) struct Bash {
    spec: ToolSpec,
    confinement: Confinement,
    shell: &'static str,
}

impl Bash {
    /// Makes the tool, after a look at what the kernel can do.
    pub(super) fn new() -> Bash {
        Bash::confined_by(Confinement::of_this_kernel())
    }

    fn confined_by(confinement: Confinement) -> Bash {
        let description = format!(
            "Runs a command in a shell and answers what it wrote. What it leaves running in the \
             background ends with it. {} Variables whose names say that \
             they hold secrets are not passed on.",
            confinement.describe()
        );
        let spec = ToolSpec {
            name: "Bash".to_owned(),
            description,
            input_schema: schema_of(ARGUMENTS),
            provider: "builtin".to_owned(),
            is_read_only: false,
        };
        let shells = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
        let shell = shells.into_iter().find(|shell| Path::new(shell).exists());
        Bash { spec, confinement, shell: shell.unwrap_or("/bin/sh") }
    }

    async fn run(&self, input: Value, context: &CallContext) -> Result<Answer, Trouble> {
        let arguments = Arguments::check(ARGUMENTS, input);
        let arguments = arguments.map_err(|bad| Trouble::Failed(bad.to_string()))?;
        let Opened { root, dir, name } = Opened::of(&arguments, context)?;
        let cannot = |cause: &dyn std::fmt::Display| {
            Trouble::Failed(format!("the command cannot be started: {cause}"))
        };
        let scratch = Scratch::make().map_err(|cause| cannot(&cause))?;
        self.tell_of_gaps(context);
        let mut hold = self.confinement.hold(root, scratch.path());
        let args = inherited::arguments(self.shell, arguments.required("command"));
        let spawn = Spawn {
            args: args.into_iter().map(Into::into).collect(),
            env: self.variables(&scratch, context),
            hidden: environment::hidden(),
            dir: Some(path_of(&dir, name)),
            prepare: hold.prepare.take(),
            ..Spawn::new(self.shell)
        };
        let running = spawn.start().await.map_err(|cause| cannot(&cause))?;
        let timeout = arguments.whole("timeout_seconds").unwrap_or(TIMEOUT);
        let patience = Duration::from_secs(timeout);
        let ended = Ended::of(running, patience, context.stop.clone()).await;
        end_leftovers(hold).await;
        let ended =
            ended.map_err(|cause| Trouble::Failed(format!("the command is lost: {cause}")))?;
        Ok(ended.into_answer(timeout, &self.confinement))
    }

    /// Returns what the command is told beside what it inherits.
    fn variables(&self, scratch: &Scratch, context: &CallContext) -> BTreeMap<String, String> {
        let path = scratch.path().to_string_lossy().into_owned();
        let mut variables = environment::of_toolchains();
        if self.confinement.is_there() {
            // Programs take it badly when they may not read what they find at home.
            variables.insert("HOME".to_owned(), path.clone());
        }
        variables.insert("TMPDIR".to_owned(), path);
        variables.extend(context.marks.as_ref().clone());
        variables
    }

    fn tell_of_gaps(&self, context: &CallContext) {
        let subtype = match &self.confinement {
            Confinement::Unavailable { .. } => "sandbox_unavailable",
            partial if !partial.is_whole() => "sandbox_partial",
            _ => return,
        };
        let facts = json!({
            "tool": "Bash",
            "tool_id": context.call_id,
            "reason": self.confinement.describe(),
        });
        context.note(subtype, facts);
    }
}

impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn ends_by_itself(&self) -> bool {
        true
    }

    fn call<'a>(&'a self, input: Value, context: &'a CallContext) -> Calling<'a> {
        Box::pin(async move {
            let done = self.run(input, context).await;
            done.unwrap_or_else(|trouble| settle(trouble, context))
        })
    }
}

/// Open directories, for as long as a command is being started.
struct Opened {
    root: File,
    dir: File,
    name: PathBuf,
}

impl Opened {
    /// Opens the root, and the directory in it that the command starts in.
    fn of(arguments: &Arguments, context: &CallContext) -> Result<Opened, Trouble> {
        let root = Root::open(&context.root)?;
        let place = match arguments.text("cwd") {
            Some(cwd) => root.place(cwd)?,
            None => Place::root(),
        };
        let dir = root.open_dir(&place)?.into_std_file();
        let name = context.root.join(place.path());
        Ok(Opened { root: root.into_std_file(), dir, name })
    }
}

/// Returns a path that leads to an open directory, whatever has become of its name.
fn path_of(dir: &File, name: PathBuf) -> PathBuf {
    let path = PathBuf::from(format!("/proc/self/fd/{}", dir.as_raw_fd()));
    // On a system without such paths the name must do.
    if path.is_dir() { path } else { name }
}

/// Ends what a command has left running, so that nothing changes any more once there is an answer.
async fn end_leftovers(hold: Hold) {
    let ending = tokio::task::spawn_blocking(move || hold.end_leftovers());
    if let Err(cause) = ending.await {
        tracing::warn!(%cause, "what a command left running may still be there");
    }
}

/// A command that ended.
struct Ended {
    exit: Exit,
    stdout: Kept,
    stderr: Kept,
}

impl Ended {
    async fn of(
        mut running: Running,
        timeout: Duration,
        mut asked: StopSignal,
    ) -> std::io::Result<Ended> {
        let (tell, stop) = watch::channel(None);
        let (stdout, stderr) = (running.take_stdout(), running.take_stderr());
        let ending = async {
            let (exit, stdout, stderr) =
                tokio::join!(running.wait_or_stop(stop), collect(stdout), collect(stderr));
            running.end_leftovers();
            Ok(Ended { exit: exit?, stdout, stderr })
        };
        let late = async {
            tokio::time::sleep(timeout).await;
            tell.send_if_modified(|known| {
                known.is_none() && known.replace(StopReason::TimedOut).is_none()
            });
            std::future::pending::<Infallible>().await
        };
        let canceled = async {
            let mut known = None;
            loop {
                known = Some(stop_beyond(&mut asked, known).await);
                tell.send_replace(known);
            }
        };
        tokio::select! {
            ended = ending => ended,
            never = late => match never {},
            never = canceled => match never {},
        }
    }

    fn into_answer(self, timeout: u64, confinement: &Confinement) -> Answer {
        let (stdout, stderr) = (self.stdout.into_text(), self.stderr.into_text());
        let trouble = match self.exit.stopped() {
            Some(StopReason::TimedOut) => Some(format!("timed out after {timeout} s")),
            Some(StopReason::Canceled | StopReason::Now) => Some("canceled".to_owned()),
            None => self.exit.trouble(),
        };
        let Some(trouble) = trouble else {
            return Answer::completed(match stderr.is_empty() {
                true => stdout,
                false => format!("{stdout}{}[stderr]\n{stderr}", line_end(&stdout)),
            });
        };
        let denied = ["Permission denied", "Operation not permitted"];
        let was_denied = denied.iter().any(|words| stderr.contains(words));
        let mut text = format!("{trouble}\n[stdout]\n{stdout}");
        text.push_str(line_end(&stdout));
        text.push_str(&format!("[stderr]\n{stderr}"));
        if was_denied && confinement.is_there() {
            text.push_str(line_end(&stderr));
            text.push_str(
                "[note] Commands are confined: outside of the working directory and $TMPDIR they may \
                 only read what the system has for everyone.",
            );
        }
        Answer {
            status: ToolStatus::Failed,
            output: Value::from(text),
            error: Some(trouble),
            shown: None,
        }
    }
}

/// Returns what a text needs so that the next one starts on a line of its own.
fn line_end(text: &str) -> &'static str {
    if text.is_empty() || text.ends_with('\n') { "" } else { "\n" }
}

#[cfg(test)]
mod tests;
