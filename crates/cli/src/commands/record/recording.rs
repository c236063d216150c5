//! A recording under way: each line becomes an event, is kept as `unknown`, or ends the run.
//!
//! A disk that refuses is told once. After that lines are taken and forgotten, so that whoever
//! writes them is not killed by a broken pipe for our sake.

use std::io::Write;
use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::Context as _;
use quipu_emit::FollowingRun;
use quipu_event::payload::Status;
use quipu_event::{Draft, Kind};
use quipu_journal::{
    Clock, Layout, NoteError, OpenSpan, OpenSpans, Received, RecordError, Recorder, Subscription,
    SystemClock, take_up_notes,
};
use quipu_view::Summary;

use super::draft_line::{self, Refusal};
use super::lifecycle::{self, Ending, Title};
use super::open::Opened;
use super::{Lifecycle, Strictness};
use crate::Context;
use crate::output::Screen;

/// One run while its lines arrive.
pub(super) struct Recording {
    screen: Screen,
    /// What commands that are suggested need to look in the same storage.
    storage_flag: String,
    recorder: Recorder,
    /// Hands back each event as it was recorded, without a copy.
    echo: Subscription,
    title: Title,
    lifecycle: Lifecycle,
    strictness: Strictness,
    summary: Summary,
    open: OpenSpans,
    /// Whether the producer itself has ended the run.
    ended: bool,
    acks: Option<Box<dyn Write>>,
    began: Instant,
    /// Why nothing more is recorded.
    failure: Option<RecordError>,
    /// The first line that was refused for good.
    refused: Option<String>,
    log: Option<FollowingRun>,
}

/// What a recording came to.
pub(super) struct Finished {
    pub(super) recorder: Recorder,
    /// How the run ended; nothing if it did not.
    pub(super) status: Option<Status>,
    pub(super) unknown: u64,
    pub(super) duration_ms: u64,
    pub(super) failure: Option<RecordError>,
    pub(super) refused: Option<String>,
}

impl Recording {
    pub(super) fn new(
        opened: Opened,
        lifecycle: Lifecycle,
        strictness: Strictness,
        acks: Option<Box<dyn Write>>,
        context: &Context,
    ) -> Self {
        let Opened { recorder, title, summary, log } = opened;
        // Each event is taken as soon as it is recorded, so there is never more than one.
        let echo = recorder.subscribe_with_buffer(1);
        Recording {
            screen: context.screen,
            storage_flag: context.settings.storage_flag(),
            recorder,
            echo,
            title,
            lifecycle,
            strictness,
            summary,
            open: OpenSpans::default(),
            ended: false,
            acks,
            began: Instant::now(),
            failure: None,
            refused: None,
            log,
        }
    }

    /// Writes the run's start, if that is ours to write.
    pub(super) fn begin(&mut self) -> anyhow::Result<()> {
        if let Lifecycle::Ours { labels } = &self.lifecycle {
            let draft = lifecycle::run_started(&self.title, labels.clone())?;
            self.record(draft);
        }
        Ok(())
    }

    /// Takes one line of input.
    pub(super) fn take_line(&mut self, number: u64, line: &[u8]) -> ControlFlow<()> {
        if self.failure.is_some() || line.iter().all(u8::is_ascii_whitespace) {
            return ControlFlow::Continue(());
        }
        let draft = match self.understand(line) {
            Ok((draft, owed)) => {
                if let Some(owed) = owed {
                    self.screen.note(format_args!("stdin line {number}: {owed}"));
                }
                draft
            }
            Err(Refusal { reason, native_type }) => {
                let told = format!("stdin line {number}: {reason}");
                self.screen.note(&told);
                if self.strictness == Strictness::Strict {
                    self.refused = Some(told);
                    return ControlFlow::Break(());
                }
                Draft::unknown(line, native_type.as_deref(), &reason)
            }
        };
        if self.ended && !matches!(draft.kind, Kind::RunStarted | Kind::System) {
            let kind = &draft.kind;
            self.screen.note(format_args!("stdin line {number}: {kind} after the run's end"));
        }
        match draft.kind {
            Kind::RunCompleted => self.ended = true,
            Kind::RunStarted => self.ended = false,
            _ => {}
        }
        if let Some(seq) = self.record(draft) {
            self.acknowledge(seq);
        }
        ControlFlow::Continue(())
    }

    /// Returns why the input was not taken to its end.
    pub(super) fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Makes a draft of a line, and says what the draft owes and does not say.
    fn understand(&self, line: &[u8]) -> Result<(Draft, Option<String>), Refusal> {
        let draft = draft_line::parse(line)?;
        let owed = draft_line::owed(&draft);
        if let (Some(reason), Strictness::Strict) = (&owed, self.strictness) {
            let native_type = Some(draft.kind.to_string());
            return Err(Refusal { reason: reason.clone(), native_type });
        }
        if draft.kind == Kind::RunStarted && matches!(self.lifecycle, Lifecycle::Ours { .. }) {
            let reason = "quipu has written run.started already; with --no-lifecycle it is yours";
            let native_type = Some(draft.kind.to_string());
            return Err(Refusal { reason: reason.to_owned(), native_type });
        }
        Ok((draft, owed))
    }

