//! A run as a page that people read: `<run-id>.md`.
//!
//! Every event is shown where it happened, the numbers of `usage` events in a table at the end. Long
//! outputs lose their middle unless all is asked for; what was said is never shortened. Nothing that
//! a run says can be taken for a part of the page.

mod address;
mod asked;
mod escape;
mod fact;
mod fence;
mod link;
mod message;
mod opening;
mod place;
mod run;
mod speech;
mod step;
mod tool;
mod value;
mod visible;

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::payload::{Message, RunStarted, ToolStatus};
use quipu_event::{BlockContent, Event, Kind, Payload};

use crate::files::{FileView, Losses, Shelf};
use crate::reading::{Shape, read, step_path};
use crate::receipt::Day;
use asked::Asked;
use place::Place;
use run::Outcome;
pub(crate) use speech::lead_of;

/// So many replies are known again when a step gives one as its result.
const REPLIES: usize = 32;

/// How much of a long output is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// Its beginning and its end, with a note of how much is between them.
    #[default]
    Short,
    /// All of it.
    Full,
}

/// Folds a run into a page of Markdown.
#[derive(Default)]
pub struct MarkdownView {
    length: Length,
    /// The name of the page, once it has begun.
    file: Option<String>,
    place: Place,
    /// The day of what was shown last.
    day: Option<Day>,
    asked: Asked,
    outcome: Outcome,
    /// What replies said last, as hashes.
    replies: VecDeque<u64>,
    losses: Losses,
    out: String,
}

impl MarkdownView {
    /// Begins a page.
    pub fn new(length: Length) -> Self {
        MarkdownView { length, ..MarkdownView::default() }
    }

    /// Hands over what has been written.
    fn hand_over(&mut self, shelf: &mut dyn Shelf) {
        if let Some(file) = &self.file {
            let visible = visible::made_visible(&self.out);
            shelf.append(file, visible.as_ref().unwrap_or(&self.out).as_bytes());
        }
        self.out.clear();
    }

    fn begin(&mut self, event: &Event, payload: &Payload) {
        self.file = Some(format!("{}.md", event.run_id));
        let name = match payload {
            Payload::RunStarted(run) => &run.name,
            Payload::RunCreated(run) => &run.name,
            _ => "",
        };
        run::title(&mut self.out, event, name);
        if !matches!(payload, Payload::RunStarted(_)) {
            self.out.push('\n');
        }
    }

    fn count(&mut self, event: &Event, payload: &Payload) {
        let failed = |status: &Option<ToolStatus>| {
            status.as_ref().is_some_and(|status| *status != ToolStatus::Completed)
        };
        let [events, messages, calls, failures, errors, unknown] = &mut self.outcome.counts;
        *events += 1;
        match (&event.kind, payload) {
            (Kind::MessageUser | Kind::MessageAssistant, _) => *messages += 1,
            (Kind::ToolCall, _) => *calls += 1,
            (_, Payload::ToolResult(result)) if failed(&result.status) => *failures += 1,
            (Kind::Error, _) => *errors += 1,
            (Kind::Unknown, _) => *unknown += 1,
            _ => {}
        }
        let (first, last) = self.outcome.span.unwrap_or((event.timestamp, event.timestamp));
        self.outcome.span = Some((first.min(event.timestamp), last.max(event.timestamp)));
    }

    /// Says before what was written from `before` on that it happened on another day.
    fn tell_day(&mut self, event: &Event, before: usize) {
        let day = Day::of(event.timestamp);
        let is_told = self.out.len() == before || self.day == Some(day);
        if !is_told && self.day.replace(day).is_some() {
            self.out.insert_str(before, &format!("*on {day}:*\n\n"));
        }
    }

    fn write(&mut self, event: &Event, payload: Payload) {
        let (out, length) = (&mut self.out, self.length);
        match &payload {
            Payload::StepStarted(step) => {
                return step::started(out, event, step, &mut self.place, length);
            }
            Payload::RunStarted(run) => return self.write_start(event, run),
            Payload::RunCompleted(run) => {
                return self.outcome.note_end(run.as_ref().clone(), event);
            }
            // The receipt has it.
            Payload::Usage(_) | Payload::RunCreated(_) => return,
            Payload::StepCompleted(step) => self.place.end(out, &step_path(event, &step.name)),
            _ => self.place.turn_to(out, &event.path),
        }
        match payload {
            Payload::StepCompleted(step) => {
                let replies = &self.replies;
                let was_said = |text: &str| replies.contains(&hash(text));
                step::completed(out, event, &step, was_said, length);
            }
            Payload::Message(message) => self.write_message(event, &message),
            Payload::ToolCall(call) => {
                self.asked.made(event, &call.call_id);
                tool::call(out, event, &call, length);
            }
            Payload::ToolResult(result) => tool::result(out, event, &result, length),
            Payload::System(system) => fact::system(out, event, &system, length),
            Payload::Error(error) => fact::error(out, event, &error, length),
            Payload::Unknown(record) => fact::unknown(out, event, &record, length),
            Payload::File(file) => fact::file(out, event, &file),
            Payload::Deliverable(check) => fact::deliverable(out, event, &check),
            Payload::Facts(facts) => fact::facts(out, event, &facts, length),
            _ => fact::facts(out, event, &event.payload, length),
        }
    }

    fn write_start(&mut self, event: &Event, run: &RunStarted) {
        let out = &mut self.out;
        if self.outcome.counts[0] > 1 {
            // Something was recorded before the run said who it is.
            opening::open(out, "Run", &run.name);
            opening::close(out, event);
        }
        run::started(out, run, self.length);
    }

    fn write_message(&mut self, event: &Event, message: &Message) {
        self.asked.speak(&mut self.out, event, self.length);
        message::message(&mut self.out, event, message, self.length, &mut self.asked);
        if event.kind != Kind::MessageAssistant {
            return;
        }
        for block in &message.blocks {
            if let BlockContent::Text { text } = &block.content {
                self.replies.push_back(hash(text));
            }
        }
        while self.replies.len() > REPLIES {
            self.replies.pop_front();
        }
    }
}

impl FileView for MarkdownView {
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        let reading = read(event);
        if self.file.is_none() {
            self.begin(event, &reading.payload);
        }
        self.count(event, &reading.payload);
        self.outcome.add_to_receipt(event);
        let before = self.out.len();
        match reading.shape {
            Shape::Undecoded => {
                self.place.turn_to(&mut self.out, &event.path);
                fact::undecoded(&mut self.out, event, self.length);
                if let Payload::RunCompleted(run) = reading.payload {
                    self.outcome.note_end(*run, event);
                }
            }
            Shape::Sound => self.write(event, reading.payload),
        }
        self.tell_day(event, before);
        self.hand_over(shelf);
    }

    fn finish(&mut self, shelf: &mut dyn Shelf) {
        if self.file.is_some() {
            self.asked.finish(&mut self.out, self.length);
            self.outcome.write(&mut self.out, self.length);
            self.hand_over(shelf);
        }
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.trim().hash(&mut hasher);
    hasher.finish()
}
