//! What a fake plugin does, step by step.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// A script.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// What happens before anything is read.
    pub start: Vec<Step>,
    /// The tools it lists, page by page; those it plays if there are none.
    pub pages: Vec<Vec<Value>>,
    /// What happens when a tool is called.
    pub tools: BTreeMap<String, Vec<Step>>,
    /// Where every line that it reads goes.
    pub log: Option<PathBuf>,
}

/// One thing that happens: `{"stderr": "Hello"}`, `"hang"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// It answers the call with this result.
    Answer(Value),
    /// It answers the call with its own arguments, as a text.
    Echo,
    /// It answers the call with an error.
    Error(Value),
    /// It answers the call with a text of so many bytes.
    Huge(usize),
    /// It writes a line as it is here, with the id of the call for `$ID`.
    Line(String),
    /// It writes these bytes, and then a line end.
    Bytes(Vec<u8>),
    /// It asks its client something, and answers the call with what came back.
    Ask(Value),
    /// It has other tools from now on, and says so.
    Tools(Vec<Value>),
    /// It writes to standard error.
    Stderr(String),
    /// It starts a program that sleeps, and writes its process id to this file.
    Child(PathBuf),
    /// The rest happens after so many milliseconds, while it goes on with other work.
    LaterMs(u64),
    /// It does nothing for so many milliseconds.
    SleepMs(u64),
    /// The rest happens only when this file is not there yet, which it is from then on.
    Once(PathBuf),
    /// It ends at once, with this exit code.
    Exit(i32),
    /// It does nothing any more.
    Hang,
}
