//! The stage on which the demo plays: a recorder, and a clock that moves when the script says so.
//!
//! Everything goes through the real recorder; only the time is told instead of waited for.

use std::cell::Cell;
use std::rc::Rc;

use quipu_event::payload::{
    Agent, Counts, Message, RunCompleted, RunStarted, Status, StepCompleted, StepResult,
    StepStarted, ToolCall, ToolResult, Usage,
};
use quipu_event::{ContentBlock, Draft, Json, Kind, RunId, RunIdentity, StepPath, Timestamp};
use quipu_journal::{Layout, Options, Received, Recorder, Subscription};
use quipu_view::Summary;
use serde::Serialize;

/// How long it takes to note one event.
const NOTING_MICROS: i64 = 137;

/// What time it is in the play. Clones go together.
#[derive(Clone)]
pub(super) struct StageClock(Rc<Cell<i64>>);

impl StageClock {
    /// Begins at `start`.
    pub(super) fn new(start: Timestamp) -> Self {
        StageClock(Rc::new(Cell::new(start.as_micros())))
    }

    /// Lets `millis` pass.
    pub(super) fn pass(&self, millis: u64) {
        let micros = i64::try_from(millis * 1000).unwrap_or(i64::MAX);
        self.0.set(self.0.get().saturating_add(micros));
    }

    pub(super) fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.get())
    }

    fn tick(&self) -> Timestamp {
        let now = self.now();
        self.0.set(self.0.get() + NOTING_MICROS);
        now
    }
}

/// One run of the play.
pub(super) struct Stage {
    recorder: Recorder,
    echo: Subscription,
    summary: Summary,
    clock: StageClock,
    began: Timestamp,
    start: RunStarted,
}

/// A step that has begun.
pub(super) struct Step {
    path: StepPath,
    iteration: u64,
    name: String,
    kind: &'static str,
    attempt: u32,
    began: Timestamp,
    calls: Option<RunId>,
}

/// A tool call to be made.
pub(super) struct Call<'a> {
    pub(super) tool: &'a str,
    pub(super) id: &'a str,
    pub(super) input: serde_json::Value,
}

impl Stage {
    /// Begins a run.
    pub(super) fn open(
        layout: &Layout,
        run: RunIdentity,
        options: Options,
        clock: StageClock,
        start: RunStarted,
    ) -> anyhow::Result<Self> {
        let recorder = Recorder::create(layout, run, options)?;
        let echo = recorder.subscribe_with_buffer(1);
        let (summary, began) = (Summary::default(), clock.now());
        let mut stage = Stage { recorder, echo, summary, clock, began, start };
        let start = stage.start.clone();
        stage.note(Kind::RunStarted, &start, &StepPath::root(), 0)?;
        Ok(stage)
    }

    pub(super) fn run_id(&self) -> &RunId {
        &self.recorder.run().run_id
    }

    /// Lets `millis` pass.
    pub(super) fn pass(&self, millis: u64) {
        self.clock.pass(millis);
    }

    /// Begins the first attempt of a step.
    pub(super) fn begin(
        &mut self,
        path: &str,
        iteration: u64,
        kind: &'static str,
        detail: StepStarted,
    ) -> anyhow::Result<Step> {
        self.begin_attempt(path, iteration, kind, 1, detail)
    }

    /// Begins a step; `detail` has what is particular to it.
    pub(super) fn begin_attempt(
        &mut self,
        path: &str,
        iteration: u64,
        kind: &'static str,
        attempt: u32,
        detail: StepStarted,
    ) -> anyhow::Result<Step> {
        let path = StepPath::from(path);
        let name = path.segments().last().map(|last| last.name.to_owned()).unwrap_or_default();
        let step =
            Step { path, iteration, name, kind, attempt, began: self.clock.now(), calls: None };
        let payload = step.started(detail);
        self.note(Kind::StepStarted, &payload, &step.path, iteration)?;
        Ok(step)
    }

    /// Begins a step that calls the run `child`.
    pub(super) fn begin_call(&mut self, path: &str, child: &RunId) -> anyhow::Result<Step> {
        let step = Step {
            path: StepPath::from(path),
            iteration: 0,
            name: path.to_owned(),
            kind: "call_workflow",
            attempt: 1,
            began: self.clock.now(),
            calls: Some(child.clone()),
        };
        let payload = step.started(StepStarted::default());
        let draft = Draft::new(Kind::CallWorkflowStarted, &payload)?
            .at(step.path.clone(), 0)
            .calling(child.clone());
        self.record(draft)?;
        Ok(step)
    }

    /// Ends a step; `detail` has what is particular to it.
    pub(super) fn end(
        &mut self,
        step: Step,
        status: Status,
        detail: StepCompleted,
    ) -> anyhow::Result<()> {
        let Step { path, iteration, name, kind, attempt, began, calls } = step;
        let duration_ms = Some(self.clock.now().millis_since(began));
        let completed = StepCompleted {
            name,
            kind: kind.to_owned(),
            attempt: Some(attempt),
            status: Some(status),
            duration_ms,
            ..detail
        };
        let draft = match calls {
            Some(child) => Draft::new(Kind::CallWorkflowCompleted, &completed)?.calling(child),
            None => Draft::new(Kind::StepCompleted, &completed)?,
        };
        self.record(draft.at(path, iteration))
    }

