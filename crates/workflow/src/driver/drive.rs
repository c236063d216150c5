//! One run from its beginning to its end: the loop between the engine and the world.

mod notes;

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use quipu_event::StepPath;
use quipu_event::payload::DeliverableCheck;
use quipu_journal::Recorder;
use serde_json::json;
use tokio::sync::mpsc;

use super::call::{self, Caller, PreparedCall};
use super::deliverables;
use super::history::PastRun;
use super::leftovers::{self, Leftover, Marks};
use super::opening::{open, setup};
use super::perform::{Bell, Performance, Site, failed, performance, stopped, supervise};
use super::recording::{Recording, RunFacts};
use super::request::{RunError, RunReport, RunRequest, exit_code};
use crate::audit::{AuditEnd, AuditStart};
use crate::display::DisplayEvent;
use crate::engine::{Effect, Engine, Input, Occurrence, Outcome, RunEnd, StepBegin, TaskId, Work};
use crate::language::Value;
use crate::process::{StopReason, StopSignal, stop_beyond};
use crate::scribe::{RunScribe, Scribe};
use crate::toolbox::Toolbox;

/// Runs a workflow to its end.
///
/// # Errors
///
/// Fails when the run cannot begin because its transcript cannot be made or read. Whatever happens
/// after that is in the report.
pub fn run(
    request: RunRequest,
) -> Pin<Box<dyn Future<Output = Result<RunReport, RunError>> + Send>> {
    // A run may call another, so its future has to have a size without knowing its own.
    Box::pin(async move { Ok(Drive::begin(request)?.drive().await) })
}

/// A run while it goes on.
struct Drive {
    request: RunRequest,
    engine: Engine,
    scribe: Arc<RunScribe>,
    recording: Recording,
    /// The tools that its steps can have.
    toolbox: Arc<Toolbox>,
    /// What tells each piece of work to stop.
    bells: HashMap<TaskId, Bell>,
    /// Calls that have been told and not yet made.
    calls: HashMap<(StepPath, u32), Result<PreparedCall, String>>,
    /// Calls that were told and then not made: the run that was named has to be there all the same.
    unmade: Vec<(Bell, Performance)>,
    tell: mpsc::UnboundedSender<(TaskId, Outcome)>,
    told: mpsc::UnboundedReceiver<(TaskId, Outcome)>,
    /// The steps that ran before, told secrets, and are known without them.
    masked: BTreeSet<String>,
    /// What tells the programs of this run from others, if it can be resumed.
    marks: Option<Marks>,
    /// Programs of steps that are to run again, and still run.
    leftovers: Vec<Leftover>,
    /// The strongest reason to stop that the run was given.
    stopping: Option<StopReason>,
}

impl Drive {
    fn begin(request: RunRequest) -> Result<Drive, RunError> {
        let world = Arc::clone(&request.world);
        let declared =
            request.workflow.env.iter().filter_map(|name| {
                world.env.get(name).map(|value| (name.as_str(), value.as_str()))
            });
        let called = request.run.parent_run_id.is_some().then_some(&request.run.run_id);
        world.secrets.learn_for(called, &request.inputs, declared);
        Toolbox::learn_secrets(&request);
        let (recorder, past) = open(&request)?;
        let PastRun { history, first, tally, masked, call_ids, .. } = past;
        let transcript = recorder.as_ref().map(Recorder::path);
        let marks = transcript.map(|path| Marks::of(&request.run.run_id, path));
        let of_plugin = |name: &str| marks.as_ref().map(|marks| marks.of_plugin(name));
        let toolbox = Toolbox::of_run(&request, &|name| of_plugin(name).unwrap_or_default());
        let leftovers = match &marks {
            Some(marks) if request.resume => leftovers::find(marks, &history),
            _ => Vec::new(),
        };
        toolbox.remember_calls(call_ids);
        let secrets = Arc::clone(&world.secrets);
        let run_id = request.run.run_id.clone();
        let display = Arc::clone(&request.display);
        let scribe = Arc::new(RunScribe::new(run_id, recorder, display, secrets, tally));
        let clock = Arc::clone(&world.clock);
        let recording = Recording::new(Arc::clone(&scribe), clock, &request.workflow.name, first);
        let setup = setup(&request, recording.began(), history);
        let engine = Engine::new(Arc::clone(&request.workflow), setup);
        let (tell, told) = mpsc::unbounded_channel();
        Ok(Drive {
            request,
            engine,
            scribe,
            recording,
            toolbox: Arc::new(toolbox),
            bells: HashMap::new(),
            calls: HashMap::new(),
            unmade: Vec::new(),
            tell,
            told,
            masked,
            marks,
            leftovers,
            stopping: None,
        })
    }

