//! Workflows made by hand, and the world they run in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quipu_event::payload::Message;
use quipu_event::{ContentBlock, Draft, Event, Fidelity, Kind, RunId, RunIdentity, Timestamp};
use quipu_journal::{Clock, Layout, Reader, verify_run};
use quipu_workflow::audit::Audit;
use quipu_workflow::definition::{
    CallWorkflowStep, CommandStep, CommandText, Flow, OperationStep, ParallelStep, Step, StepHooks,
    StepKind, Strategy, TerminalStatus, TerminalStep, Workflow, WorkflowHooks,
};
use quipu_workflow::display::{Display, DisplayEvent};
use quipu_workflow::driver::{
    Hands, Performance, RunReport, RunRequest, Site, WorkflowSource, World, run,
};
use quipu_workflow::engine::{AgentJob, OperationJob, Outcome};
use quipu_workflow::language::{Template, Value};
use quipu_workflow::process::{StopReason, StopSignal};
use serde_json::Map;
use tokio::sync::watch;

/// Longer than anything here takes on a slow machine; a test that gets here has failed.
pub(super) const FAR_TOO_LONG: Duration = Duration::from_secs(60);

pub(super) fn template(text: &str) -> Template {
    Template::parse(text).unwrap()
}

pub(super) fn step(name: &str, kind: StepKind, next: Option<&str>) -> Step {
    Step {
        name: name.to_owned(),
        description: None,
        kind,
        timeout: None,
        retry: None,
        continue_on_error: false,
        env: BTreeMap::new(),
        hooks: StepHooks::default(),
        flow: Flow { on_success: next.map(str::to_owned), ..Flow::default() },
        line: 1,
    }
}

pub(super) fn command(name: &str, text: &str, next: Option<&str>) -> Step {
    let text = CommandText::Inline(template(text));
    step(name, StepKind::Command(CommandStep { text, dir: None, capture: None }), next)
}

pub(super) fn operation(name: &str, operation: &str, next: Option<&str>) -> Step {
    let operation = OperationStep { operation: operation.to_owned(), inputs: BTreeMap::new() };
    step(name, StepKind::Operation(operation), next)
}

pub(super) fn parallel(name: &str, branches: &[&str], next: Option<&str>) -> Step {
    let branches = branches.iter().map(|branch| (*branch).to_owned()).collect();
    let parallel = ParallelStep { branches, strategy: Strategy::AllSucceed, max_concurrent: None };
    step(name, StepKind::Parallel(parallel), next)
}

pub(super) fn call(
    name: &str,
    workflow: &str,
    outputs: &[(&str, &str)],
    next: Option<&str>,
) -> Step {
    let outputs = outputs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned()));
    let call = CallWorkflowStep {
        workflow: template(workflow),
        inputs: BTreeMap::new(),
        outputs: outputs.collect(),
    };
    step(name, StepKind::CallWorkflow(call), next)
}

pub(super) fn done() -> Step {
    let terminal = TerminalStep {
        status: TerminalStatus::Success,
        message: Some(template("all done")),
        exit_status: None,
    };
    step("done", StepKind::Terminal(terminal), None)
}

pub(super) fn workflow(name: &str, steps: impl IntoIterator<Item = Step>) -> Workflow {
    let steps: Vec<_> = steps.into_iter().collect();
    Workflow {
        name: name.to_owned(),
        version: Some("1.0.0".to_owned()),
        description: None,
        author: None,
        tags: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        deliverables: Vec::new(),
        env: Vec::new(),
        plugins: BTreeMap::new(),
        hooks: WorkflowHooks::default(),
        initial: steps[0].name.clone(),
        steps: steps.into_iter().map(|step| (step.name.clone(), Arc::new(step))).collect(),
        file: PathBuf::from(format!("/flows/{name}.yaml")),
        sha256: "0".repeat(64),
        changes: BTreeMap::new(),
    }
}

/// Everything that was shown.
#[derive(Default)]
pub(super) struct Seen {
    events: Mutex<Vec<DisplayEvent>>,
    changed: tokio::sync::Notify,
}

impl Seen {
    pub(super) fn events(&self) -> Vec<DisplayEvent> {
        self.events.lock().unwrap().clone()
    }

    /// Waits until something is shown.
    pub(super) async fn wait_for(&self, is_it: impl Fn(&DisplayEvent) -> bool) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                if self.events.lock().unwrap().iter().any(&is_it) {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(FAR_TOO_LONG, wait).await.expect("it was never shown");
    }

    /// Waits until commands have written these lines.
    pub(super) async fn wait_for_output(&self, lines: &[&str]) {
        for line in lines {
            self.wait_for(
                |event| matches!(event, DisplayEvent::Output { text, .. } if text.contains(line)),
            )
            .await;
        }
    }
}

impl Display for Seen {
    fn show(&self, event: &DisplayEvent) {
        self.events.lock().unwrap().push(event.clone());
        self.changed.notify_waiters();
    }
}

/// Workflows by name.
#[derive(Default)]
pub(super) struct Shelf(pub(super) BTreeMap<String, Arc<Workflow>>);

impl WorkflowSource for Shelf {
    fn load(&self, name: &str, _: &Path) -> Result<Arc<Workflow>, String> {
        self.0.get(name).cloned().ok_or_else(|| format!("there is no workflow `{name}`"))
    }

    fn check_inputs(
        &self,
        _: &Workflow,
        inputs: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        Ok(inputs)
    }
}