    /// Says something to an agent, or lets it reply.
    pub(super) fn say(&mut self, at: &Step, message: &Message) -> anyhow::Result<()> {
        let user = message.role == "user";
        let kind = if user { Kind::MessageUser } else { Kind::MessageAssistant };
        self.note(kind, message, &at.path, at.iteration)
    }

    /// Counts tokens.
    pub(super) fn count(&mut self, at: &Step, usage: &Usage) -> anyhow::Result<()> {
        self.note(Kind::Usage, usage, &at.path, at.iteration)
    }

    /// Makes a tool call that takes `millis` and answers with `outcome`.
    pub(super) fn call(
        &mut self,
        at: &Step,
        call: Call<'_>,
        millis: u64,
        outcome: Result<serde_json::Value, &str>,
    ) -> anyhow::Result<()> {
        let (name, call_id) = (call.tool.to_owned(), call.id.to_owned());
        let input = Json::encode(&call.input)?;
        let fidelity = quipu_event::Fidelity::Router;
        let called = ToolCall {
            name: name.clone(),
            call_id: call_id.clone(),
            input: input.clone(),
            output: Json::null(),
            fidelity: fidelity.clone(),
            provider: Some("builtin".to_owned()),
        };
        self.note(Kind::ToolCall, &called, &at.path, at.iteration)?;
        self.pass(millis);
        use quipu_event::payload::ToolStatus::{Completed, Failed};
        let (output, error, status) = match outcome {
            Ok(output) => (Json::encode(&output)?, None, Completed),
            Err(error) => (Json::null(), Some(error.to_owned()), Failed),
        };
        let (status, duration_ms) = (Some(status), Some(millis));
        let result =
            ToolResult { name, call_id, input, output, error, fidelity, status, duration_ms };
        self.note(Kind::ToolResult, &result, &at.path, at.iteration)
    }

    /// Notes something that the engine did.
    pub(super) fn system(
        &mut self,
        at: &Step,
        subtype: &str,
        facts: serde_json::Value,
    ) -> anyhow::Result<()> {
        self.record(Draft::system(subtype, facts)?.at(at.path.clone(), at.iteration))
    }

    /// Ends the run.
    pub(super) fn close(mut self, result: serde_json::Value) -> anyhow::Result<Recorder> {
        let completed = RunCompleted {
            name: self.start.name.clone(),
            kind: self.start.kind.clone(),
            status: Some(Status::Succeeded),
            error: None,
            result: Some(Json::encode(&result)?),
            duration_ms: Some(self.clock.now().millis_since(self.began)),
            usage: self.summary.usage(),
            counts: Some(self.counts()),
        };
        self.note(Kind::RunCompleted, &completed, &StepPath::root(), 0)?;
        self.recorder.close()?;
        Ok(self.recorder)
    }

    fn counts(&self) -> Counts {
        Counts { masked: self.recorder.stats().masked, ..self.summary.counts() }
    }

    fn note<T: Serialize>(
        &mut self,
        kind: Kind,
        payload: &T,
        path: &StepPath,
        iteration: u64,
    ) -> anyhow::Result<()> {
        self.record(Draft::new(kind, payload)?.at(path.clone(), iteration))
    }

    fn record(&mut self, draft: Draft) -> anyhow::Result<()> {
        self.recorder.record(draft.dated(self.clock.tick()))?;
        if let Received::Event(event) = self.echo.try_recv() {
            self.summary.add(&event);
        }
        Ok(())
    }
}

impl Step {
    fn started(&self, detail: StepStarted) -> StepStarted {
        StepStarted {
            name: self.name.clone(),
            kind: self.kind.to_owned(),
            attempt: Some(self.attempt),
            ..detail
        }
    }
}

/// What a command step is about to run.
pub(super) fn command(line: &str) -> StepStarted {
    StepStarted { blocks: Some(vec![ContentBlock::command(line)]), ..StepStarted::default() }
}

/// Who does an agent step.
pub(super) fn agent(provider: &str, model: &str) -> StepStarted {
    let agent = Agent {
        provider: Some(provider.to_owned()),
        model: Some(model.to_owned()),
        ..Agent::default()
    };
    StepStarted { agent: Some(agent), ..StepStarted::default() }
}

/// What a command step came to.
pub(super) fn exited(code: i64, stdout: &str, stderr: &str) -> anyhow::Result<StepCompleted> {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let result = StepResult {
        stdout: text(stdout),
        stderr: text(stderr),
        exit_code: Some(code),
        ..StepResult::default()
    };
    let error = (code != 0).then(|| format!("exit code {code}"));
    Ok(StepCompleted { error, result: Some(Json::encode(&result)?), ..StepCompleted::default() })
}

/// What an agent step came to.
pub(super) fn answered(output: &str) -> anyhow::Result<StepCompleted> {
    let result = StepResult { output: Some(output.to_owned()), ..StepResult::default() };
    Ok(StepCompleted { result: Some(Json::encode(&result)?), ..StepCompleted::default() })
}