    async fn drive(mut self) -> RunReport {
        self.tell_start();
        if self.request.resume {
            // The process that ran this before may have recorded some, and died.
            let transcript = self.scribe.transcript().map(Path::to_owned);
            self.take_up_notes(transcript.as_deref());
        }
        self.stop_leftovers().await;
        let mut stop = self.request.stop.clone();
        // A run that is to stop before it begins does not begin anything.
        let early = *stop.borrow_and_update();
        let mut input = match early {
            Some(reason) => self.cancel(reason).unwrap_or(Input::Start),
            None => Input::Start,
        };
        loop {
            if let Some(end) = self.feed(input) {
                for (_bell, call) in std::mem::take(&mut self.unmade) {
                    call.await;
                }
                self.toolbox.close().await;
                return self.tell_end(end);
            }
            input = self.next_input(&mut stop).await;
        }
    }

    /// Two copies of one step at the same time would make the transcript lie.
    async fn stop_leftovers(&mut self) {
        if self.leftovers.is_empty() {
            return;
        }
        leftovers::stop(&self.leftovers).await;
        let programs: Vec<Value> = self.leftovers.iter().map(Leftover::facts).collect();
        let warning = format!(
            "stopped {} of the process that ran this before",
            match programs.len() {
                1 => "a program".to_owned(),
                count => format!("{count} programs"),
            }
        );
        let facts = json!({ "programs": programs, "warning": warning });
        self.recording.note(None, "leftovers_stopped", facts);
    }

    /// Waits for the next thing the engine has to know.
    async fn next_input(&mut self, stop: &mut StopSignal) -> Input {
        loop {
            let known = self.stopping;
            tokio::select! {
                biased;
                reason = stop_beyond(stop, known) => {
                    if let Some(input) = self.cancel(reason) {
                        return input;
                    }
                }
                Some((task, outcome)) = self.told.recv() => {
                    self.bells.remove(&task);
                    return Input::Finished { task, outcome };
                }
            }
        }
    }

    /// Takes a reason to stop: the first is the engine's to deal with, the strongest ends everything.
    fn cancel(&mut self, reason: StopReason) -> Option<Input> {
        let is_first = self.stopping.is_none();
        self.stopping = self.stopping.max(Some(reason));
        if reason == StopReason::Now {
            for bell in self.bells.values() {
                bell.ring(StopReason::Now);
            }
        }
        is_first.then(|| Input::Cancel {
            reason: match reason {
                StopReason::TimedOut => "timed out".to_owned(),
                StopReason::Canceled | StopReason::Now => "interrupted".to_owned(),
            },
        })
    }

    /// Tells the engine something and does what it wants done; how the run ended, once it has.
    fn feed(&mut self, input: Input) -> Option<RunEnd> {
        let elapsed = self.request.world.clock.now().millis_since(self.recording.began());
        let mut end = None;
        for effect in self.engine.step(Duration::from_millis(elapsed), input) {
            match effect {
                Effect::Begin(begin) => self.begin_step(&begin),
                Effect::Perform { task, at, work, timeout } => {
                    self.perform(task, at, *work, timeout);
                }
                Effect::Stop { task } => {
                    if let Some(bell) = self.bells.get(&task) {
                        bell.ring(StopReason::Canceled);
                    }
                }
                Effect::End(step) => {
                    self.leave_call(&step.at);
                    // What was left while the step ran stands before its end.
                    self.take_up_notes(None);
                    self.recording.step_ends(&step);
                }
                Effect::Turn { at, index, total } => {
                    self.scribe.show(DisplayEvent::Iteration { at, index, total });
                }
                Effect::Note { at, subtype, facts } => {
                    self.recording.note(at.as_ref(), subtype, facts);
                }
                Effect::Finish(run) => end = Some(run),
            }
        }
        end
    }

    fn begin_step(&mut self, begin: &StepBegin) {
        let mut child = None;
        if let Some(Work::Call(job)) = begin.work.as_deref() {
            let prepared = call::prepare(job, &self.request);
            child = prepared.as_ref().ok().map(|call| call.child.clone());
            // What the called run must not tell, the line that calls it must not either.
            self.request.world.secrets.learn_for(child.as_ref(), &job.inputs, []);
            self.calls.insert((begin.at.path.clone(), begin.at.attempt), prepared);
        }
        self.recording.step_begins(begin, child);
    }

    /// Lets a run that was to be called, and is not any more, begin and end as canceled.
    fn leave_call(&mut self, at: &Occurrence) {
        if let Some(Ok(call)) = self.calls.remove(&(at.path.clone(), at.attempt)) {
            let bell = Bell::new();
            bell.ring(StopReason::Canceled);
            let performance = call::performance(call, self.caller(at), bell.signal());
            self.unmade.push((bell, performance));
        }
    }

