//! The kgent layout: an event log for machines, a transcript for people, and logs of tools and errors.
//!
//! Each event becomes no line, one or several. Lines are added while events come in; only
//! `transcript.md` and `run.json` are written anew. What was said is told in few words, never whole.

mod brief;
mod calls;
mod errors;
mod facts;
mod files;
mod governance;
mod identity;
mod ledger;
mod measure;
mod paper;
mod runs;
mod state;
mod tools;
mod touched;
mod wire;

use quipu_event::payload::System;
use quipu_event::{Event, Kind, Payload};

use calls::Calls;
use facts::Recall;
use identity::Identity;
use ledger::{At, Ledger};
use paper::Paper;
use state::State;

use crate::{FileView, Losses, Shelf, reading};

/// So many events wait for the run to say whose it is.
const MOST_HELD: usize = 16;

/// What the layout is to know beside the events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KgentOptions {
    /// The absolute path of the folder that the layout is put into.
    ///
    /// With it, links of `transcript.md` lead to the deliverables where they are. Without it they
    /// are relative to the run's working directory.
    pub root: Option<String>,
}

/// Folds the events of one run into `runs/<run-id>/` as kgent lays it out.
#[derive(Default)]
pub struct KgentView {
    options: KgentOptions,
    losses: Losses,
    held: Vec<Event>,
    run: Option<Run>,
}

/// A run of which it is known whose it is.
struct Run {
    ledger: Ledger,
    calls: Calls,
    recalls: Vec<Recall>,
    /// The check of deliverables that has not ended.
    check: Option<String>,
    state: State,
    paper: Paper,
    events: u64,
    last_seq: u64,
}

impl KgentView {
    /// Begins a run.
    pub fn new(options: KgentOptions) -> Self {
        KgentView { options, ..KgentView::default() }
    }

    /// Begins the files of the run, and takes the events that waited for that.
    fn settle(&mut self, shelf: &mut dyn Shelf) {
        let held = std::mem::take(&mut self.held);
        let (Some(identity), Some(first)) = (Identity::of(held.iter()), held.first()) else {
            return;
        };
        let mut run = Run {
            ledger: Ledger::new(identity),
            calls: Calls::default(),
            recalls: Vec::new(),
            check: None,
            state: State::new(first.timestamp),
            paper: Paper::new(self.options.root.clone()),
            events: 0,
            last_seq: 0,
        };
        // Every file is there from the first event on, whatever becomes of the run.
        for file in ["events.jsonl", "logs/tools.jsonl", "logs/errors.jsonl"] {
            shelf.append(&format!("{}/{file}", run.ledger.folder), b"");
        }
        run.write(shelf, Page::SoFar);
        for event in &held {
            run.take(event, &mut self.losses, shelf);
        }
        self.run = Some(run);
    }
}

impl FileView for KgentView {
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        if let Some(run) = &mut self.run {
            return run.take(event, &mut self.losses, shelf);
        }
        let may_wait = identity::may_precede_the_start(&event.kind);
        self.held.push(event.clone());
        if !may_wait || self.held.len() >= MOST_HELD {
            self.settle(shelf);
        }
    }

    fn finish(&mut self, shelf: &mut dyn Shelf) {
        self.settle(shelf);
        if let Some(run) = &mut self.run {
            run.settle_files(shelf);
            run.settle_calls(shelf);
            run.write(shelf, Page::Whole);
        }
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }
}

impl Run {
    fn take(&mut self, event: &Event, losses: &mut Losses, shelf: &mut dyn Shelf) {
        self.state.go_on(event.timestamp, !identity::may_precede_the_start(&event.kind));
        if !may_concern_files(&event.kind) {
            self.settle_files(shelf);
        }
        // In a broken transcript a number may come back; the names of events still differ.
        self.events += 1;
        let echo = (event.seq <= self.last_seq).then_some(self.events);
        self.last_seq = self.last_seq.max(event.seq);
        let at = At::of(event, echo);
        if !self.tell(event, &at, losses, shelf) {
            losses.leave_out(event);
        }
        // Whoever watches a run that goes on sees most of it, and a long one is not written anew
        // with every event.
        if self.events.is_power_of_two() {
            self.write(shelf, Page::SoFar);
        }
    }

