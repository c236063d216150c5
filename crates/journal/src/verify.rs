//! Is a transcript what it promises to be? Finds out; changes nothing.

mod calls;
mod finding;
mod links;
mod occurrences;

use std::collections::HashMap;
use std::path::PathBuf;

use quipu_event::payload::{Payload, RunKind};
use quipu_event::{Event, Kind, LineDecoder, RunId, keys_left_out};

use crate::error::ReadError;
use crate::layout::{DIR_MODE, FILE_MODE, Layout, excess_mode};
use crate::lines::Lines;
use crate::lock::writer_of;
use crate::reader::{DamageKind, decode, io_error};
use crate::spans::{OpenSpans, Unstarted};
use calls::Calls;
use links::check_links;
use occurrences::Occurrences;

pub use finding::{Finding, FindingKind};

/// How many findings are kept of one run; the rest are counted.
const KEPT: usize = 1000;
/// The label of a run that another recorder made, and whose words are in it as they were.
const IMPORTED: &str = "imported_from";

/// What was found of one run.
#[derive(Debug)]
pub struct Report {
    /// The run.
    pub run_id: RunId,
    /// Its transcript.
    pub path: PathBuf,
    /// How many events it has.
    pub events: u64,
    /// What is wrong with it, in the order of the file, links and modes last.
    pub findings: Vec<Finding>,
    /// How many findings there were beyond those kept.
    pub more: u64,
    /// What is worth knowing and not wrong.
    pub notes: Vec<FindingKind>,
}

impl Report {
    /// Tells whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Checks one run: each line well-formed, numbers without gaps, starts and ends in pairs, links
/// true in both directions, files closed to others.
pub fn verify_run(layout: &Layout, run: &RunId) -> Result<Report, ReadError> {
    let path = layout.transcript(run);
    let mut report = Report {
        run_id: run.clone(),
        path: path.clone(),
        events: 0,
        findings: Vec::new(),
        more: 0,
        notes: Vec::new(),
    };
    let live = writer_of(&path).map_err(|source| io_error(&path, source))?.is_some();
    let mut fold = Fold::new(run.clone());
    let mut lines = Lines::open(&path, 0).map_err(|source| io_error(&path, source))?;
    let mut decoder = LineDecoder::default();
    let mut line = 0;
    while let Some(read) = lines.next().map_err(|source| io_error(&path, source))? {
        line += 1;
        let offset = read.offset;
        match decode(&read, &mut decoder) {
            Ok(event) => {
                report.events += 1;
                let mut found = |what| report.add(Some(line), Some(offset), what);
                keys_left_out(read.bytes)
                    .into_iter()
                    .for_each(|key| found(FindingKind::KeyMissing { key }));
                fold.check(line, &event, &mut found);
            }
            Err(damage) => {
                fold.damaged += 1;
                // A line in the making is not damage.
                if !(live && matches!(damage.what, DamageKind::TornTail(_))) {
                    report.add(Some(line), Some(offset), FindingKind::Damaged(damage.what));
                }
            }
        }
    }
    if !live && line == 0 {
        report.notes.push(FindingKind::NoEvent);
    }
    if !live {
        fold.check_end(&mut |line, what| report.add(Some(line), None, what));
    }
    check_links(layout, &fold, &mut report)?;
    check_modes(layout, &mut report)?;
    Ok(report)
}

impl Report {
    fn add(&mut self, line: Option<u64>, offset: Option<u64>, what: FindingKind) {
        if self.findings.len() < KEPT {
            self.findings.push(Finding { line, offset, what });
        } else {
            self.more += 1;
        }
    }
}

/// What the lines so far oblige the following ones to.
struct Fold {
    run: RunId,
    parent: Option<RunId>,
    is_workflow: bool,
    writer: Writer,
    last_seq: u64,
    /// How many lines since then hold no event, and may have held one each.
    damaged: u64,
    ended: bool,
    spans: OpenSpans,
    occurrences: Occurrences,
    calls: Calls,
    /// The runs it calls, each with the line of the call.
    children: Vec<(u64, RunId)>,
    events: u64,
    /// The line of each start that stands behind damage: the nth event is on another than the nth.
    lines: HashMap<u64, u64>,
}

/// Whose words a run has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// Our own writer began it.
    Ours,
    /// We took it over from another recorder, whose words are in it as they were.
    Imported,
    /// It does not say.
    Unknown,
}

impl Fold {
    fn new(run: RunId) -> Self {
        Fold {
            run,
            parent: None,
            is_workflow: false,
            writer: Writer::Unknown,
            last_seq: 0,
            damaged: 0,
            ended: false,
            spans: OpenSpans::default(),
            occurrences: Occurrences::default(),
            calls: Calls::default(),
            children: Vec::new(),
            events: 0,
            lines: HashMap::new(),
        }
    }

    fn check(&mut self, line: u64, event: &Event, found: &mut impl FnMut(FindingKind)) {
        self.check_envelope(event, found);
        self.events += 1;
        if line != self.events && event.kind.completion().is_some() {
            self.lines.insert(self.events, line);
        }
        self.check_span(event, found);
        let payload = event.decode_payload();
        if let Ok(payload) = &payload {
            self.check_contract(event, payload, found);
            self.check_occurrence(line, event, payload, found);
        }
        match payload {
            Ok(Payload::ToolCall(call)) => self.calls.check_call(event, &call.call_id, found),
            Ok(Payload::ToolResult(result)) => {
                self.calls.check_result(event, &result.call_id, found);
            }
            Ok(Payload::RunStarted(started)) => {
                self.is_workflow |= started.kind == RunKind::Workflow;
            }
            Ok(_) => {}
            Err(error) => found(FindingKind::Payload(error)),
        }
        self.calls.note_round(event);
        if event.kind == Kind::CallWorkflowStarted {
            self.children.extend(event.child_run_id.clone().map(|child| (line, child)));
        }
    }

