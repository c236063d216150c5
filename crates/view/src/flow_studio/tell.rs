//! A run of ours in Flow Studio's words: which event goes where. What was said goes to the step's
//! transcript, what it took to its receipt, and that anything happened at all to the log.

use quipu_event::payload::{Agent, Payload, RunKind, RunStarted};
use quipu_event::{Event, Kind, RunId};

use super::execution::Execution;
use super::log::Log;
use super::names::safe;
use super::slots::{Key, Slots};
use crate::files::Shelf;
use crate::reading::{Shape, read};

/// See the top of this file.
pub(super) struct Telling {
    run: RunId,
    kind: RunKind,
    /// What the run is called.
    name: String,
    /// The agent of the whole run, if it has one.
    agent: Agent,
    /// The agent's own name for its session, if the run is one.
    session: Option<String>,
    is_stub: bool,
    /// Whether its writer tells prompts apart by their place alone.
    pub(super) prompts_by_place: bool,
    pub(super) log: Log,
    pub(super) slots: Slots,
}

impl Telling {
    /// Makes ready for the run that begins with `event`.
    pub(super) fn new(event: &Event) -> Self {
        let (name, kind) = match event.decode_payload() {
            Ok(Payload::RunStarted(run)) => (run.name, run.kind),
            Ok(Payload::RunCreated(run)) => (run.name, run.kind),
            _ => (String::new(), RunKind::default()),
        };
        let flow = match (&kind, name.as_str()) {
            (RunKind::Session, _) => "session".to_owned(),
            (_, "") => "run".to_owned(),
            // The run's own files have these names.
            (_, name @ ("events.jsonl" | "meta.json")) => format!("_{name}"),
            (_, name) => safe(name),
        };
        Telling {
            run: event.run_id.clone(),
            kind,
            name,
            agent: Agent::default(),
            session: None,
            is_stub: false,
            prompts_by_place: true,
            log: Log::new(event, flow.clone()),
            slots: Slots::new(event.run_id.as_str(), flow),
        }
    }