    /// Tells of an event. Tells whether the layout had a place for it.
    fn tell(&mut self, event: &Event, at: &At, losses: &mut Losses, shelf: &mut dyn Shelf) -> bool {
        match reading::read(event).payload {
            Payload::RunCreated(created) => self.created(at, &created, shelf),
            Payload::RunStarted(started) => self.started(at, &started, shelf),
            Payload::RunCompleted(completed) => self.completed(at, &completed, shelf),
            Payload::ToolCall(call) => self.call(at, &call, shelf),
            Payload::ToolResult(result) => self.result(at, &result, shelf),
            Payload::File(file) => self.file(at, &event.kind, &file, shelf),
            Payload::Deliverable(check) => self.deliverable(at, &event.kind, &check, shelf),
            Payload::Error(report) => self.error(at, &report, shelf),
            Payload::Message(message) if event.kind == Kind::MessageUser => {
                return self.prompt(at, &message, shelf);
            }
            Payload::Message(message) => return self.paper.said(at, &message, losses),
            Payload::StepStarted(step) => return self.paper.step_started(at, &step),
            Payload::StepCompleted(step) => {
                let child = event.child_run_id.as_ref().map(|child| child.as_str());
                self.paper.step_ended(at, &step, child, losses);
                if step.status.as_ref().is_some_and(|status| status.is_failure()) {
                    self.failed_step(at, &step, shelf);
                }
            }
            Payload::System(system) => return self.noted(&system),
            Payload::Usage(usage) => {
                self.paper.used(&usage);
                return false;
            }
            Payload::Facts(_) | Payload::Absent if is_fact(&event.kind) => {
                self.fact(at, &event.kind, &event.payload, shelf);
            }
            payload => return self.tell_blank(event, at, &payload, shelf),
        }
        true
    }

    /// Tells of an event whose payload says nothing.
    fn tell_blank(
        &mut self,
        event: &Event,
        at: &At,
        payload: &Payload,
        shelf: &mut dyn Shelf,
    ) -> bool {
        if !matches!(payload, Payload::Absent) {
            return false;
        }
        match &event.kind {
            Kind::RunCreated => self.created(at, &Default::default(), shelf),
            Kind::RunStarted => self.started(at, &Default::default(), shelf),
            Kind::Error => self.error(at, &Default::default(), shelf),
            kind @ (Kind::FileRead | Kind::FileWritten | Kind::FileRejected) => {
                self.file(at, kind, &Default::default(), shelf);
            }
            kind @ (Kind::DeliverableCheckStarted
            | Kind::DeliverableCheckCompleted
            | Kind::DeliverableMissing) => {
                self.deliverable(at, kind, &Default::default(), shelf);
            }
            _ => return false,
        }
        true
    }

    /// Takes a note that somebody left on the run. Tells whether it was one.
    fn noted(&mut self, system: &System) -> bool {
        if system.subtype != "note" {
            return false;
        }
        let said = |key: &str| system.facts.get(key).and_then(|value| value.as_str());
        let content = said("content").or_else(|| said("text")).unwrap_or_default();
        self.paper.noted(said("title").unwrap_or_default(), content);
        true
    }

    /// Writes what is written anew.
    fn write(&self, shelf: &mut dyn Shelf, page: Page) {
        let so_far = (page == Page::SoFar).then_some(self.events);
        let transcript = self.paper.write(&self.ledger, &self.state, so_far);
        shelf.put(&format!("{}/transcript.md", self.ledger.folder), transcript.as_bytes());
        self.state.write(&self.ledger, shelf);
    }
}

/// What the page of a run tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Page {
    /// What has come so far; there may be more.
    SoFar,
    /// All there is.
    Whole,
}

/// Tells whether the transcript may still say itself what a call that has ended did to files.
fn may_concern_files(kind: &Kind) -> bool {
    let files = matches!(kind, Kind::FileRead | Kind::FileWritten | Kind::FileRejected);
    files || matches!(kind, Kind::ToolResult | Kind::Usage | Kind::System)
}

fn is_fact(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::ConfigLoaded
            | Kind::PromptRendered
            | Kind::SkillIndexed
            | Kind::SkillLoaded
            | Kind::MemoryRecallStarted
            | Kind::MemoryRecallCompleted
            | Kind::MemoryWriteRequested
    )
}
