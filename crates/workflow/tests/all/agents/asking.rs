//! How tests ask, and how they look at what came of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use quipu_event::payload::{System, TokenCounts, Usage};
use quipu_event::{BlockContent, Draft, Kind, Payload, StepPath};
use quipu_testkit::StillClock;
use quipu_testkit::fake_agent::{self, Call};
use quipu_workflow::agent::{AgentSettings, Desk, NextLine, Nobody, Person, ask};
use quipu_workflow::definition::AgentMode;
use quipu_workflow::display::DisplayEvent;
use quipu_workflow::engine::{AgentJob, Occurrence, Outcome};
use quipu_workflow::operation::OperationSettings;
use quipu_workflow::process::StopReason;
use quipu_workflow::scribe::Scribe;
use quipu_workflow::toolbox::{Place, ToolSettings, Toolbox};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

/// The agents that have a program: what workflows call them, and whose language they speak.
pub(crate) const AGENTS: [(&str, &str); 5] = [
    ("claude", "claude"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("github_copilot", "copilot"),
    ("opencode", "opencode"),
];

/// Collects what is recorded and shown.
#[derive(Default)]
pub(crate) struct Collected {
    pub(crate) drafts: Mutex<Vec<Draft>>,
    pub(crate) shown: Mutex<Vec<DisplayEvent>>,
    /// Told whenever something is recorded.
    pub(crate) news: watch::Sender<usize>,
}

impl Scribe for Collected {
    fn record(&self, draft: Draft) {
        self.drafts.lock().unwrap().push(draft);
        self.news.send_modify(|count| *count += 1);
    }

    fn show(&self, event: DisplayEvent) {
        self.shown.lock().unwrap().push(event);
        self.news.send_modify(|count| *count += 1);
    }
}

/// A person who says some lines and is gone.
pub(crate) struct Lines(Mutex<Vec<String>>);

impl Lines {
    pub(crate) fn new(lines: &[&str]) -> Arc<Self> {
        Arc::new(Lines(Mutex::new(lines.iter().rev().map(|line| (*line).to_owned()).collect())))
    }
}

impl Person for Lines {
    fn next_line<'a>(&'a self, _: &'a Occurrence, _: &'a str) -> NextLine<'a> {
        Box::pin(async { self.0.lock().unwrap().pop() })
    }
}

/// A question that is about to be asked.
pub(crate) struct Asking {
    pub(crate) job: AgentJob,
    pub(crate) settings: AgentSettings,
    pub(crate) tools: ToolSettings,
    pub(crate) person: Arc<dyn Person>,
    pub(crate) stop: watch::Sender<Option<StopReason>>,
    pub(crate) collected: Arc<Collected>,
    pub(crate) folder: TempDir,
}

/// What came of a question.
pub(crate) struct Asked {
    pub(crate) outcome: Outcome,
    pub(crate) drafts: Vec<Draft>,
    pub(crate) shown: Vec<DisplayEvent>,
    pub(crate) calls: Vec<Call>,
    pub(crate) settings: Arc<AgentSettings>,
}

impl Asking {
    pub(crate) fn new(provider: &str, prompt: &str) -> Self {
        let job = AgentJob {
            provider: provider.to_owned(),
            command: None,
            prompt: prompt.to_owned(),
            skills: Vec::new(),
            system_prompt: None,
            options: serde_json::Map::new(),
            output_format: None,
            mode: AgentMode::Single,
            resume: None,
            max_turns: None,
            stop_condition: None,
            env: BTreeMap::new(),
            mcp_proxy: None,
        };
        Asking {
            job,
            settings: AgentSettings::default(),
            tools: ToolSettings {
                builtins: Vec::new(),
                ..ToolSettings::new(OperationSettings::from_variables("/", |_| None))
            },
            person: Arc::new(Nobody),
            stop: watch::channel(None).0,
            collected: Arc::default(),
            folder: TempDir::new().unwrap(),
        }
    }

    /// Has the fake agent play `script` in place of the provider's own program.
    pub(crate) fn of_fake(provider: &str, language: &str, prompt: &str, script: &Value) -> Self {
        let mut asking = Asking::new(provider, prompt);
        let file = asking.folder.path().join("script.json");
        fs::write(&file, script.to_string()).unwrap();
        let program = fake_agent::program().to_str().unwrap().to_owned();
        asking.job.command = Some(vec![program, language.to_owned()]);
        let variable = |name: &str, path: PathBuf| (name.to_owned(), path.display().to_string());
        asking.job.env.extend([
            variable("QUIPU_FAKE_SCRIPT", file),
            variable("QUIPU_FAKE_LOG", asking.log()),
        ]);
        asking
    }