    /// Takes the next event and returns whether it has a place in the files.
    pub(super) fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) -> bool {
        self.log.note_time(event.timestamp);
        let is_own = event.run_id == self.run;
        let reading = self.read(event);
        if !matches!(event.kind, Kind::RunCreated | Kind::RunStarted) {
            // A run that never said so has begun all the same.
            self.log.create(event, shelf);
        }
        let Some(payload) = reading else { return self.note(event, shelf) };
        match payload {
            Payload::RunCreated(_) if is_own => self.log.create(event, shelf),
            Payload::RunStarted(run) if is_own => self.start(event, &run, shelf),
            Payload::RunCompleted(run) if is_own => self.log.complete(event, &run, shelf),
            Payload::StepStarted(step) => self.begin_step(event, &step, shelf),
            Payload::StepCompleted(step) => self.end_step(event, &step, shelf),
            Payload::Message(message) => return self.say(event, &message, shelf),
            Payload::ToolCall(call) => self.call(event, &call, shelf),
            Payload::ToolResult(result) => self.answer(event, &result, shelf),
            Payload::Usage(usage) => {
                let execution = self.at(event, shelf);
                execution.note_model(usage.model.as_deref());
                execution.tokens.add(&usage.tokens());
            }
            Payload::System(system) => self.note_system(event, &system, shelf),
            Payload::Error(error) => self.fail(event, &error, shelf),
            Payload::File(file) if event.kind == Kind::FileWritten => {
                self.note_file(event, &file, shelf);
            }
            Payload::Unknown(unknown) => self.note_unknown(event, &unknown, shelf),
            _ => return self.note(event, shelf),
        }
        true
    }

    /// Ends what is open and writes the run in short.
    pub(super) fn finish(&mut self, shelf: &mut dyn Shelf) {
        let status = self.log.status();
        let keys: Vec<_> = self.slots.open.keys().cloned().collect();
        for key in keys {
            if let (Some(execution), Some((status, at))) = (self.slots.open.get_mut(&key), &status)
            {
                execution.end_with_run(status, *at);
            }
            self.slots.close(&key, shelf);
        }
        self.slots.finish(shelf);
        self.log.put_meta(shelf);
    }

    /// Returns the execution that `event` belongs to, begun if need be.
    pub(super) fn at(&mut self, event: &Event, shelf: &mut dyn Shelf) -> &mut Execution {
        let key = self.key_of(event);
        if !self.slots.open.contains_key(&key) && !self.slots.reopen(event) {
            self.begin_unannounced(event, shelf);
        }
        let execution = self.slots.open.get_mut(&key).expect("it was found or begun just now");
        execution.latest = event.timestamp;
        execution
    }

    /// Returns what a new execution is by default: the work of the run's own agent.
    pub(super) fn by_run(
        &self,
        event: &Event,
        agent: Option<Agent>,
        worker: Option<&str>,
    ) -> Execution {
        let agent = agent.unwrap_or_else(|| self.agent.clone());
        let mut execution = Execution::new(event, agent, worker);
        execution.is_stub |= self.is_stub && worker.is_none();
        execution
    }

    fn begin_unannounced(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        let step = self.slots.step_id(&event.path, "");
        let parent = (event.path.clone(), None);
        let agent = self.slots.open.get(&parent).map(|execution| execution.agent.clone());
        let mut execution = self.by_run(event, agent, None);
        if event.path.is_root() && event.source.is_none() {
            execution.session.clone_from(&self.session);
        }
        let key = match event.source.as_deref() {
            Some(source) => source.strip_prefix("subagent:").unwrap_or(source).to_owned(),
            None => execution.agent.label().unwrap_or("agent").to_owned(),
        };
        self.slots.begin(execution, &step, &key, shelf);
    }

    /// Returns under which key the execution of `event` is open, or would be.
    pub(super) fn key_of(&self, event: &Event) -> Key {
        let key = (event.path.clone(), event.source.clone());
        let only = (!self.slots.open.contains_key(&key)).then(|| self.only_open(event)).flatten();
        only.unwrap_or(key)
    }

    /// Some writers say a message at the workflow's name, or at no path: it is of the only step
    /// that is at work.
    fn only_open(&self, event: &Event) -> Option<Key> {
        let is_run_level = event.path.is_root() || event.path.as_str() == self.name;
        if self.kind != RunKind::Workflow || event.source.is_some() || !is_run_level {
            return None;
        }
        let mut open = self.slots.open.keys().filter(|(_, source)| source.is_none());
        open.next().filter(|_| open.next().is_none()).cloned()
    }

    /// Decodes a payload; nothing where it has not the shape of its type.
    fn read(&self, event: &Event) -> Option<Payload> {
        let reading = read(event);
        if reading.shape == Shape::Sound {
            return Some(reading.payload);
        }
        let payload = quipu_event::mend_surrogates(event.payload.as_str());
        let mended = Event { payload: quipu_event::Json::from_valid(&payload), ..event.clone() };
        let reading = read(&mended);
        let ends = matches!(reading.payload, Payload::RunCompleted(_) | Payload::StepCompleted(_));
        (reading.shape == Shape::Sound || ends).then_some(reading.payload)
    }

    fn start(&mut self, event: &Event, run: &RunStarted, shelf: &mut dyn Shelf) {
        self.kind = run.kind.clone();
        if self.name.is_empty() {
            self.name.clone_from(&run.name);
        }
        self.prompts_by_place = run.format.is_none();
        let labels = run.labels.as_ref();
        // The second is how a run says that it was asked to be one.
        let says = |key: &str| labels.and_then(|l| l.get(key)).is_some_and(|stub| stub == "true");
        self.is_stub |= says("stub") || says("set.stub");
        if let Some(agent) = &run.agent {
            self.agent = agent.clone();
        }
        self.session.clone_from(&run.session_id);
        self.log.start(event, run, shelf);
    }
}
