//! What a fake agent does, step by step.

use serde::Deserialize;
use serde_json::Value;

/// A script.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// What happens, unless a turn fits.
    pub steps: Vec<Step>,
    /// What happens instead when the prompt fits; the first that does is played.
    pub turns: Vec<Turn>,
    /// The session's name.
    pub session: Option<String>,
    /// The model's name.
    pub model: Option<String>,
}

/// What happens when a prompt fits.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    /// What the prompt must contain.
    pub when: String,
    /// What happens.
    pub steps: Vec<Step>,
    /// What the session used up before, for agents that count it again.
    pub spent_before: Spent,
}

/// One thing that happens: `{"text": "Hello"}`, `"hang"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// It says something.
    Text(String),
    /// It thinks something.
    Thinking(String),
    /// It uses a tool.
    Tool(Tool),
    /// It uses several at once.
    Tools(Vec<Tool>),
    /// It uses tools of the MCP server `quipu` that it was given.
    Served(Served),
    /// It has another agent do something.
    Subagent(Subagent),
    /// Time passes.
    DelayMs(u64),
    /// A line of so many NUL bytes.
    Nul(usize),
    /// A line of something that is no record.
    Garbage(String),
    /// A line exactly as it is here.
    Raw(String),
    /// It writes to standard error.
    Stderr(String),
    /// It has used up so much.
    Usage(Spent),
    /// It starts a program that sleeps for so many seconds and leaves it running.
    Child(u64),
    /// It makes an empty file of this name where it runs, so that a test knows how far it is.
    Mark(String),
    /// The API fails for good; it says so as it does, and ends.
    Fail(String),
    /// It ends at once, with this exit code.
    Crash(u8),
    /// It does nothing any more.
    Hang,
}

/// A use of a tool.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tool {
    /// Which.
    pub name: String,
    /// With what.
    pub input: Value,
    /// What it answers; nothing if it never does.
    pub result: Option<String>,
    /// Whether that is an error.
    pub is_error: bool,
    /// The MCP server that has it, if one does.
    pub server: Option<String>,
}

/// A use of tools of an MCP server: they are really called, all at once.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Served {
    /// Which, by the server's names. Their results are the server's.
    pub tools: Vec<Tool>,
    /// When it prints that it uses them.
    pub told: Told,
    /// Whether it is gone as soon as it has asked.
    pub dies: bool,
}

/// When an agent prints that it uses tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// Before it does.
    #[default]
    Before,
    /// When they have answered.
    After,
    /// Not at all.
    Never,
    /// Although it does not: somebody has not allowed it.
    Instead,
}

/// Another agent at work.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Subagent {
    /// What it is asked.
    pub prompt: String,
    /// What it says, where its words are told at all.
    pub text: String,
    /// A tool it uses.
    pub tool: Option<Tool>,
}

/// What was used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spent {
    /// Input that was not cached.
    pub input: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// Input read from a cache.
    pub cache_read: u64,
    /// Input written to a cache.
    pub cache_write: u64,
}

impl Script {
    /// Returns what is played without a script.
    pub fn hello() -> Self {
        let text = Step::Text("Hello from the fake agent.".to_owned());
        Script { steps: vec![text], ..Script::default() }
    }

    /// Returns the turn for a prompt, if there is one for it.
    pub fn turn(&self, prompt: &str) -> Option<&Turn> {
        self.turns.iter().find(|turn| prompt.contains(&turn.when))
    }

    /// Returns the session's name.
    pub fn session(&self) -> &str {
        self.session.as_deref().unwrap_or("fake-session")
    }

    /// Returns the model's name.
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or("fake-model")
    }
}

impl Spent {
    /// Returns both together.
    pub fn and(self, other: Spent) -> Spent {
        Spent {
            input: self.input + other.input,
            output: self.output + other.output,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
        }
    }
}
