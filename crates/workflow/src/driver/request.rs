//! What is to be run, in which surroundings, and what came of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_event::payload::{DeliverableCheck, Status, TokenCounts};
use quipu_event::{RunId, RunIdentity};
use quipu_journal::{Clock, Durability, Layout, OpenError, ReadError, SystemClock};
use serde_json::Map;
use tokio::sync::{Semaphore, watch};

use super::files::DiskFiles;
use super::perform::Hands;
use super::secrets::Secrets;
use crate::audit::Audit;
use crate::definition::Workflow;
use crate::display::{Display, NoDisplay};
use crate::engine::ReadFile;
use crate::language::Value;
use crate::operation::OperationSettings;
use crate::process::StopSignal;
use crate::toolbox::{ToolSettings, Toolbox};

/// A run that somebody wants.
#[derive(Clone)]
pub struct RunRequest {
    /// What to run.
    pub workflow: Arc<Workflow>,
    /// With what: checked, defaults filled in.
    pub inputs: Map<String, Value>,
    /// Which run it becomes, and which run calls it.
    pub run: RunIdentity,
    /// Whether the run exists already and is to go on where it stopped.
    pub resume: bool,
    /// The names of the workflows that are being run around it, outermost first.
    pub callers: Vec<String>,
    /// When to stop: `Canceled` lets the run end in order, `Now` makes it.
    pub stop: StopSignal,
    /// Who watches.
    pub display: Arc<dyn Display>,
    /// The tools of the run that calls it, if one does.
    pub around: Option<Arc<Toolbox>>,
    /// What is around it.
    pub world: Arc<World>,
}

impl RunRequest {
    /// Asks for a new run without inputs that nobody calls, watches or stops.
    pub fn new(workflow: Arc<Workflow>, run_id: RunId, world: Arc<World>) -> RunRequest {
        RunRequest {
            workflow,
            inputs: Map::new(),
            run: RunIdentity { run_id, parent_run_id: None },
            resume: false,
            callers: Vec::new(),
            stop: watch::channel(None).1,
            display: Arc::new(NoDisplay),
            around: None,
            world,
        }
    }
}

/// What is around a run and everything it calls.
pub struct World {
    /// Where transcripts are; nothing is recorded if there is none.
    pub layout: Option<Layout>,
    /// When lines are forced onto the disk.
    pub durability: Durability,
    /// What must not be shown. Each run adds the secrets among its inputs.
    pub secrets: Arc<Secrets>,
    /// Where the audit trail is.
    pub audit: Audit,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where the ids of called runs come from.
    pub ids: Arc<dyn Fn() -> RunId + Send + Sync>,
    /// The environment that templates see.
    pub env: BTreeMap<String, String>,
    /// Where the run was started.
    pub working_dir: PathBuf,
    /// Who started it.
    pub user: String,
    /// On which machine.
    pub hostname: String,
    /// The directories of the `awf` namespace by name.
    pub awf: BTreeMap<String, String>,
    /// Where skills are looked for, in order.
    pub skill_dirs: Vec<PathBuf>,
    /// Where roles are looked for, in order.
    pub role_dirs: Vec<PathBuf>,
    /// How prompts and scripts are read.
    pub files: Arc<dyn ReadFile>,
    /// Where called workflows are found.
    pub workflows: Arc<dyn WorkflowSource>,
    /// What tools can be had. Each run opens its own toolbox.
    pub tools: Arc<ToolSettings>,
    /// Who asks agents and calls tools.
    pub hands: Arc<dyn Hands>,
    /// How many programs may run at the same time.
    pub programs: Arc<Semaphore>,
}

impl World {
    /// Returns the world of this process: its environment, directory, user, machine and clock. Nothing
    /// is recorded and no audit trail kept until somebody says where.
    pub fn of_process(workflows: Arc<dyn WorkflowSource>, hands: Arc<dyn Hands>) -> World {
        let env: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let working_dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        World {
            layout: None,
            durability: Durability::default(),
            secrets: Arc::default(),
            audit: Audit::off(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RunId::random),
            tools: Arc::new(ToolSettings::new(OperationSettings::from_variables(
                &working_dir,
                |name| env.get(name).cloned(),
            ))),
            working_dir,
            user: user(&env),
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            env,
            awf: BTreeMap::new(),
            skill_dirs: Vec::new(),
            role_dirs: Vec::new(),
            files: Arc::new(DiskFiles),
            workflows,
            hands,
            programs: Arc::new(Semaphore::new(programs_at_once())),
        }
    }
}

