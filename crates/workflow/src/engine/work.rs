//! Pieces of work, with everything filled in, and what comes of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use quipu_event::RunId;
use quipu_event::payload::TokenCounts;

use crate::agent::LoadedSkill;
use crate::definition::{AgentMode, Capture, McpProxy, OutputFormat};
use crate::language::{Expression, ShellScript, Value};

/// A piece of work.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Run a command. Hooks are commands too.
    Command(CommandJob),
    /// Ask an agent.
    Agent(Box<AgentJob>),
    /// Do something built in.
    Operation(OperationJob),
    /// Run another workflow, as a run of its own.
    Call(CallJob),
    /// A plugin's own step.
    Custom(CustomJob),
    /// Let time pass.
    Wait(Duration),
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandJob {
    /// What to run.
    pub script: ScriptText,
    /// Where.
    pub dir: Option<PathBuf>,
    /// Variables, beside those of the process.
    pub env: BTreeMap<String, String>,
    /// What to keep of its output.
    pub capture: Option<Capture>,
}

/// What a command runs.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptText {
    /// A command for the user's shell.
    Shell(ShellScript),
    /// A script that names its interpreter in its first line, to be executed as a file.
    Program {
        /// The text as a person would read it, values filled in as they are.
        shown: String,
        /// The text as it is executed.
        text: String,
        /// The file it came from.
        from: PathBuf,
    },
}

impl ScriptText {
    /// Returns the command as a person would read it.
    pub fn shown(&self) -> &str {
        match self {
            ScriptText::Shell(script) => &script.shown,
            ScriptText::Program { shown, .. } => shown,
        }
    }
}

/// A question for an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentJob {
    /// Whose agent.
    pub provider: String,
    /// The program and first arguments that stand for the provider's own.
    pub command: Option<Vec<String>>,
    /// What to ask, skills included.
    pub prompt: String,
    /// The skills that stand before the prompt.
    pub skills: Vec<LoadedSkill>,
    /// What the agent is told about itself, role included.
    pub system_prompt: Option<String>,
    /// The provider's own options.
    pub options: serde_json::Map<String, Value>,
    /// How the answer is read.
    pub output_format: Option<OutputFormat>,
    /// One question, or a conversation.
    pub mode: AgentMode,
    /// The session to continue.
    pub resume: Option<String>,
    /// How many turns a conversation has at most.
    pub max_turns: Option<u32>,
    /// Ends a conversation when it holds.
    pub stop_condition: Option<Expression>,
    /// Variables, beside those of the process.
    pub env: BTreeMap<String, String>,
    /// Which tools it is given.
    pub mcp_proxy: Option<McpProxy>,
}

/// Something built in.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationJob {
    /// What.
    pub operation: String,
    /// With what.
    pub inputs: serde_json::Map<String, Value>,
}

/// Another workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct CallJob {
    /// Which.
    pub workflow: String,
    /// What it is given.
    pub inputs: serde_json::Map<String, Value>,
    /// What is taken from it.
    pub outputs: BTreeMap<String, String>,
    /// The run it already is, when a run is resumed in the middle of it.
    pub child: Option<RunId>,
}

/// A plugin's own step.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomJob {
    /// `<plugin>.<type>`.
    pub step_type: String,
    /// What it is given.
    pub config: serde_json::Map<String, Value>,
}

/// What came of a piece of work, or of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: WorkStatus,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// What `states.<step>.Output` is: a command's standard output, an agent's answer.
    pub output: String,
    /// The line feeds that a command wrote behind `output`: together they are what it really wrote.
    pub output_tail: String,
    /// A command's standard error.
    pub stderr: String,
    /// A command's exit code.
    pub exit_code: Option<i64>,
    /// A structured value: `states.<step>.Response` of operations, outputs of a called workflow.
    pub value: Option<Value>,
    /// An agent's answer read as JSON: `states.<step>.JSON`.
    pub json: Option<Value>,
    /// More names below `states.<step>`: captured output, a called workflow's outputs.
    pub named: BTreeMap<String, Value>,
    /// An agent's session, to be continued by a later step.
    pub session: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// What it used up.
    pub usage: Option<TokenCounts>,
    /// Bytes of output that were more than is kept; they are in the transcript as pieces.
    pub truncated: bool,
    /// The run that a call became.
    pub child: Option<RunId>,
    /// The exit status that a called workflow asked for.
    pub exit_status: Option<u8>,
}

impl Outcome {
    /// Returns a command's exit code, or the exit status that a called workflow asked for.
    pub(super) fn code(&self) -> Option<i64> {
        self.exit_code.or(self.exit_status.map(i64::from))
    }
}

/// How a piece of work ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkStatus {
    /// It did what it was to do.
    #[default]
    Succeeded,
    /// It did not.
    Failed,
    /// It took too long and was stopped.
    TimedOut,
    /// It was stopped because the engine said so.
    Canceled,
}
