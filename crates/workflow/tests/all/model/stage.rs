//! Runs a workflow that was made up, and looks at what its files tell.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use quipu_event::payload::Status;
use quipu_event::{Event, Kind, RunId, RunIdentity, Timestamp};
use quipu_journal::{Clock, Layout, Reader, verify_run};
use quipu_view::TreeBuilder;
use quipu_view::tree::{Attempt, Node, RunTree};
use quipu_workflow::definition::{Document, Library, NotFound, Workflow, check};
use quipu_workflow::display::{Display, DisplayEvent};
use quipu_workflow::driver::{Hands, Performance, RunRequest, Site, WorkflowSource, World, run};
use quipu_workflow::engine::{AgentJob, OperationJob, Outcome, WorkStatus};
use quipu_workflow::language::Value;
use serde_json::Map;
use tokio::sync::watch;

use super::plan::{Plan, Racing, written};

/// What was done: run, path, attempt → iteration and whether it succeeded.
type Done = BTreeMap<(String, String, u32), (u64, bool)>;

/// Work that does nothing but succeed or fail, and remembers that it did.
#[derive(Default)]
struct Workers {
    times: Mutex<HashMap<(String, String), u64>>,
    done: Mutex<Done>,
}

impl Workers {
    /// Takes it that what these lines tell as over has been done.
    fn remember(&self, run: &str, events: &[&Event]) {
        for event in events.iter().filter(|event| event.kind == Kind::StepCompleted) {
            let told: Value = event.payload.decode().unwrap();
            let is_over = told["status"] == "succeeded" || told["status"] == "failed";
            if told["kind"] == "operation" && is_over {
                let place = (run.to_owned(), event.path.to_string());
                *self.times.lock().unwrap().entry(place).or_default() += 1;
            }
        }
    }
}

impl Hands for Workers {
    fn ask(&self, _: AgentJob, _: Site) -> Performance {
        unreachable!("nobody asks an agent here")
    }

    fn operate(&self, job: OperationJob, site: Site) -> Performance {
        let run = job.inputs["run"].as_str().unwrap().to_owned();
        let (at, inputs) = (site.at, job.inputs);
        let place = (run.clone(), at.path.to_string());
        let time = {
            let mut times = self.times.lock().unwrap();
            let time = times.entry(place).or_default();
            *time += 1;
            *time
        };
        let failed = time <= inputs["fails"].as_u64().unwrap()
            || inputs.get("fails_in").and_then(Value::as_u64) == Some(at.iteration);
        let past = (at.iteration, !failed);
        let known = self.done.lock().unwrap().insert((run, at.path.to_string(), at.attempt), past);
        assert!(known.is_none(), "{}#{} is done twice", at.path, at.attempt);
        let status = if failed { WorkStatus::Failed } else { WorkStatus::Succeeded };
        let outcome = Outcome { status, output: format!("time {time}"), ..Outcome::default() };
        Box::pin(async move {
            tokio::task::yield_now().await;
            outcome
        })
    }
}

/// The files of workflows by name.
struct Texts<'a>(&'a BTreeMap<String, String>);

impl Library for Texts<'_> {
    fn workflow(&self, name: &str, _: &Path) -> Result<Document, NotFound> {
        let text = self.0.get(name).ok_or_else(NotFound::default)?;
        Ok(Document { path: PathBuf::from(format!("{name}.yaml")), text: text.clone() })
    }

    fn template(&self, _: &str, _: &Path) -> Result<Document, NotFound> {
        Err(NotFound::default())
    }
}

/// Workflows by name, checked.
struct Shelf(BTreeMap<String, Arc<Workflow>>);

impl Shelf {
    fn of(files: &BTreeMap<String, String>) -> Shelf {
        let checked = |(name, text): (&String, &String)| {
            let checked = check(Path::new(&format!("{name}.yaml")), text, &Texts(files));
            let Some(workflow) = checked.workflow else {
                panic!("{}\n{}", checked.problems, shown(files))
            };
            (name.clone(), Arc::new(workflow))
        };
        Shelf(files.iter().map(checked).collect())
    }
}

impl WorkflowSource for Shelf {
    fn load(&self, name: &str, _: &Path) -> Result<Arc<Workflow>, String> {
        self.0.get(name).cloned().ok_or_else(|| format!("there is no {name}"))
    }

    fn check_inputs(
        &self,
        _: &Workflow,
        inputs: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        Ok(inputs)
    }
}

/// A clock by which no two things happen at the same time, in whichever run.
#[derive(Default)]
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_767_323_045_000_000 + self.0.fetch_add(1, Ordering::Relaxed))
    }
}

struct Nobody;

impl Display for Nobody {
    fn show(&self, _: &DisplayEvent) {}
}

/// A run that is over, and everything it left.
pub(super) struct Stage {
    _dir: tempfile::TempDir,
    layout: Layout,
    files: BTreeMap<String, String>,
    clock: Arc<Ticking>,
    /// What was done last.
    done: Done,
    /// The events of each run.
    runs: BTreeMap<String, Vec<Event>>,
}