fn user(env: &BTreeMap<String, String>) -> String {
    let named = ["USER", "LOGNAME"].iter().find_map(|name| env.get(*name));
    let named = named.filter(|name| !name.is_empty()).cloned();
    named.unwrap_or_else(|| format!("uid:{}", rustix::process::getuid().as_raw()))
}

/// Finds workflows by the names that other workflows call them by.
pub trait WorkflowSource: Send + Sync {
    /// Reads and checks the workflow that the one in the file `from` calls `name`.
    ///
    /// # Errors
    ///
    /// Says, as a fragment for a message, why there is none or what is wrong with it.
    fn load(&self, name: &str, from: &Path) -> Result<Arc<Workflow>, String>;

    /// Checks what a called workflow is given, and fills defaults in.
    ///
    /// # Errors
    ///
    /// Says, as a fragment for a message, what does not fit.
    fn check_inputs(
        &self,
        workflow: &Workflow,
        inputs: Map<String, Value>,
    ) -> Result<Map<String, Value>, String>;
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// Which run.
    pub run_id: RunId,
    /// How it ended.
    pub status: Status,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// What its last step said.
    pub message: Option<String>,
    /// The exit code for the program that ran it.
    pub exit_code: u8,
    /// The exit status that the workflow itself asks for.
    pub exit_status: Option<u8>,
    /// What it gives to a caller.
    pub outputs: Map<String, Value>,
    /// What each step came to.
    pub step_outputs: BTreeMap<String, String>,
    /// Whether the files that it was to make are there, if there were any.
    pub deliverables: Option<DeliverableCheck>,
    /// What it used up.
    pub usage: TokenCounts,
    /// Where its transcript is.
    pub transcript: Option<PathBuf>,
}

impl RunReport {
    /// Returns the report as it may be shown: a caller of the run gets what it gave, a person does
    /// not get to see its secrets.
    pub fn masked(self, secrets: &Secrets) -> RunReport {
        let masked = |text: String| secrets.mask_text(&text).into_owned();
        let listed = |list: Vec<String>| list.into_iter().map(masked).collect();
        RunReport {
            error: self.error.map(masked),
            message: self.message.map(masked),
            outputs: secrets.mask_named(&self.outputs),
            deliverables: self.deliverables.map(|check| DeliverableCheck {
                required: listed(check.required),
                missing: listed(check.missing),
                problems: listed(check.problems),
                ..check
            }),
            step_outputs: self
                .step_outputs
                .into_iter()
                .map(|(step, text)| (step, masked(text)))
                .collect(),
            ..self
        }
    }
}

/// Why a run could not even begin.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its transcript cannot be written.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Its transcript cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is to go on, and nothing was recorded.
    #[error("a run that was not recorded cannot be resumed")]
    NotRecorded,
}

/// The exit code of a run that failed or was canceled, unless the workflow says otherwise.
const EXECUTION_FAILED: u8 = 3;

/// Returns the exit code for a run that ended that way.
pub(super) fn exit_code(status: &Status, asked: Option<u8>) -> u8 {
    match (status, asked) {
        (Status::Succeeded, asked) => asked.unwrap_or(0),
        // Whoever stops a run wants to know that it was stopped, whatever it would have said.
        (Status::Canceled, _) => EXECUTION_FAILED,
        (_, asked) => asked.unwrap_or(EXECUTION_FAILED),
    }
}

/// Returns how many programs can run at the same time, by how many files a process may have open.
pub fn programs_at_once() -> usize {
    // Each program takes a few files: its pipes, and what it takes to start it.
    const FILES_EACH: u64 = 4;
    const FILES_FOR_US: u64 = 100;
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let most = files.map_or(1024, |files| files.saturating_sub(FILES_FOR_US) / FILES_EACH);
    usize::try_from(most.clamp(4, 1024)).unwrap_or(1024)
}
