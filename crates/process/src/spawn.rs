//! How a program is started: in its own process group, with pipes for what it writes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io, thread};

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::runtime::Handle;

use super::running::Running;

/// How often a file that somebody still writes to is tried.
const BUSY_TRIES: u32 = 50;

/// A program to start.
#[derive(Clone, Debug)]
pub struct Spawn {
    /// Which: a path, or a name to be looked for on `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables, beside those of this process.
    pub env: BTreeMap<String, String>,
    /// Variables of this process that it is not given.
    pub hidden: Vec<OsString>,
    /// Where it runs; here if there is none.
    pub dir: Option<PathBuf>,
    /// What it reads.
    pub stdin: Stdin,
    /// What is done to the thread that starts it.
    pub prepare: Option<Prepare>,
}

/// Something done to a thread of its own right before a program is started from there.
///
/// A program inherits the restrictions of the thread that starts it and keeps them, and so does all
/// that it starts; the rest of this process stays as free as it was.
#[derive(Clone)]
pub struct Prepare(Arc<dyn Fn() -> io::Result<()> + Send + Sync>);

/// What a program reads from its standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: it is at its end from the start.
    #[default]
    Nothing,
    /// This, and then the end.
    Text(Vec<u8>),
    /// Whatever is written to [`Running::take_stdin`], until that is dropped.
    Open,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program.
    #[error("{program}: no such program (is it installed, and is its directory on PATH?)")]
    Missing {
        /// Its name.
        program: String,
    },
    /// It is there and may not be run.
    #[error("{program}: may not be executed (is its executable bit set?)")]
    NotAllowed {
        /// Its name.
        program: String,
    },
    /// The place where it should run is none.
    #[error("{}: not a directory that commands can run in", .dir.display())]
    NoDirectory {
        /// The place.
        dir: PathBuf,
    },
    /// Anything else.
    #[error("{program}: cannot be started: {cause}")]
    Other {
        /// Its name.
        program: String,
        /// What the system says.
        cause: io::Error,
    },
}

impl Spawn {
    /// Returns a program without arguments, to run here with nothing to read.
    pub fn new(program: impl Into<OsString>) -> Spawn {
        Spawn {
            program: program.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            hidden: Vec::new(),
            dir: None,
            stdin: Stdin::Nothing,
            prepare: None,
        }
    }

    /// Starts it.
    ///
    /// # Errors
    ///
    /// Says which program or directory is not there, or what the system says.
    pub async fn start(self) -> Result<Running, SpawnError> {
        if let Some(dir) = &self.dir
            && !dir.is_dir()
        {
            return Err(SpawnError::NoDirectory { dir: dir.clone() });
        }
        let mut command = self.command();
        let mut tries = 0;
        let mut child = loop {
            match self.spawn(&mut command) {
                Ok(child) => break child,
                // A child that was forked elsewhere may hold a script's file open for writing
                // until its own exec: the file is free a moment later.
                Err(cause)
                    if cause.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES =>
                {
                    tries += 1;
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Err(cause) => return Err(self.explain(cause)),
            }
        };
        let mut stdin = child.stdin.take();
        if let Stdin::Text(text) = self.stdin
            && let Some(stdin) = stdin.take()
        {
            tokio::spawn(feed(stdin, text));
        }
        Ok(Running::new(child, stdin))
    }

    fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let Some(Prepare(prepare)) = &self.prepare else { return command.spawn() };
        let runtime = Handle::current();
        thread::scope(|scope| {
            let starting = scope.spawn(|| {
                prepare()?;
                let _runtime = runtime.enter();
                command.spawn()
            });
            starting.join().unwrap_or_else(|_| Err(io::Error::other("its preparation broke down")))
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        for name in &self.hidden {
            command.env_remove(name);
        }
        command
            .args(&self.args)
            .envs(&self.env)
            .stdin(match self.stdin {
                Stdin::Nothing => Stdio::null(),
                Stdin::Text(_) | Stdin::Open => Stdio::piped(),
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command
    }

    fn explain(&self, cause: io::Error) -> SpawnError {
        let program = self.program.to_string_lossy().into_owned();
        match cause.kind() {
            io::ErrorKind::NotFound => SpawnError::Missing { program },
            io::ErrorKind::PermissionDenied => SpawnError::NotAllowed { program },
            _ => SpawnError::Other { program, cause },
        }
    }
}

impl Prepare {
    /// Makes something to be done to a thread.
    pub fn new(prepare: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> Prepare {
        Prepare(Arc::new(prepare))
    }
}

impl fmt::Debug for Prepare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prepare")
    }
}

/// Gives a program what it reads. One that does not care to read it is no error.
async fn feed(mut stdin: ChildStdin, text: Vec<u8>) {
    if let Err(cause) = stdin.write_all(&text).await {
        tracing::debug!(%cause, "a program did not read all of its input");
    }
}
