//! A program to be started, and why it could not be.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{io, thread};

use quipu_journal::Recorder;

/// How often a file that somebody still writes to is tried.
const BUSY_TRIES: u32 = 50;

/// A program and what it is given.
#[derive(Clone, Debug)]
pub struct Program {
    /// Which: a path, or a name to be looked for on `PATH`.
    pub name: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs; here if there is none.
    pub dir: Option<PathBuf>,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no such program.
    #[error("{program}: no such program")]
    Missing {
        /// Its name.
        program: String,
    },
    /// It is there and may not be run.
    #[error("{program}: may not be executed")]
    NotAllowed {
        /// Its name.
        program: String,
    },
    /// It is there, and what should run it is not.
    #[error("{program}: the interpreter that its first line names is not there")]
    NoInterpreter {
        /// Its name.
        program: String,
    },
    /// Anything else.
    #[error("{program}: cannot be started")]
    Other {
        /// Its name.
        program: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

impl StartError {
    /// Returns the exit code that a shell has for it.
    pub fn exit_code(&self) -> u8 {
        match self {
            StartError::Missing { .. } => 127,
            _ => 126,
        }
    }

    /// Returns what to look at, if there is anything.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            StartError::Missing { .. } => Some("is it installed, and is its directory on PATH?"),
            StartError::NotAllowed { .. } => Some("is its executable bit set?"),
            _ => None,
        }
    }
}

impl Program {
    /// Returns the last part of its name.
    pub fn short_name(&self) -> String {
        let last = Path::new(&self.name).file_name().unwrap_or(&self.name);
        last.to_string_lossy().into_owned()
    }

    /// Returns the program and its arguments, as text.
    pub(super) fn argv(&self) -> Vec<String> {
        let words = std::iter::once(&self.name).chain(&self.args);
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Starts it. It reads what we would read; what it writes goes to pipes, if asked for.
    ///
    /// It stays in our process group, so that a terminal's signals reach it as they reach us.
    pub(super) fn start(
        &self,
        recorder: &Recorder,
        output: fn() -> Stdio,
    ) -> Result<Child, StartError> {
        let mut command = Command::new(&self.name);
        command.args(&self.args).env("QUIPU_RUN_ID", recorder.run().run_id.as_str());
        if let Ok(transcript) = std::path::absolute(recorder.path()) {
            command.env("QUIPU_TRANSCRIPT", transcript);
        }
        command.stdin(Stdio::inherit()).stdout(output()).stderr(output());
        if let Some(dir) = &self.dir {
            // Some programs believe this variable rather than the system.
            command.current_dir(dir).env("PWD", dir);
        }
        let mut tries = 0;
        loop {
            match command.spawn() {
                Ok(child) => return Ok(child),
                // A child that was forked elsewhere may hold a script's file open for writing
                // until its own exec: the file is free a moment later.
                Err(cause)
                    if cause.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES =>
                {
                    tries += 1;
                    thread::sleep(Duration::from_millis(10));
                }
                Err(cause) => return Err(self.explain(cause)),
            }
        }
    }

    fn explain(&self, source: io::Error) -> StartError {
        let program = self.name.to_string_lossy().into_owned();
        match source.kind() {
            io::ErrorKind::NotFound if self.is_there() => StartError::NoInterpreter { program },
            io::ErrorKind::NotFound => StartError::Missing { program },
            io::ErrorKind::PermissionDenied => StartError::NotAllowed { program },
            _ => StartError::Other { program, source },
        }
    }

    /// Tells whether a file of this name is where the program would be looked for.
    fn is_there(&self) -> bool {
        let here = self.dir.as_deref().unwrap_or(Path::new("."));
        if self.name.as_encoded_bytes().contains(&b'/') {
            return here.join(&self.name).exists();
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_in = |dir: PathBuf| here.join(dir).join::<&OsStr>(&self.name).is_file();
        !self.name.is_empty() && std::env::split_paths(&path).any(is_in)
    }
}
