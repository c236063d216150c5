//! What a step is: the catalogue of step kinds and their parts.

use std::collections::BTreeMap;
use std::time::Duration;

use super::agent_step::AgentStep;
use crate::language::{Expression, Template, Value};

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name, unique in the workflow.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it does.
    pub kind: StepKind,
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    /// Whether and how it is tried again.
    pub retry: Option<Retry>,
    /// Whether the run goes on to `on_success` when it fails.
    pub continue_on_error: bool,
    /// Variables for what it starts.
    pub env: BTreeMap<String, Template>,
    /// What happens before and after it.
    pub hooks: StepHooks,
    /// Where the run goes from here.
    pub flow: Flow,
    /// The line in the file where it is defined, from 1.
    pub line: usize,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// Runs a shell command or script.
    Command(CommandStep),
    /// Asks an agent.
    Agent(AgentStep),
    /// Does something built in: `http.request`, `notify.send`, `github.*`.
    Operation(OperationStep),
    /// Runs other steps side by side.
    Parallel(ParallelStep),
    /// Runs steps once for each item.
    ForEach(ForEachStep),
    /// Runs steps while a condition holds.
    While(WhileStep),
    /// Runs another workflow.
    CallWorkflow(CallWorkflowStep),
    /// Ends the run.
    Terminal(TerminalStep),
    /// A plugin's own kind, `<plugin>.<type>`.
    Custom(CustomStep),
}

impl StepKind {
    /// Returns the word that stands for it in a transcript.
    pub fn word(&self) -> &str {
        match self {
            StepKind::Command(_) => "command",
            StepKind::Agent(_) => "agent",
            StepKind::Operation(_) => "operation",
            StepKind::Parallel(_) => "parallel",
            StepKind::ForEach(_) => "for_each",
            StepKind::While(_) => "while",
            StepKind::CallWorkflow(_) => "call_workflow",
            StepKind::Terminal(_) => "terminal",
            StepKind::Custom(custom) => &custom.step_type,
        }
    }
}

/// Where a run goes from a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// Tried in order before anything else; one without a condition always holds.
    pub transitions: Vec<Transition>,
    /// Where to go when the step succeeded.
    pub on_success: Option<String>,
    /// Where to go when it failed.
    pub on_failure: Option<FailureTarget>,
}

/// A conditional way from one step to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// When it is taken; always if there is none.
    pub when: Option<Expression>,
    /// The step it leads to.
    pub goto: String,
}

/// What happens when a step fails.
#[derive(Clone, Debug, PartialEq)]
pub enum FailureTarget {
    /// The run goes to that step.
    Step(String),
    /// The run ends, as if at a terminal step.
    End {
        /// What it says.
        message: Template,
        /// The exit status of the run.
        status: u8,
    },
}

/// How a step is tried again.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// How often it is tried in all.
    pub max_attempts: u32,
    /// How long to wait before the second attempt.
    pub initial_delay: Duration,
    /// The longest wait.
    pub max_delay: Option<Duration>,
    /// How the wait grows.
    pub backoff: Backoff,
    /// By how much, when it grows exponentially.
    pub multiplier: f64,
    /// How far a wait may be off, as a part of it: 0 to 1.
    pub jitter: f64,
    /// The exit codes worth another attempt; all but 0 if empty.
    pub retryable_exit_codes: Vec<i64>,
}

/// How a wait grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backoff {
    /// Not at all.
    #[default]
    Constant,
    /// By the first wait each time.
    Linear,
    /// By a factor each time.
    Exponential,
}

/// What happens before and after a step. A failure here is told and changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepHooks {
    /// Before the first attempt.
    pub pre: Vec<Hook>,
    /// After the last.
    pub post: Vec<Hook>,
}

/// Something done beside the steps.
#[derive(Clone, Debug, PartialEq)]
pub enum Hook {
    /// Says something.
    Log(Template),
    /// Runs a shell command.
    Command(Template),
}

/// A step that runs a command.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandStep {
    /// What to run.
    pub text: CommandText,
    /// Where to run it; where the run was started if there is none.
    pub dir: Option<Template>,
    /// What to keep of its output, and under which names.
    pub capture: Option<Capture>,
}

/// What a command step runs.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandText {
    /// A shell command.
    Inline(Template),
    /// A script in a file, itself a template.
    File(Template),
}

/// What to keep of a command's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The name its standard output gets.
    pub stdout: Option<String>,
    /// The name its standard error gets.
    pub stderr: Option<String>,
    /// How many bytes of each are kept at most.
    pub max_size: Option<u64>,
}

/// A step that does something built in.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationStep {
    /// What: `http.request`.
    pub operation: String,
    /// With what.
    pub inputs: BTreeMap<String, ValueTemplate>,
}

/// A value with templates in its texts.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueTemplate {
    /// A text.
    Text(Template),
    /// A number, a truth or nothing.
    Plain(Value),
    /// A list.
    List(Vec<ValueTemplate>),
    /// An object.
    Map(BTreeMap<String, ValueTemplate>),
}

/// A step that runs others side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelStep {
    /// The steps.
    pub branches: Vec<String>,
    /// When it counts as a success.
    pub strategy: Strategy,
    /// How many at a time; all if there is no number.
    pub max_concurrent: Option<usize>,
}

/// When a parallel step counts as a success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// When all branches succeed. The first failure cancels the others.
    #[default]
    AllSucceed,
    /// When one succeeds. The first success cancels the others.
    AnySucceed,
    /// Always.
    BestEffort,
}

/// What the two loops share.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopStep {
    /// The steps of one iteration, in order.
    pub body: Vec<String>,
    /// How many iterations at most.
    pub max_iterations: IterationLimit,
    /// Ends the loop when it holds after an iteration.
    pub break_when: Option<Expression>,
    /// Where the run goes when the loop is done.
    pub on_complete: Option<String>,
}

/// How many iterations at most.
#[derive(Clone, Debug, PartialEq)]
pub enum IterationLimit {
    /// A number.
    Count(u64),
    /// A template whose text is a number or an arithmetic expression.
    Template(Template),
}

/// A loop over items.
#[derive(Clone, Debug, PartialEq)]
pub struct ForEachStep {
    /// Over what.
    pub items: Items,
    /// The rest.
    pub each: LoopStep,
}

/// What a loop goes over.
#[derive(Clone, Debug, PartialEq)]
pub enum Items {
    /// A list in the file.
    List(Vec<ValueTemplate>),
    /// A template whose text is a JSON list, or parts between commas.
    Template(Template),
}

/// A loop with a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct WhileStep {
    /// Asked before each iteration.
    pub condition: Expression,
    /// The rest.
    pub each: LoopStep,
}

/// A step that runs another workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct CallWorkflowStep {
    /// Which: a name, `pack/name` or a path.
    pub workflow: Template,
    /// What it is given.
    pub inputs: BTreeMap<String, ValueTemplate>,
    /// What is taken from it: the child's output or step name → the name it gets here.
    pub outputs: BTreeMap<String, String>,
}

/// A step that ends the run.
#[derive(Clone, Debug, PartialEq)]
pub struct TerminalStep {
    /// Whether the run succeeded.
    pub status: TerminalStatus,
    /// What it says.
    pub message: Option<Template>,
    /// The exit status of the run, when the file gives one.
    pub exit_status: Option<u8>,
}

/// Whether a run that ends here succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerminalStatus {
    /// It did.
    #[default]
    Success,
    /// It did not.
    Failure,
}

/// A plugin's own step.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomStep {
    /// `<plugin>.<type>`.
    pub step_type: String,
    /// What it is given.
    pub config: BTreeMap<String, ValueTemplate>,
}