/// Agents that say one thing, and operations that panic or hang.
struct TestHands;

impl Hands for TestHands {
    fn ask(&self, job: AgentJob, site: Site) -> Performance {
        Box::pin(async move {
            let said = format!("I was asked: {}", job.prompt);
            let blocks = vec![ContentBlock::text(Fidelity::AgentEmitted, said.as_str())];
            let draft = Draft::new(Kind::MessageAssistant, &Message::assistant(blocks)).unwrap();
            site.scribe.record(draft.at(site.at.path, site.at.iteration));
            Outcome { output: said, ..Outcome::default() }
        })
    }

    fn operate(&self, job: OperationJob, _: Site) -> Performance {
        Box::pin(async move {
            match job.operation.as_str() {
                "test.panic" => panic!("on purpose"),
                "test.hang" => std::future::pending().await,
                _ => Outcome::default(),
            }
        })
    }
}

/// A clock that stands still.
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::parse("2026-02-20T22:15:42.123456Z").unwrap()
    }
}

/// A storage directory, and a way to run workflows in it.
pub(super) struct Bench {
    pub(super) dir: tempfile::TempDir,
    pub(super) seen: Arc<Seen>,
    pub(super) shelf: Shelf,
    pub(super) record: bool,
    pub(super) inputs: Map<String, Value>,
    ids: Arc<AtomicU64>,
}

impl Bench {
    pub(super) fn new() -> Bench {
        Bench {
            dir: tempfile::tempdir().unwrap(),
            seen: Arc::default(),
            shelf: Shelf::default(),
            record: true,
            inputs: Map::new(),
            ids: Arc::default(),
        }
    }

    pub(super) fn with(mut self, workflow: Workflow) -> Bench {
        self.shelf.0.insert(workflow.name.clone(), Arc::new(workflow));
        self
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::new(self.dir.path().join("storage"))
    }

    fn world(&mut self) -> World {
        let ids = Arc::clone(&self.ids);
        World {
            layout: self.record.then(|| self.layout()),
            audit: Audit::at(self.dir.path().join("audit.jsonl")).in_zone(jiff::tz::TimeZone::UTC),
            clock: Arc::new(Still),
            ids: Arc::new(move || {
                let number = ids.fetch_add(1, Ordering::Relaxed);
                RunId::parse(&format!("child-{number}")).unwrap()
            }),
            working_dir: self.dir.path().to_owned(),
            user: "tester".to_owned(),
            hostname: "bench".to_owned(),
            ..World::of_process(Arc::new(Shelf(self.shelf.0.clone())), Arc::new(TestHands))
        }
    }

    pub(super) fn request(&mut self, workflow: Workflow, stop: StopSignal) -> RunRequest {
        RunRequest {
            workflow: Arc::new(workflow),
            inputs: self.inputs.clone(),
            run: RunIdentity { run_id: RunId::parse("main").unwrap(), parent_run_id: None },
            resume: false,
            callers: Vec::new(),
            stop,
            display: Arc::clone(&self.seen) as Arc<dyn Display>,
            around: None,
            world: Arc::new(self.world()),
        }
    }

    /// Runs a workflow that nobody stops.
    pub(super) async fn run(&mut self, workflow: Workflow) -> RunReport {
        let (_bell, stop) = watch::channel(None);
        let request = self.request(workflow, stop);
        finish(request).await
    }

    /// Runs a workflow, and stops it for each of these reasons once commands have written its lines.
    pub(super) async fn run_and_stop(
        &mut self,
        workflow: Workflow,
        reasons: &[(&[&str], StopReason)],
    ) -> RunReport {
        let (bell, stop) = watch::channel(None);
        let request = self.request(workflow, stop);
        let seen = Arc::clone(&self.seen);
        let stopping = async {
            for (lines, reason) in reasons {
                seen.wait_for_output(lines).await;
                bell.send_replace(Some(*reason));
            }
        };
        let (report, ()) = tokio::join!(finish(request), stopping);
        report
    }

    pub(super) fn events(&self, run: &str) -> Vec<Event> {
        let path = self.layout().transcript(&RunId::parse(run).unwrap());
        Reader::open(path).unwrap().map(|event| event.unwrap()).collect()
    }

    /// Returns type, path and status of each event.
    pub(super) fn course(&self, run: &str) -> Vec<String> {
        let word = |event: &Event| {
            let payload: Value = event.payload.decode().unwrap();
            let parts = [event.kind.as_str(), event.path.as_str()];
            let mut line: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            line.extend(payload["status"].as_str());
            line.join(" ")
        };
        self.events(run).iter().map(word).collect()
    }

    /// Returns the payload of the last event of this type at this path.
    pub(super) fn payload(&self, run: &str, kind: Kind, path: &str) -> Value {
        let events = self.events(run);
        let event =
            events.iter().rev().find(|event| event.kind == kind && event.path.as_str() == path);
        event.expect("there is such an event").payload.decode().unwrap()
    }

    pub(super) fn assert_verifies(&self, run: &str) {
        let report = verify_run(&self.layout(), &RunId::parse(run).unwrap()).unwrap();
        assert!(report.findings.is_empty(), "{:?}", report.findings);
    }

    pub(super) fn audit(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.dir.path().join("audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(super) async fn finish(request: RunRequest) -> RunReport {
    tokio::time::timeout(FAR_TOO_LONG, run(request)).await.expect("it hangs").unwrap()
}
