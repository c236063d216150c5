//! A recorded run, told again as it was seen.
//!
//! Most events are seen as they were when they happened, through the same projection. What was
//! shown without an event of its own is put together from what the transcript says instead: which
//! iteration a loop is in, and what commands wrote.

use std::collections::HashMap;

use quipu_event::payload::Payload;
use quipu_event::{Event, Kind, RunId, StepPath, Timestamp};

use super::{DisplayEvent, OutputLines, Projector};
use crate::engine::Occurrence;
use crate::language::Value;

/// The streams of a command, in the order in which they are told.
const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// Tells one run again, event by event.
pub struct Retelling {
    projector: Projector,
    loops: HashMap<StepPath, Loop>,
    /// When the steps began that run.
    begun: HashMap<StepPath, Timestamp>,
    /// The streams that were recorded in pieces, because they were long.
    pieces: HashMap<(StepPath, &'static str), OutputLines>,
}

/// A loop that runs.
#[derive(Default)]
struct Loop {
    total: Option<u64>,
    index: Option<u64>,
}

impl Retelling {
    /// Begins to tell the run `run`.
    pub fn new(run: RunId) -> Retelling {
        let projector = Projector::new(run);
        let (loops, begun, pieces) = (HashMap::new(), HashMap::new(), HashMap::new());
        Retelling { projector, loops, begun, pieces }
    }

    /// Returns what was to be seen of the next event of the run.
    pub fn tell(&mut self, event: &Event) -> Vec<DisplayEvent> {
        let mut seen = match &event.kind {
            Kind::StepStarted | Kind::CallWorkflowStarted => {
                self.begun.insert(event.path.clone(), event.timestamp);
                self.turns(&event.path)
            }
            Kind::StepCompleted | Kind::CallWorkflowCompleted => {
                self.loops.remove(&event.path);
                self.written(event)
            }
            Kind::RunCompleted => self.ended(event),
            Kind::System => self.noted(event),
            _ => Vec::new(),
        };
        seen.extend(self.projector.project(event));
        self.time(event, &mut seen);
        seen
    }

    /// Says how long a step took whose end does not: other writers leave that to the timestamps.
    fn time(&mut self, event: &Event, seen: &mut [DisplayEvent]) {
        let Some(DisplayEvent::StepCompleted { duration_ms, .. }) = seen.last_mut() else { return };
        let Some(began) = self.begun.remove(&event.path) else { return };
        if let Ok(Payload::StepCompleted(completed)) = event.decode_payload()
            && completed.duration_ms.is_none()
        {
            *duration_ms = event.timestamp.millis_since(began);
        }
    }

    /// Returns which loops around a step went on to the iteration that it is in.
    fn turns(&mut self, path: &StepPath) -> Vec<DisplayEvent> {
        let mut turns = Vec::new();
        for (around, index, iteration) in loops_around(path) {
            let known = self.loops.entry(around.clone()).or_default();
            if known.index.replace(index) != Some(index) {
                let total = known.total;
                let attempt = self.projector.attempt(&around);
                let at = Occurrence { path: around, iteration, attempt };
                turns.push(DisplayEvent::Iteration { at, index, total });
            }
        }
        turns
    }

    /// Takes what the run notes of loops, and of streams that are too long for the end of their step.
    fn noted(&mut self, event: &Event) -> Vec<DisplayEvent> {
        let Ok(Payload::System(system)) = event.decode_payload() else { return Vec::new() };
        let number = |key: &str| system.facts.get(key).and_then(Value::as_u64);
        let text = |key: &str| system.facts.get(key).and_then(Value::as_str);
        let total = match system.subtype.as_str() {
            "loop_items" => number("count"),
            "loop_truncated" => number("max_iterations"),
            "hook" | "hook_failed" => {
                let mut seen = self.output(event, "stdout", lines_of(text("output"), "\n"));
                seen.extend(self.output(event, "stderr", lines_of(text("stderr"), "")));
                return seen;
            }
            // Of a step's command, and of a program that ran under the recorder.
            subtype @ ("output" | "stdout" | "stderr") => {
                let named = if subtype == "output" { text("stream") } else { Some(subtype) };
                let stream = STREAMS.into_iter().find(|stream| named == Some(stream));
                let (Some(stream), Some(text)) = (stream, text("text")) else { return Vec::new() };
                let key = (event.path.clone(), stream);
                let lines = self.pieces.entry(key).or_default().take(text.as_bytes());
                return self.output(event, stream, lines);
            }
            _ => None,
        };
        if total.is_some() {
            self.loops.entry(event.path.clone()).or_default().total = total;
        }
        Vec::new()
    }

    /// Returns what a command wrote, of what has not been told in pieces.
    fn written(&mut self, event: &Event) -> Vec<DisplayEvent> {
        let completed = match event.decode_payload() {
            Ok(Payload::StepCompleted(completed)) => completed,
            _ => return Vec::new(),
        };
        let result = completed.result.as_ref().and_then(|result| result.decode::<Value>().ok());
        let text = |stream: &str| result.as_ref()?.get(stream)?.as_str();
        let is_command = completed.kind == "command" || text("stdout").is_some();
        let mut seen = Vec::new();
        for stream in STREAMS {
            let lines: Vec<String> = match self.pieces.remove(&(event.path.clone(), stream)) {
                Some(mut told) => told.finish().into_iter().collect(),
                None if is_command => lines_of(text(stream), ""),
                None => Vec::new(),
            };
            seen.extend(self.output(event, stream, lines));
        }
        seen
    }

    /// Returns what a program that is over left without a line end.
    fn ended(&mut self, event: &Event) -> Vec<DisplayEvent> {
        let mut seen = Vec::new();
        for stream in STREAMS {
            let rest = self.pieces.remove(&(event.path.clone(), stream));
            let rest = rest.and_then(|mut lines| lines.finish()).into_iter().collect();
            seen.extend(self.output(event, stream, rest));
        }
        seen
    }

    fn output(&self, event: &Event, stream: &'static str, lines: Vec<String>) -> Vec<DisplayEvent> {
        let (path, iteration) = (event.path.clone(), event.iteration);
        let at = Occurrence { attempt: self.projector.attempt(&path), path, iteration };
        let shown = |text| DisplayEvent::Output { at: at.clone(), stream, text };
        lines.into_iter().map(shown).collect()
    }
}

/// Returns a whole text in the pieces in which it was shown. `end`: what it ended with, where a
/// transcript leaves that out.
fn lines_of(text: Option<&str>, end: &str) -> Vec<String> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Vec::new() };
    let mut lines = OutputLines::default();
    let mut all = lines.take(text.as_bytes());
    all.extend(lines.take(end.as_bytes()));
    all.extend(lines.finish());
    all
}

/// Returns the loops around a step from the outside in: where each is, which iteration of it the
/// step is in, and which iteration of the next outer one the loop itself is in.
fn loops_around(path: &StepPath) -> Vec<(StepPath, u64, u64)> {
    let mut loops = Vec::new();
    let (mut here, mut outer) = (StepPath::root(), 0);
    for segment in path.segments() {
        let step = here.child(segment.name);
        here = match segment.index {
            Some(index) => {
                loops.push((step.clone(), index, outer));
                outer = index;
                step.iteration(index)
            }
            None => step,
        };
    }
    loops
}

#[cfg(test)]
mod tests;