    pub(crate) fn option(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.job.options.insert(key.to_owned(), value.into());
        self
    }

    pub(crate) fn system(mut self, system: &str) -> Self {
        self.job.system_prompt = Some(system.to_owned());
        self
    }

    pub(crate) fn conversation(mut self, lines: &[&str]) -> Self {
        self.job.mode = AgentMode::Conversation;
        self.person = Lines::new(lines);
        self
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("calls.jsonl")
    }

    pub(crate) async fn ask(self) -> Asked {
        let log = self.log();
        let settings = Arc::new(self.settings);
        let (env, none) = (BTreeMap::new(), BTreeMap::new());
        let place = Place { env: &env, dir: self.folder.path(), marks: &|_| BTreeMap::new() };
        let desk = Desk {
            at: Occurrence { path: StepPath::from("each[2].review"), iteration: 2, attempt: 1 },
            scribe: self.collected.clone(),
            stop: self.stop.subscribe(),
            person: self.person,
            settings: settings.clone(),
            dir: self.folder.path().to_owned(),
            toolbox: Arc::new(Toolbox::open(&Arc::new(self.tools), &none, &place)),
            marks: Arc::default(),
            clock: Arc::new(StillClock),
        };
        // A driver runs many of them at once, on many threads.
        let outcome = tokio::spawn(ask(self.job, desk)).await.unwrap();
        let drafts = std::mem::take(&mut *self.collected.drafts.lock().unwrap());
        let shown = std::mem::take(&mut *self.collected.shown.lock().unwrap());
        for draft in &drafts {
            assert_eq!((draft.path.as_str(), draft.iteration), ("each[2].review", 2), "{draft:?}");
        }
        Asked { outcome, drafts, shown, calls: Call::logged(&log), settings }
    }

    /// Asks, and stops it as soon as `is_time`.
    pub(crate) async fn ask_and_stop(
        self,
        reason: StopReason,
        is_time: impl Fn(&Collected) -> bool + Send + 'static,
    ) -> Asked {
        let (stop, collected) = (self.stop.clone(), self.collected.clone());
        let mut news = collected.news.subscribe();
        tokio::spawn(async move {
            while !is_time(&collected) {
                news.changed().await.unwrap();
            }
            stop.send_replace(Some(reason));
        });
        self.ask().await
    }
}

impl Collected {
    pub(crate) fn has(&self, kind: &Kind) -> bool {
        self.drafts.lock().unwrap().iter().any(|draft| draft.kind == *kind)
    }
}

impl Asked {
    pub(crate) fn of(&self, kind: &Kind) -> Vec<&Draft> {
        self.drafts.iter().filter(|draft| draft.kind == *kind).collect()
    }

    pub(crate) fn payloads(&self, kind: &Kind) -> Vec<Value> {
        self.of(kind).iter().map(|draft| draft.payload.decode().unwrap()).collect()
    }

    /// Returns the facts of a subtype.
    pub(crate) fn facts(&self, subtype: &str) -> Vec<serde_json::Map<String, Value>> {
        let systems = self.of(&Kind::System).into_iter();
        let systems = systems.map(|draft| draft.payload.decode::<System>().unwrap());
        systems.filter(|system| system.subtype == subtype).map(|system| system.facts).collect()
    }

    /// Returns all texts that the agent itself said.
    pub(crate) fn texts(&self) -> Vec<String> {
        let own =
            self.of(&Kind::MessageAssistant).into_iter().filter(|draft| draft.source.is_none());
        own.flat_map(|draft| match Payload::decode(&draft.kind, &draft.payload).unwrap() {
            Payload::Message(message) => message.blocks,
            _ => Vec::new(),
        })
        .filter_map(|block| match block.content {
            BlockContent::Text { text } => Some(text),
            _ => None,
        })
        .collect()
    }

    /// Returns the sum over all `usage` events.
    pub(crate) fn usage(&self) -> TokenCounts {
        let mut sum = TokenCounts::default();
        for draft in self.of(&Kind::Usage) {
            sum.add(&draft.payload.decode::<Usage>().unwrap().tokens());
        }
        sum
    }

    pub(crate) fn call(&self) -> &Call {
        assert_eq!(self.calls.len(), 1);
        &self.calls[0]
    }
}
