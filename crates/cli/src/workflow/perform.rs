//! A run from the command line: load, watch, perform, tell how it ended.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_event::RunIdentity;
use quipu_export::Existing;
use quipu_journal::Durability;
use quipu_workflow::definition::{LoadError, Places, Workflow, load_with};
use quipu_workflow::driver::{self, RunRequest};
use quipu_workflow::language::Value;
use serde_json::Map;

use super::ending;
use super::overrides::Overrides;
use super::person::at_the_terminal;
use super::signals;
use super::views::{ViewWish, Views};
use super::watch::Watch;
use super::world::world;
use crate::Context;
use crate::exit::{Exit, UserError, WorkflowError};
use crate::format::note::note;
use crate::settings::MaskChoice;

/// How a run is to be performed.
pub(crate) struct Flight {
    pub(crate) run: RunIdentity,
    pub(crate) inputs: Map<String, Value>,
    /// Where it works.
    pub(crate) working_dir: PathBuf,
    /// Whether the run exists already and is to go on.
    pub(crate) resume: bool,
    pub(crate) stub: bool,
    pub(crate) record: bool,
    pub(crate) quiet: bool,
    /// Whether standard input may be read.
    pub(crate) may_ask: bool,
    pub(crate) durability: Option<Durability>,
    pub(crate) mask: Option<MaskChoice>,
    pub(crate) overrides: Overrides,
    /// What is written of it while it goes on.
    pub(crate) views: Vec<ViewWish>,
}

/// Finds the file of a workflow by its path or name.
pub(crate) fn find(name: &str) -> Result<PathBuf, UserError> {
    Places::of_process().find(name, None).map_err(|error| {
        let hint = error.hint();
        let error = UserError::new(error.to_string());
        match hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    })
}

/// Reads and checks a workflow. Warnings are told; errors are all told at once.
pub(crate) fn load(context: &Context, path: &Path) -> anyhow::Result<Workflow> {
    let plugins = context.settings.plugins.value.keys().cloned();
    match load_with(path, &Places::of_process().with_plugins(plugins)) {
        Ok(loaded) => {
            loaded.warnings.iter().for_each(|warning| note(&warning.to_string()));
            Ok(loaded.workflow)
        }
        Err(LoadError::Invalid { problems }) => {
            Err(WorkflowError { problems: problems.to_string() }.into())
        }
        Err(LoadError::Read { path, source }) => {
            Err(UserError::new(format!("cannot read {}: {source}", path.display())).into())
        }
    }
}

/// Performs a run and tells how it ended.
pub(crate) fn fly(context: &Context, workflow: Workflow, flight: Flight) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let screen = context.screen;
    let layout = flight.record.then(|| context.settings.layout());
    let log = layout.and_then(|layout| context.log.follow(&layout, &flight.run.run_id));
    // A run that goes on writes the views anew that it began with.
    let existing = if flight.resume { Existing::Replace } else { Existing::Refuse };
    let views = Views::begin(context, &flight.views, &flight.run.run_id, existing)?;
    ending::announce(context, &workflow, &flight);
    let watch = Arc::new(Watch::new(screen, flight.quiet));
    let person = at_the_terminal(&watch, flight.may_ask);
    let world = world(context, &flight, &workflow.file, person);
    let secrets = Arc::clone(&world.secrets);
    let name = workflow.name.clone();
    let started = std::time::Instant::now();
    let report = runtime.block_on(async {
        let request = RunRequest {
            workflow: Arc::new(workflow),
            inputs: flight.inputs,
            run: flight.run,
            resume: flight.resume,
            callers: Vec::new(),
            stop: signals::listen(&watch)?,
            display: Arc::clone(&watch) as _,
            around: None,
            world: Arc::new(world),
        };
        anyhow::Ok(driver::run(request).await?)
    });
    watch.finish();
    // Work that did not stop when it was told to must not keep the program.
    runtime.shutdown_background();
    drop(log);
    views.finish(context, flight.quiet || screen.json);
    let report = report?.masked(&secrets);
    // A reader that went away early does not change what the run came to.
    let _ = ending::tell(context, &name, &report, &watch, started.elapsed(), flight.quiet);
    Ok(Exit::Asked(report.exit_code))
}
