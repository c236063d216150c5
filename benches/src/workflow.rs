//! What a workflow costs beside the work itself: steps that do nothing, in loops and side by side.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use quipu_event::payload::Status;
use quipu_event::{RunId, Timestamp};
use quipu_journal::Layout;
use quipu_workflow::definition::{NoLibrary, Places, Workflow, check};
use quipu_workflow::driver::{DiskFiles, Hands, Performance, RunRequest, Site, World, run};
use quipu_workflow::engine::{
    AgentJob, Effect, Engine, History, Input, OperationJob, Outcome as Done, Setup,
};
use serde_json::Map;

use crate::measure::{in_turns, peak_memory};
use crate::row::Outcome;

const STEPS: u64 = 20_000;

/// Steps through the driver, each recorded with its beginning and its end, against the engine alone.
pub(crate) fn recorded_step(dir: &Path) -> anyhow::Result<Outcome> {
    let plan = looping(STEPS)?;
    let times = in_turns(5, || decide(&plan), || drive(dir, &plan))?;
    Ok(per_step(times.subject, STEPS, times.baseline, STEPS))
}

/// The engine alone: a step of a long loop against a step of a short one.
pub(crate) fn engine_step(_: &Path) -> anyhow::Result<Outcome> {
    let (short, long) = (looping(1_000)?, looping(100_000)?);
    let times = in_turns(5, || decide(&short), || decide(&long))?;
    Ok(per_step(times.subject, 100_000, times.baseline, 1_000))
}

/// The most memory that 100,000 recorded iterations take, against 1,000.
pub(crate) fn loop_memory(dir: &Path) -> anyhow::Result<Outcome> {
    peaks(dir, &looping(1_000)?, &looping(100_000)?)
}

/// The most memory that 1,000 branches take, against 10.
pub(crate) fn parallel_memory(dir: &Path) -> anyhow::Result<Outcome> {
    peaks(dir, &side_by_side(10)?, &side_by_side(1_000)?)
}

fn peaks(dir: &Path, small: &Arc<Workflow>, large: &Arc<Workflow>) -> anyhow::Result<Outcome> {
    let baseline = peak_memory(|| drive(dir, small))?;
    let value = peak_memory(|| drive(dir, large))?;
    Ok(Outcome { value, unit: "MB at the peak", baseline, ratio: value / baseline })
}

fn per_step(subject: f64, steps: u64, baseline: f64, baseline_steps: u64) -> Outcome {
    let value = subject * 1e6 / steps as f64;
    let baseline = baseline * 1e6 / baseline_steps as f64;
    Outcome { value, unit: "µs a step", baseline, ratio: value / baseline }
}

fn looping(times: u64) -> anyhow::Result<Arc<Workflow>> {
    plan(&format!(
        "  initial: c
  c: {{type: while, while: 'loop.Index < {times}', max_iterations: {times}, body: [idle], on_complete: done}}
  idle: {IDLE}
"
    ))
}

fn side_by_side(branches: u64) -> anyhow::Result<Arc<Workflow>> {
    let names: Vec<String> = (0..branches).map(|index| format!("s{index}")).collect();
    let list = names.join(", ");
    let mut text =
        format!("  initial: c\n  c: {{type: parallel, parallel: [{list}], on_success: done}}\n");
    text.extend(names.iter().map(|name| format!("  {name}: {IDLE}\n")));
    plan(&text)
}

const IDLE: &str = "{type: operation, operation: bench.idle, inputs: {}}";

fn plan(states: &str) -> anyhow::Result<Arc<Workflow>> {
    let text = format!("name: bench\nstates:\n{states}  done: {{type: terminal}}\n");
    let checked = check(Path::new("bench.yaml"), &text, &NoLibrary);
    let problems = checked.problems.to_string();
    Ok(Arc::new(checked.workflow.context(problems)?))
}

/// Does nothing, at once.
struct Idle;

impl Hands for Idle {
    fn ask(&self, _: AgentJob, _: Site) -> Performance {
        Box::pin(std::future::ready(Done::default()))
    }

    fn operate(&self, _: OperationJob, _: Site) -> Performance {
        Box::pin(std::future::ready(Done::default()))
    }
}

/// Runs a workflow as the command does, transcript and all.
fn drive(dir: &Path, plan: &Arc<Workflow>) -> anyhow::Result<()> {
    let layout = Layout::new(dir.join("storage"));
    let run_id = RunId::random();
    let places = Arc::new(Places::of_project(dir));
    let world = World { layout: Some(layout.clone()), ..World::of_process(places, Arc::new(Idle)) };
    let request = RunRequest::new(Arc::clone(plan), run_id.clone(), Arc::new(world));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let report = runtime.block_on(run(request))?;
    ensure!(report.status == Status::Succeeded, "{:?}", report.error);
    std::fs::remove_file(layout.transcript(&run_id))?;
    Ok(())
}

/// Lets the engine decide everything, and answers its work at once.
fn decide(plan: &Arc<Workflow>) -> anyhow::Result<()> {
    let setup = Setup {
        run_id: RunId::random(),
        started_at: Timestamp::from_micros(1_767_323_045_123_456),
        inputs: Map::new(),
        env: BTreeMap::new(),
        working_dir: "/".into(),
        user: String::new(),
        hostname: String::new(),
        awf: BTreeMap::new(),
        skill_dirs: Vec::new(),
        role_dirs: Vec::new(),
        files: Arc::new(DiskFiles),
        history: History::default(),
    };
    let mut engine = Engine::new(Arc::clone(plan), setup);
    let mut inputs = vec![Input::Start];
    while let Some(input) = inputs.pop() {
        for effect in engine.step(Duration::ZERO, input) {
            if let Effect::Perform { task, .. } = effect {
                inputs.push(Input::Finished { task, outcome: Done::default() });
            }
        }
    }
    if !engine.is_over() {
        bail!("the engine waits for something");
    }
    Ok(())
}
