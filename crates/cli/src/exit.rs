//! Kinds of failure and their exit codes, in one table; and how a failure is told.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use quipu_collect::exec::StartError;
use quipu_journal::{FindError, OpenError, ReadError, RecordError};
use quipu_workflow::driver::RunError;

use crate::settings::{SettingsError, hint_at_first_run};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Ok,
    /// What the user gave cannot be used.
    User,
    /// Two runs differ, as `diff` has it.
    Different,
    /// What was recorded did not succeed.
    RecordedFailed,
    /// A workflow is wrong in itself.
    BadWorkflow,
    /// Data is damaged.
    Damaged,
    /// The system refused.
    System,
    /// A workflow or a program ran, and this is what it came to: its own exit code.
    Asked(u8),
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::User | Exit::Different => 1,
            Exit::RecordedFailed | Exit::BadWorkflow => 2,
            Exit::Damaged => 3,
            Exit::System => 4,
            Exit::Asked(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// Something the user gave that cannot be used, and what to try instead.
#[derive(Debug)]
pub(crate) struct UserError {
    message: String,
    hint: Option<String>,
}

impl UserError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        UserError { message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UserError {}

/// A workflow file that cannot be run, with all that is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("the workflow cannot be run:\n{problems}")]
pub(crate) struct WorkflowError {
    /// One problem a line, each with its place.
    pub(crate) problems: String,
}

/// Tells a failure on stderr and returns its exit code. A reader that went away is no failure.
///
/// `storage` is what commands that are suggested need to look in the same place.
pub(crate) fn report(error: &anyhow::Error, json: bool, storage: &str) -> ExitCode {
    let exit = exit_of(error);
    if is_broken_pipe(error) {
        return Exit::Ok.into();
    }
    let mut stderr = anstream::stderr().lock();
    // Nothing is left to do when even stderr refuses.
    let _ = if json {
        let hint = hint_of(error, storage);
        writeln!(stderr, "{}", for_scripts(&chain(error.as_ref()), exit, hint.as_deref()))
    } else {
        tell(&mut stderr, error, storage)
    };
    exit.into()
}

/// Returns a failure as scripts read it.
fn for_scripts(error: &str, exit: Exit, hint: Option<&str>) -> serde_json::Value {
    serde_json::json!({ "error": error, "exit_code": exit.code(), "hint": hint })
}

fn tell(stderr: &mut impl Write, error: &anyhow::Error, storage: &str) -> io::Result<()> {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    writeln!(stderr, "{red}error{red:#}: {}", chain(error.as_ref()))?;
    if let Some(hint) = hint_of(error, storage) {
        let cyan = anstyle::AnsiColor::Cyan.on_default().bold();
        writeln!(stderr, "{cyan}hint{cyan:#}: {hint}")?;
    }
    Ok(())
}

/// Tells a mistake on the command line; help and version are no mistakes.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Nothing is left to do when even the terminal refuses.
        let _ = error.print();
        return Exit::Ok.into();
    }
    // What was given could not be read as a whole, so that this one flag is looked for as it stands.
    let arguments = std::env::args_os().take_while(|argument| argument != "--");
    let _ = if arguments.skip(1).any(|argument| argument == "--json") {
        let text = error.render().to_string();
        let (mistake, _) = text.split_once("\n\nFor more information").unwrap_or((&text, ""));
        let mistake = mistake.split("\n\nUsage:").next().unwrap_or(mistake);
        let words = mistake.trim_start_matches("error: ").split_whitespace();
        let mistake = words.collect::<Vec<_>>().join(" ");
        let told = for_scripts(&mistake, Exit::User, Some("--help says what there is"));
        writeln!(io::stderr(), "{told}")
    } else {
        error.print()
    };
    Exit::User.into()
}

fn exit_of(error: &anyhow::Error) -> Exit {
    error.chain().find_map(exit_of_link).unwrap_or(Exit::System)
}

/// The table from kinds of failure to exit codes.
fn exit_of_link(link: &(dyn std::error::Error + 'static)) -> Option<Exit> {
    if link.is::<UserError>() || link.is::<SettingsError>() {
        return Some(Exit::User);
    }
    if link.is::<WorkflowError>() {
        return Some(Exit::BadWorkflow);
    }
    if let Some(error) = link.downcast_ref::<StartError>() {
        return Some(Exit::Asked(error.exit_code()));
    }
    if let Some(error) = link.downcast_ref::<FindError>() {
        return Some(if matches!(error, FindError::Read(_)) { Exit::System } else { Exit::User });
    }
    if let Some(error) = link.downcast_ref::<OpenError>() {
        return Some(match error {
            OpenError::Exists { .. } | OpenError::Missing { .. } | OpenError::Locked { .. } => {
                Exit::User
            }
            OpenError::NotATranscript { .. } => Exit::Damaged,
            _ => Exit::System,
        });
    }
    if let Some(error) = link.downcast_ref::<RunError>() {
        return match error {
            RunError::Open(error) => exit_of_link(error),
            RunError::Read(error) => exit_of_link(error),
            RunError::NotRecorded => Some(Exit::User),
        };
    }
    (link.is::<RecordError>() || link.is::<ReadError>()).then_some(Exit::System)
}

fn hint_of(error: &anyhow::Error, storage: &str) -> Option<String> {
    let list = || format!("`quipu ls{storage}` lists the runs there are");
    error.chain().find_map(|link| {
        if let Some(UserError { hint: Some(hint), .. }) = link.downcast_ref() {
            return Some(hint.clone());
        }
        if let Some(error) = link.downcast_ref::<StartError>() {
            return error.hint().map(str::to_owned);
        }
        let hint = match link.downcast_ref::<FindError>() {
            Some(FindError::NoneSuch { .. }) => return Some(list()),
            Some(FindError::NoRuns { .. }) => return Some(hint_at_first_run(storage)),
            Some(FindError::Ambiguous { .. }) => "give more characters of the id",
            _ => match open_error(link)? {
                OpenError::Locked { .. } => "wait until it is done, or stop it",
                OpenError::Exists { .. } => {
                    "leave --id out for a fresh one; `quipu resume` goes on with a run, \
                     `quipu record --append` adds to one"
                }
                OpenError::Missing { .. } => return Some(list()),
                _ => return None,
            },
        };
        Some(hint.to_owned())
    })
}

fn open_error<'e>(link: &'e (dyn std::error::Error + 'static)) -> Option<&'e OpenError> {
    match link.downcast_ref::<RunError>() {
        Some(RunError::Open(error)) => Some(error),
        _ => link.downcast_ref(),
    }
}

/// Returns an error with what caused it, in one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    anyhow::Chain::new(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|link| {
        link.downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