    /// Records `draft` and returns its number, or tells why it could not.
    fn record(&mut self, draft: Draft) -> Option<u64> {
        match self.recorder.record(draft) {
            Ok(seq) => {
                if let Received::Event(event) = self.echo.try_recv() {
                    self.summary.add(&event);
                    if is_span(&event.kind) {
                        // An end without its start closes nothing, and is kept as it came.
                        let _ = self.open.add(&event);
                    }
                }
                Some(seq)
            }
            Err(failure) => {
                self.tell_failure(&failure);
                self.failure = Some(failure);
                None
            }
        }
    }

    fn tell_failure(&self, failure: &RecordError) {
        let mut told = format!("error: {failure}");
        if let Some(cause) = std::error::Error::source(failure) {
            told += &format!(": {cause}");
        }
        let run = &self.recorder.run().run_id;
        let recorded = self.recorder.last_seq();
        let storage = &self.storage_flag;
        self.screen.note(format_args!(
            "{told}\nhint: events 1 to {recorded} are safe; make room, then `quipu repair {run}{storage}`. \
             Input is read on and dropped, so that its writer is not disturbed",
        ));
    }

    fn acknowledge(&mut self, seq: u64) {
        let Some(acks) = &mut self.acks else { return };
        let written = writeln!(acks, "{{\"seq\":{seq}}}").and_then(|()| acks.flush());
        if let Err(error) = written {
            // The recording matters more than its echo, and goes on without.
            self.acks = None;
            self.screen.note(format_args!(
                "event {seq} is recorded, and so is what follows, but not acknowledged any more: {error}"
            ));
        }
    }

    /// Writes the ends that are missing, if they are ours to write, and lets go of the run.
    ///
    /// `verdict` is how the run ended as far as the input's end tells.
    pub(super) fn finish(mut self, verdict: Ending) -> anyhow::Result<Finished> {
        let duration_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let ours = matches!(self.lifecycle, Lifecycle::Ours { .. });
        if ours && !self.ended && self.failure.is_none() {
            let ending = self.close_open_spans(verdict)?;
            // A run that is gone on with began before this recording did.
            let first = self.summary.started.map(|first| SystemClock.now().millis_since(first));
            let whole_ms = first.unwrap_or_default().max(duration_ms);
            let completed = |masked| {
                let (title, summary) = (&self.title, &self.summary);
                lifecycle::run_completed(title, ending.clone(), whole_ms, summary, masked)
            };
            let masked = self.recorder.stats().masked;
            // A mask that fails is told when the line itself is recorded.
            let in_the_end = self.recorder.would_mask(&completed(masked)?).unwrap_or_default();
            let completed = completed(masked + in_the_end)?;
            if self.record(completed).is_some() {
                self.ended = true;
            }
        }
        if self.failure.is_none() {
            self.recorder.close().context("the end of the recording is not safely on disk")?;
        }
        drop(self.log.take());
        Ok(Finished {
            status: self.summary.status.filter(|_| self.ended),
            unknown: self.summary.unknown,
            recorder: self.recorder,
            duration_ms,
            failure: self.failure,
            refused: self.refused,
        })
    }

    /// Records the notes that others left for the run so far, so that they stand before its end.
    pub(super) fn take_up_notes(&mut self, layout: &Layout) -> Result<usize, NoteError> {
        let (run, path) = (self.recorder.run().run_id.clone(), self.recorder.path().to_owned());
        let is_open = !self.ended && self.failure.is_none();
        if !is_open {
            return Ok(0);
        }
        take_up_notes(layout, &run, Some(&path), |draft| self.record(draft).is_some())
    }

    /// Ends what the producer left open, and returns how that makes the run itself end.
    ///
    /// A producer that goes away in the middle of a step has not succeeded, whatever it meant.
    fn close_open_spans(&mut self, verdict: Ending) -> anyhow::Result<Ending> {
        let spans = std::mem::take(&mut self.open).into_innermost_first();
        let spans: Vec<_> =
            spans.into_iter().filter(|span| span.kind != Kind::RunStarted).collect();
        let Some(innermost) = spans.first() else { return Ok(verdict) };
        let is_cut_off = verdict.status == Status::Succeeded;
        let ending = match verdict.status {
            Status::Succeeded => {
                let error = left_open(innermost);
                self.screen.note(&error);
                Ending { status: Status::Aborted, error: Some(error) }
            }
            _ => verdict,
        };
        let now = SystemClock.now();
        for span in &spans {
            let span_status = match ending.status {
                Status::Canceled => Status::Canceled,
                _ => Status::Aborted,
            };
            let error = if is_cut_off { Some(left_open(span)) } else { ending.error.clone() };
            let of_span = Ending { status: span_status, error };
            self.record(lifecycle::completion_of(span, &of_span, now)?);
        }
        Ok(ending)
    }
}

fn left_open(span: &OpenSpan) -> String {
    format!("the input ended while {} at {:?} was still open", span.kind, span.path.as_str())
}

/// Tells whether an event may begin or end something.
fn is_span(kind: &Kind) -> bool {
    let word = kind.as_str();
    word.ends_with(".started") || word.ends_with(".completed")
}
