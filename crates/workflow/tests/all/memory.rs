//! Long loops and wide parallel steps take no more memory than short and narrow ones.
//!
//! The peak of a process can only be asked of a process, so each measurement is a child: this test
//! binary again, told by a variable what to run.

use std::process::Command;
use std::sync::Arc;

use quipu_event::payload::Status;
use quipu_journal::Layout;
use quipu_workflow::definition::{NoLibrary, Places, check};
use quipu_workflow::driver::{Hands, Performance, RunRequest, Site, World, run};
use quipu_workflow::engine::{AgentJob, OperationJob, Outcome};

const TASK: &str = "QUIPU_MEMORY_TASK";

/// Does nothing, and says a line about it.
struct Idle;

impl Hands for Idle {
    fn ask(&self, _: AgentJob, _: Site) -> Performance {
        unreachable!("nobody asks an agent here")
    }

    fn operate(&self, _: OperationJob, _: Site) -> Performance {
        let outcome = Outcome { output: "x".repeat(100), ..Outcome::default() };
        Box::pin(std::future::ready(outcome))
    }
}

/// Writes `loop 1000` or `parallel 1000` as a workflow.
fn workflow(task: &str) -> String {
    let (kind, count) = task.split_once(' ').unwrap();
    let count: usize = count.parse().unwrap();
    let step = "{type: operation, operation: test.idle, inputs: {}}";
    let container = match kind {
        "loop" => format!(
            "type: while, while: 'loop.Index < {count}', max_iterations: {count}, body: [idle], on_complete: done"
        ),
        _ => {
            let names: Vec<_> = (0..count).map(|index| format!("s{index}")).collect();
            format!("type: parallel, parallel: [{}], on_success: done", names.join(", "))
        }
    };
    let steps = match kind {
        "loop" => format!("  idle: {step}\n"),
        _ => (0..count).map(|index| format!("  s{index}: {step}\n")).collect(),
    };
    format!(
        "name: w\nstates:\n  initial: c\n  c: {{{container}}}\n{steps}  done: {{type: terminal}}\n"
    )
}

/// The child: runs what it is told, and prints its peak in kilobytes.
#[test]
fn measured() {
    let Ok(task) = std::env::var(TASK) else { return };
    let folder = tempfile::tempdir().unwrap();
    let checked = check("w.yaml".as_ref(), &workflow(&task), &NoLibrary);
    let plan = checked.workflow.unwrap_or_else(|| panic!("{}", checked.problems));
    let places = Arc::new(Places::of_project(folder.path()));
    let request = RunRequest::new(
        Arc::new(plan),
        "r".parse().unwrap(),
        Arc::new(World {
            layout: Some(Layout::new(folder.path())),
            ..World::of_process(places, Arc::new(Idle))
        }),
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let report = runtime.block_on(run(request)).unwrap();
    assert_eq!(report.status, Status::Succeeded, "{:?}", report.error);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("peak={}", peak.trim().trim_end_matches(" kB"));
}

/// Runs a task in a child and returns its peak in kilobytes.
fn peak_of(task: &str) -> u64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["memory::measured", "--exact", "--nocapture", "--test-threads=1"])
        .env(TASK, task)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{task}: {said}{}", String::from_utf8_lossy(&output.stderr));
    let peak = said.split("peak=").nth(1).unwrap().lines().next().unwrap();
    peak.parse().unwrap()
}

#[test]
fn a_loop_of_many_iterations_takes_the_memory_of_one_of_few() {
    // 100,000 iterations are measured by `workflow_loop_memory_100k` of `make bench`.
    let (few, many) = (peak_of("loop 500"), peak_of("loop 10000"));
    // 10,000 iterations leave about 5 MB of transcript; none of it may stay.
    assert!(many < few + 1500, "{few} kB for few iterations, {many} kB for many");
}

#[test]
fn a_parallel_step_takes_a_little_memory_for_each_branch_and_no_more() {
    let (few, many) = (peak_of("parallel 10"), peak_of("parallel 1000"));
    assert!(many < few + 20_000, "{few} kB for 10 branches, {many} kB for 1,000");
}