    /// Checks what our own writers owe. What others wrote, or said before we recorded it, is as they
    /// left it.
    fn check_contract(
        &mut self,
        event: &Event,
        payload: &Payload,
        found: &mut impl FnMut(FindingKind),
    ) {
        match payload {
            Payload::RunCreated(_) => self.writer = Writer::Ours,
            Payload::RunStarted(started) => {
                let labels = started.labels.as_ref();
                self.writer = match started.format {
                    _ if labels.is_some_and(|labels| labels.contains_key(IMPORTED)) => {
                        Writer::Imported
                    }
                    Some(_) => Writer::Ours,
                    None => Writer::Unknown,
                };
            }
            _ => {}
        }
        if self.writer == Writer::Ours && event.origin.is_none() {
            let breaches = payload.breaches(&event.payload).into_iter();
            breaches.for_each(|breach| {
                found(FindingKind::Breach { kind: event.kind.clone(), breach });
            });
        }
    }

    /// Checks that path and attempt name one occurrence. Other recorders (AWF) do not count attempts, and
    /// what was said before we recorded it is as it was left.
    fn check_occurrence(
        &mut self,
        line: u64,
        event: &Event,
        payload: &Payload,
        found: &mut impl FnMut(FindingKind),
    ) {
        let first = self.occurrences.add(line, event, payload);
        let (Some(first), Payload::StepStarted(step)) = (first, payload) else { return };
        let counts = match self.writer {
            Writer::Ours => true,
            Writer::Unknown => step.attempt.is_some(),
            Writer::Imported => false,
        };
        if counts && event.origin.is_none() {
            found(FindingKind::StartedAgain {
                start: event.kind.clone(),
                seq: event.seq,
                path: event.path.to_string(),
                attempt: step.attempt.unwrap_or(1),
                first_line: first.line,
                first_seq: first.seq,
            });
        }
    }

    fn check_span(&mut self, event: &Event, found: &mut impl FnMut(FindingKind)) {
        let path = || event.path.to_string();
        if let Some(first) = self.spans.started_before(event) {
            let (start, line) = (event.kind.clone(), self.line_of(first.nth));
            found(FindingKind::StartedTwice { start, path: path(), line });
        }
        let calls = matches!(event.kind, Kind::CallWorkflowStarted | Kind::CallWorkflowCompleted);
        if calls && event.child_run_id.is_none() {
            found(FindingKind::ChildUnnamed { kind: event.kind.clone(), path: path() });
        }
        match self.spans.add(event) {
            Ok(start) => {
                let (line, expected) =
                    start.map(|start| (self.line_of(start.nth), start.child_run_id)).unzip();
                // One that names nobody has been told of.
                if let (Some(line), Some(Some(expected)), Some(child)) =
                    (line, expected, event.child_run_id.clone())
                    && expected != child
                {
                    found(FindingKind::OtherChild { expected, found: child, line });
                }
            }
            Err(Unstarted { start }) => {
                let completed = event.kind.clone();
                found(FindingKind::Unstarted { completed, start, path: path() });
            }
        }
    }

    fn line_of(&self, nth: u64) -> u64 {
        self.lines.get(&nth).copied().unwrap_or(nth)
    }

    fn check_envelope(&mut self, event: &Event, found: &mut impl FnMut(FindingKind)) {
        // Each damaged line before it may have held one event, and need not.
        let damaged = std::mem::take(&mut self.damaged);
        let nearest = self.last_seq + 1;
        let expected = nearest + damaged;
        if !(nearest..=expected).contains(&event.seq) {
            found(FindingKind::Number { expected, found: event.seq });
        }
        if event.run_id != self.run {
            found(FindingKind::ForeignRun { found: event.run_id.clone() });
        }
        if self.last_seq == 0 {
            self.parent = event.parent_run_id.clone();
        } else if event.parent_run_id != self.parent {
            found(FindingKind::OtherParent);
        }
        self.last_seq = event.seq;
        // A run may be taken up again after its end, and recovery may have something to say.
        match event.kind {
            Kind::RunCompleted => self.ended = true,
            Kind::RunStarted | Kind::System => self.ended = false,
            _ if self.ended => found(FindingKind::AfterEnd { kind: event.kind.clone() }),
            _ => {}
        }
    }

    fn check_end(&mut self, found: &mut impl FnMut(u64, FindingKind)) {
        let spans = std::mem::take(&mut self.spans);
        for span in spans.into_innermost_first() {
            let (start, path) = (span.kind, span.path.to_string());
            let line = self.line_of(span.nth);
            found(line, FindingKind::Unfinished { start, path });
        }
    }
}

fn check_modes(layout: &Layout, report: &mut Report) -> Result<(), ReadError> {
    let storage = layout.storage();
    let closed = layout.closed_directories().map_err(|source| io_error(storage, source))?;
    let files = [report.path.clone(), layout.torn(&report.run_id)];
    let checked = files.into_iter().map(|file| (file, FILE_MODE));
    let checked = checked.chain(closed.into_iter().map(|dir| (dir, DIR_MODE)));
    for (path, wanted) in checked.filter(|(path, _)| path.exists()) {
        let metadata = path.metadata().map_err(|source| io_error(&path, source))?;
        if let Some(found) = excess_mode(&metadata, wanted) {
            report.add(None, None, FindingKind::Mode { path, found, wanted });
        }
    }
    Ok(())
}
