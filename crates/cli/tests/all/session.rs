//! A terminal session: runs `quipu` in a directory of its own with a clean environment.
//!
//! It asserts nothing but that the program could be started; what came out is the test's to judge.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A directory to run `quipu` in.
pub(crate) struct Session {
    dir: TempDir,
    variables: Vec<(String, String)>,
}

/// What came out of one command.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The exit code; nothing if a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Session {
    /// Begins in an empty directory.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        Session { dir, variables: Vec::new() }
    }

    /// Sets an environment variable for all that follows.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the directory.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns a command for `program` with nothing in its environment but what it needs.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.dir()).env_clear();
        for name in ["PATH", "TMPDIR", "LLVM_PROFILE_FILE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("HOME", self.dir()).envs(self.variables.iter().map(|(n, v)| (n, v)));
        command
    }

    /// Starts `quipu` with all three streams piped.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(QUIPU)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("quipu can be started")
    }

    /// Runs `quipu` with nothing on its standard input.
    pub(crate) fn quipu(&self, arguments: &[&str]) -> Outcome {
        self.quipu_with_input(arguments, "")
    }

    /// Runs `quipu` with `input` on its standard input.
    pub(crate) fn quipu_with_input(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Outcome {
        finish(self.spawn(arguments), input.as_ref())
    }

    /// Runs `quipu`, which must exit with 0, and returns its standard output.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let outcome = self.quipu(arguments);
        assert_eq!(outcome.code, Some(0), "quipu {arguments:?}: {outcome:?}");
        outcome.stdout
    }

    /// Returns where the transcript of `run` is in the default storage.
    pub(crate) fn transcript(&self, run: &str) -> PathBuf {
        self.dir().join("storage/transcripts").join(format!("{run}.jsonl"))
    }

    /// Returns the lines of `run`, each of which must be JSON.
    pub(crate) fn lines(&self, run: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.transcript(run)).expect("the transcript can be read");
        text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }
}

impl Outcome {
    /// Returns standard output as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is no JSON value: {error}: {self:?}"))
    }
}

/// The program under test.
pub(crate) const QUIPU: &str = env!("CARGO_BIN_EXE_quipu");

/// Feeds `input` to `child`, which must read its streams as pipes, and waits for its end.
pub(crate) fn finish(mut child: Child, input: &[u8]) -> Outcome {
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        // A program that does not read its input must not make its caller wait.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        child.wait_with_output().expect("quipu can be waited for")
    });
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("stdout is text"),
        stderr: String::from_utf8(output.stderr).expect("stderr is text"),
    }
}