impl Stage {
    pub(super) fn play(plan: &Plan, racing: Racing) -> Stage {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path().join("storage"));
        let mut stage = Stage {
            _dir: dir,
            layout,
            files: written(plan, racing),
            clock: Arc::default(),
            done: Done::new(),
            runs: BTreeMap::new(),
        };
        stage.run(Workers::default(), false);
        stage
    }

    /// Runs the workflow, or goes on with it, and reads what it left.
    fn run(&mut self, workers: Workers, resume: bool) {
        let (workers, shelf) = (Arc::new(workers), Shelf::of(&self.files));
        let workflow = Arc::clone(&shelf.0["main"]);
        let hands = Arc::clone(&workers) as Arc<dyn Hands>;
        let request = RunRequest {
            workflow,
            inputs: Map::new(),
            run: RunIdentity { run_id: "main".parse().unwrap(), parent_run_id: None },
            resume,
            callers: Vec::new(),
            stop: watch::channel(None).1,
            display: Arc::new(Nobody),
            around: None,
            world: Arc::new(World {
                layout: Some(self.layout.clone()),
                clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
                ..World::of_process(Arc::new(shelf), hands)
            }),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let limit = std::time::Duration::from_secs(60);
        let report = runtime.block_on(async {
            tokio::time::timeout(limit, run(request)).await.expect("it ends").unwrap()
        });
        self.runs = read_runs(&self.layout);
        let told = self.runs["main"].last().unwrap().payload.decode::<Value>().unwrap();
        assert_eq!(told["status"], serde_json::to_value(&report.status).unwrap());
        self.done = std::mem::take(&mut *workers.done.lock().unwrap());
    }

    /// Cuts all files as a crash would have at some moment, and goes on with the run.
    ///
    /// `moment` is a part of the whole; `leave_empty` is whether a run that was just about to begin
    /// has left a file with nothing in it. Returns how much work was done, what was over before
    /// the crash included, and how much of it the files tell.
    pub(super) fn crash_and_resume(&mut self, moment: f64, leave_empty: bool) -> (u64, u64) {
        let mut times: Vec<Timestamp> =
            self.runs.values().flatten().map(|event| event.timestamp).collect();
        times.sort();
        // What was never begun cannot be gone on with: the first line is always there.
        let last = times[((times.len() - 1) as f64 * moment) as usize];
        let kept = self.runs.values().flatten().filter(|event| event.timestamp <= last);
        let named: Vec<RunId> = kept.filter_map(|event| event.child_run_id.clone()).collect();
        let workers = Workers::default();
        for (run, events) in &self.runs {
            let path = self.layout.transcript(&RunId::parse(run).unwrap());
            let kept = events.iter().take_while(|event| event.timestamp <= last);
            let kept: Vec<&Event> = kept.collect();
            if kept.is_empty() && !(leave_empty && named.iter().any(|child| child.as_str() == run))
            {
                std::fs::remove_file(path).unwrap();
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let text: String = text.split_inclusive('\n').take(kept.len()).collect();
            std::fs::write(&path, text).unwrap();
            workers.remember(run, &kept);
        }
        let before = workers.times.lock().unwrap().values().sum::<u64>();
        self.run(workers, true);
        let mut over = 0;
        for run in self.runs.keys() {
            walk(&self.tree(run).steps, &mut |node| {
                let is_work = node.kind.as_deref() == Some("operation");
                let whole = node.attempts.iter().filter(|tried| !is_aborted(tried)).count();
                over += if is_work { whole as u64 } else { 0 };
            });
        }
        (before + self.done.len() as u64, over)
    }

    /// The workflows, for a person who has to find out what is wrong.
    pub(super) fn shown(&self) -> String {
        shown(&self.files)
    }

    fn tree(&self, run: &str) -> RunTree {
        let mut builder = TreeBuilder::default();
        self.runs[run].iter().for_each(|event| builder.add(event));
        builder.finish().unwrap()
    }

    /// Tells a run as a forecast does, from its tree and nothing else. Attempts that a crash cut
    /// short are left out.
    pub(super) fn told_by_tree(&self, run: &str) -> String {
        let tree = self.tree(run);
        let mut lines = BTreeMap::new();
        walk(&tree.steps, &mut |node| {
            let iteration = innermost_index(node.path.as_str());
            let whole = node.attempts.iter().filter(|tried| !is_aborted(tried));
            for (index, attempt) in whole.enumerate() {
                let status = word(attempt.status.as_ref());
                let kind = node.kind.as_deref().unwrap_or("?");
                let mut line = format!("~{iteration} {kind} {status}");
                if let Some(child) = &attempt.child_run_id {
                    let told = self.told_by_tree(child.as_str());
                    line += " called";
                    line.extend(told.lines().map(|inner| format!("\n    {inner}")));
                }
                lines.insert((node.path.to_string(), index), line);
            }
        });
        let mut text = format!("{}\n", word(tree.status.as_ref()));
        for ((path, index), line) in lines {
            text += &format!("{path}#{} {line}\n", index + 1);
        }
        text
    }

    /// Attempts at one place have numbers that grow; they count from 1 where nothing around is
    /// entered twice.
    pub(super) fn check_numbers(&self, enters_nothing_twice: bool) {
        for run in self.runs.keys() {
            walk(&self.tree(run).steps, &mut |node| {
                let numbers: Vec<u32> = node.attempts.iter().map(|tried| tried.number).collect();
                let counted: Vec<u32> = (1..).take(numbers.len()).collect();
                let grows = numbers.is_sorted_by(|a, b| a < b);
                let right = grows && (!enters_nothing_twice || numbers == counted);
                assert!(right, "{}: attempts {numbers:?}\n{}", node.path, self.shown());
            });
        }
    }

    /// Each piece of work is in the tree where it was done, and nothing else is.
    pub(super) fn check_work(&self) {
        let mut told = Done::new();
        for run in self.runs.keys() {
            walk(&self.tree(run).steps, &mut |node| {
                if node.kind.as_deref() != Some("operation") {
                    return;
                }
                for attempt in &node.attempts {
                    let key = (run.clone(), node.path.to_string(), attempt.number);
                    let index = innermost_index(node.path.as_str());
                    match attempt.status {
                        Some(Status::Succeeded) => drop(told.insert(key, (index, true))),
                        Some(Status::Failed) => drop(told.insert(key, (index, false))),
                        // Work that was stopped may have been done, or not even been begun.
                        Some(Status::Canceled) => {
                            told.extend(self.done.get(&key).map(|done| (key, *done)));
                        }
                        _ => panic!("{} has no end\n{}", node.path, self.shown()),
                    }
                }
            });
        }
        assert_eq!(told, self.done, "\n{}", self.shown());
    }

    /// Every file is sound, every line says its iteration, and called runs are linked both ways.
    pub(super) fn check_files(&self) {
        self.check_links(false);
    }

    /// The same, when the run was resumed: it calls the runs that it had called already once more.
    pub(super) fn check_resumed_files(&self) {
        self.check_links(true);
    }

    fn check_links(&self, resumed: bool) {
        let mut called = BTreeMap::from([("main".to_owned(), None)]);
        for (run, events) in &self.runs {
            let report = verify_run(&self.layout, &RunId::parse(run).unwrap()).unwrap();
            assert!(report.findings.is_empty(), "{:?}\n{}", report.findings, self.shown());
            for event in events {
                let index = innermost_index(event.path.as_str());
                assert_eq!(event.iteration, index, "{}\n{}", event.path, self.shown());
                if event.kind == Kind::CallWorkflowStarted {
                    let child = event.child_run_id.as_ref().unwrap().to_string();
                    let known = called.insert(child, Some(run.clone()));
                    let once = known.is_none() || resumed && known == Some(Some(run.clone()));
                    assert!(once, "each run is called once\n{}", self.shown());
                }
            }
        }
        let parent = |events: &[Event]| {
            let parents: Vec<_> = events.iter().map(|event| event.parent_run_id.clone()).collect();
            assert!(parents.windows(2).all(|pair| pair[0] == pair[1]));
            parents[0].as_ref().map(ToString::to_string)
        };
        let linked: BTreeMap<_, _> =
            self.runs.iter().map(|(run, events)| (run.clone(), parent(events))).collect();
        assert_eq!(linked, called, "\n{}", self.shown());
    }
}

fn read_runs(layout: &Layout) -> BTreeMap<String, Vec<Event>> {
    let folder = layout.transcript(&"main".parse().unwrap()).parent().unwrap().to_owned();
    let mut runs = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            let run = path.file_stem().unwrap().to_str().unwrap().to_owned();
            runs.insert(run, Reader::open(path).unwrap().map(Result::unwrap).collect());
        }
    }
    runs
}

fn walk(nodes: &[Node], look: &mut dyn FnMut(&Node)) {
    for node in nodes {
        look(node);
        walk(&node.children, look);
    }
}

fn is_aborted(attempt: &Attempt) -> bool {
    attempt.status == Some(Status::Aborted)
}

fn word(status: Option<&Status>) -> String {
    status.map_or("open".to_owned(), |status| {
        serde_json::to_value(status).unwrap().as_str().unwrap().to_owned()
    })
}

/// Reads the index of the innermost loop off a path.
fn innermost_index(path: &str) -> u64 {
    let Some((_, rest)) = path.rsplit_once('[') else { return 0 };
    rest.split_once(']').unwrap().0.parse().unwrap()
}

fn shown(files: &BTreeMap<String, String>) -> String {
    files.values().cloned().collect::<Vec<_>>().join("---\n")
}