    fn perform(&mut self, task: TaskId, at: Occurrence, work: Work, timeout: Option<Duration>) {
        let bell = Bell::new();
        let is_run = matches!(work, Work::Call(_));
        let performance = match (work, self.stopping) {
            (Work::Call(_), _) => match self.calls.remove(&(at.path.clone(), at.attempt)) {
                Some(Ok(call)) => call::performance(call, self.caller(&at), bell.signal()),
                Some(Err(problem)) => Box::pin(std::future::ready(failed(problem))),
                None => Box::pin(std::future::ready(failed("the call was not prepared".into()))),
            },
            (_, Some(StopReason::Now)) => Box::pin(std::future::ready(stopped(StopReason::Now))),
            (mut work, _) => {
                let env = match &mut work {
                    Work::Command(job) => Some(&mut job.env),
                    Work::Agent(job) => Some(&mut job.env),
                    _ => None,
                };
                let marks = self.marks.as_ref().map(|marks| marks.at(&at)).unwrap_or_default();
                if let Some(env) = env {
                    env.extend(marks.clone());
                }
                let site = Site {
                    at,
                    scribe: Arc::clone(&self.scribe) as Arc<dyn Scribe>,
                    stop: bell.signal(),
                    dir: self.request.world.working_dir.clone(),
                    toolbox: Arc::clone(&self.toolbox),
                    marks: Arc::new(marks),
                    clock: Arc::clone(&self.request.world.clock),
                };
                performance(work, site, &self.request.world)
            }
        };
        if self.stopping == Some(StopReason::Now) {
            bell.ring(StopReason::Now);
        }
        self.bells.insert(task, bell.clone());
        let tell = self.tell.clone();
        tokio::spawn(async move {
            let outcome = supervise(performance, bell, timeout, is_run).await;
            // Nobody listens any more when the run is over, and then nobody needs to know.
            let _ = tell.send((task, outcome));
        });
    }

    fn caller<'a>(&'a self, at: &'a Occurrence) -> Caller<'a> {
        Caller { request: &self.request, toolbox: &self.toolbox, at }
    }

    fn tell_start(&self) {
        let (request, world) = (&self.request, &self.request.world);
        self.recording.run_started(&RunFacts {
            workflow: &request.workflow,
            inputs: &request.inputs,
            cwd: &world.working_dir.display().to_string(),
            resumed: request.resume,
        });
        if !self.masked.is_empty() {
            let steps = self.masked.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let warning = format!(
                "some secrets are not known any more: what follows sees their names in the results of {steps}"
            );
            let facts = json!({ "steps": self.masked, "warning": warning });
            self.recording.note(None, "masked_results", facts);
        }
        let started = world.audit.started(&AuditStart {
            run: &request.run.run_id,
            time: self.recording.began(),
            user: &world.user,
            workflow: &request.workflow.name,
            inputs: &world.secrets.mask_named(&request.inputs),
        });
        self.warn_of_audit(started);
    }

    fn tell_end(mut self, end: RunEnd) -> RunReport {
        self.take_up_notes(None);
        let deliverables = self.check_deliverables(&end.deliverables);
        let duration_ms = self.recording.run_ends(&end);
        let exit_code = exit_code(&end.status, end.exit_status);
        let world = &self.request.world;
        let error = end.error.as_deref().map(|error| world.secrets.mask_text(error));
        let completed = world.audit.completed(&AuditEnd {
            run: &self.request.run.run_id,
            time: world.clock.now(),
            user: &world.user,
            workflow: &self.request.workflow.name,
            success: !end.status.is_failure(),
            exit_code,
            duration_ms,
            error: error.as_deref(),
        });
        self.warn_of_audit(completed);
        self.scribe.close();
        self.deliver_late_notes();
        let (_, usage) = self.scribe.so_far();
        RunReport {
            run_id: self.request.run.run_id.clone(),
            status: end.status,
            error: end.error,
            message: end.message,
            exit_code,
            exit_status: end.exit_status,
            outputs: end.outputs,
            step_outputs: end.step_outputs,
            deliverables,
            usage,
            transcript: self.scribe.transcript().map(Path::to_owned),
        }
    }

    /// What is missing is told and changes nothing: how the run ended is for its steps to say.
    fn check_deliverables(&self, required: &[String]) -> Option<DeliverableCheck> {
        // The workflow and whoever runs it may both ask for the same.
        let mut known = BTreeSet::new();
        let required: Vec<String> =
            required.iter().filter(|path| known.insert(path.as_str())).cloned().collect();
        if required.is_empty() {
            return None;
        }
        self.recording.check_begins(&required);
        let check = deliverables::check(&self.request.world.working_dir, &required);
        self.recording.check_ends(&check);
        Some(check)
    }

    fn warn_of_audit(&self, written: std::io::Result<()>) {
        if let Err(cause) = written {
            tracing::warn!(%cause, "the audit trail is not complete");
            let text = format!("the audit trail is not complete: {cause}");
            self.scribe.show(DisplayEvent::Log { at: None, level: "warn", text });
        }
    }
}
