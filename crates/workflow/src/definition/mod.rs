//! What a workflow file says, read and checked.
//!
//! The types here are the plan that the engine follows. They hold no YAML: reading is `parse`, and a
//! plan that exists has been checked.

mod agent_step;
mod data;
mod input;
mod inputs;
mod library;
mod load;
mod locate;
mod parse;
mod problem;
mod step;
mod suggest;
mod template;
mod validate;
mod yaml;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use quipu_tool::plugin::PluginConfig;

use crate::language::Template;
pub use agent_step::{
    AgentMode, AgentStep, ConversationStep, McpProxy, OutputFormat, PluginTools, PromptText, Skill,
};
pub use data::read_data;
pub use input::{InputDeclaration, InputType, InputValidation};
pub use inputs::{GivenValue, InputProblem, check_inputs};
pub use library::{Document, Library, NamedFile, NoLibrary, NotFound};
pub use load::{Checked, FileKind, LoadError, Loaded, check, load, load_with, read_source};
pub use locate::Places;
pub use problem::{Place, Problem, Problems, Severity};
pub use step::{
    Backoff, CallWorkflowStep, Capture, CommandStep, CommandText, CustomStep, FailureTarget, Flow,
    ForEachStep, Hook, Items, IterationLimit, LoopStep, OperationStep, ParallelStep, Retry, Step,
    StepHooks, StepKind, Strategy, TerminalStatus, TerminalStep, Transition, ValueTemplate,
    WhileStep,
};
pub use suggest::did_you_mean;

/// A workflow, checked: every name in it leads somewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// Free words.
    pub tags: Vec<String>,
    /// What it takes.
    pub inputs: Vec<InputDeclaration>,
    /// What it gives to a workflow that calls it: name → where from, such as `states.build.Output`.
    pub outputs: Vec<(String, Template)>,
    /// The files that must be there when it ends, relative to the working directory.
    pub deliverables: Vec<Template>,
    /// The environment variables it expects to be set.
    pub env: Vec<String>,
    /// The plugins it brings, by name. Variables in them are not filled in yet.
    pub plugins: BTreeMap<String, PluginConfig>,
    /// What happens beside its steps.
    pub hooks: WorkflowHooks,
    /// The step it begins with.
    pub initial: String,
    /// Its steps by name.
    pub steps: BTreeMap<String, Arc<Step>>,
    /// The file it was read from.
    pub file: PathBuf,
    /// The hash of what that file said, in hexadecimal.
    pub sha256: String,
    /// What was changed for this run, beside the file: key → value, such as `model` → `opus`.
    pub changes: BTreeMap<String, String>,
}

/// What happens beside a workflow's steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkflowHooks {
    /// Before the first step. A failure here fails the run.
    pub start: Vec<Hook>,
    /// After a run that succeeded.
    pub end: Vec<Hook>,
    /// After a run that failed.
    pub error: Vec<Hook>,
    /// After a run that was canceled.
    pub cancel: Vec<Hook>,
}
