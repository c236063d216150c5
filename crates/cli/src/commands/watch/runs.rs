//! The runs that are shown, each folded as far as its transcript goes.
//!
//! A transcript is read once: at its end the place is kept, and what is new is read from there.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use quipu_event::payload::Status;
use quipu_event::{Kind, Payload, RunId, Timestamp, decode_line};
use quipu_journal::{
    Clock, Layout, Lines, RunListing, RunState, SystemClock, look_at, map_runs_unordered,
    run_ids_unordered, writer_of,
};
use quipu_view::Activity;
use quipu_view::activity::{State, Writer};

use super::face::{Board, Row};

/// A session in which a tool is at work, or a question open, is shown so many times as long.
const PATIENCE: u32 = 6;
/// So often it is looked whether somebody still writes a run.
const CHECK: Duration = Duration::from_secs(2);
/// How many lines are read before the time is looked at.
const LINES_AT_ONCE: usize = 64;

/// The runs that are shown.
pub(super) struct Runs {
    layout: Layout,
    /// How long a run that does nothing is shown; for ever if nothing is said.
    recent: Option<Duration>,
    shown: HashMap<RunId, Shown>,
    /// The runs that are not, and how long their transcripts were when that was decided. A
    /// transcript only grows; its time of change may be the same before and after a line.
    hidden: HashMap<RunId, u64>,
    is_first_look: bool,
    next_check: Instant,
}

/// A run that is shown.
struct Shown {
    activity: Activity,
    /// When its last event happened, as far as that is known before all has been read.
    latest: Option<Timestamp>,
    /// Up to where the transcript has been read.
    offset: u64,
    is_behind: bool,
    writer: Writer,
}

impl Runs {
    pub(super) fn new(layout: Layout, recent: Option<Duration>) -> Self {
        Runs {
            layout,
            recent,
            shown: HashMap::new(),
            hidden: HashMap::new(),
            is_first_look: true,
            next_check: Instant::now() + CHECK,
        }
    }

    /// Looks at all transcripts there are.
    pub(super) fn look(&mut self) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.is_first_look, false) {
            let (now, recent) = (SystemClock.now(), self.recent);
            let keep = |run: RunListing| (is_wanted(&run, now, recent), stripped(run));
            for (is_wanted, run) in map_runs_unordered(&self.layout, keep)?.runs {
                self.sort_in(is_wanted, run);
            }
            return Ok(());
        }
        for run in run_ids_unordered(&self.layout)? {
            let path = self.layout.transcript(&run);
            match (self.shown.get_mut(&run), self.hidden.get(&run)) {
                (Some(shown), _) => shown.is_behind = true,
                (None, Some(seen)) if path.metadata().is_ok_and(|now| now.len() == *seen) => {}
                _ => self.note_change(&path),
            }
        }
        Ok(())
    }

    /// Notes that a transcript has changed.
    pub(super) fn note_change(&mut self, path: &Path) {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(run) = name.and_then(Layout::run_of) else { return };
        if let Some(shown) = self.shown.get_mut(&run) {
            shown.is_behind = true;
        } else if let Ok(listing) = look_at(&self.layout, &run) {
            let is_wanted = is_wanted(&listing, SystemClock.now(), self.recent);
            self.sort_in(is_wanted, listing);
        }
    }

    /// Reads what is new, the newest runs first, for no longer than `time`. Tells whether there is
    /// more.
    pub(super) fn read(&mut self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut behind: Vec<_> =
            self.shown.iter_mut().filter(|(_, shown)| shown.is_behind).collect();
        behind.sort_by_key(|(_, shown)| std::cmp::Reverse(shown.latest));
        let mut gone = Vec::new();
        for (run, shown) in behind {
            match shown.read(&self.layout.transcript(run), end) {
                Ok(()) if shown.is_behind => return true,
                Ok(()) => {}
                // It was deleted, or is not ours to read any more.
                Err(_) => gone.push(run.clone()),
            }
        }
        gone.iter().for_each(|run| drop(self.shown.remove(run)));
        false
    }

    /// Marks from time to time the runs whose writer may have left, to be read again, and forgets
    /// those that do nothing.
    pub(super) fn check(&mut self) {
        if Instant::now() < self.next_check {
            return;
        }
        self.next_check = Instant::now() + CHECK;
        let now = SystemClock.now();
        for shown in self.shown.values_mut() {
            shown.is_behind |= shown.may_be_left(now);
        }
        let Some(recent) = self.recent else { return };
        let Runs { shown, hidden, .. } = self;
        shown.retain(|run, shown| {
            let is_kept = shown.is_behind || shown.is_wanted(now, recent);
            if !is_kept {
                hidden.insert(run.clone(), shown.offset);
            }
            is_kept
        });
    }

    /// Returns what is to be shown now: those that wait first, then by when they began.
    pub(super) fn board<'a>(&'a self, note: Option<&'a str>) -> Board<'a> {
        let now = SystemClock.now();
        let row = |(run, shown): (&'a RunId, &'a Shown)| Row {
            run,
            activity: &shown.activity,
            state: shown.activity.state(now, shown.writer),
            is_behind: shown.is_behind,
        };
        let mut rows: Vec<Row<'a>> = self.shown.iter().map(row).collect();
        let rank = |row: &Row<'_>| match row.state {
            State::Waiting => 0,
            State::Working => 1,
            State::Idle => 2,
            State::Ended(_) | State::Interrupted => 3,
        };
        rows.sort_by(|a, b| {
            let order = rank(a).cmp(&rank(b)).then(b.activity.started.cmp(&a.activity.started));
            order.then_with(|| a.run.cmp(b.run))
        });
        Board { rows, now, note }
    }

    fn sort_in(&mut self, is_wanted: bool, run: RunListing) {
        if !is_wanted {
            self.hidden.insert(run.run_id, run.bytes);
            return;
        }
        self.hidden.remove(&run.run_id);
        let writer = match run.state {
            RunState::Live(_) => Writer::There,
            RunState::Ended | RunState::Interrupted => Writer::Gone,
        };
        let latest = run.last.map(|last| last.timestamp);
        let activity = Activity::default();
        let shown = Shown { activity, latest, offset: 0, is_behind: true, writer };
        self.shown.insert(run.run_id, shown);
    }
}

impl Shown {
    fn read(&mut self, path: &Path, end: Instant) -> std::io::Result<()> {
        let file = File::open(path)?;
        if file.metadata()?.len() < self.offset {
            (self.activity, self.offset) = (Activity::default(), 0);
        }
        // Asked before reading: who has left by now has written all that it had to.
        if !self.activity.is_collected {
            self.writer = match writer_of(path) {
                Ok(Some(_)) => Writer::There,
                _ => Writer::Gone,
            };
        }
        let mut lines = Lines::new(file, self.offset);
        loop {
            for _ in 0..LINES_AT_ONCE {
                let Some(line) = lines.next_whole()? else {
                    (self.offset, self.is_behind) = (lines.offset(), false);
                    self.latest = self.activity.latest;
                    return Ok(());
                };
                // A damaged line is for `quipu verify` to tell.
                if let Ok(event) = decode_line(line.bytes) {
                    self.activity.add(&event);
                }
            }
            if Instant::now() >= end {
                self.offset = lines.offset();
                return Ok(());
            }
        }
    }

    /// Tells whether its writer can have left without a word.
    fn may_be_left(&self, now: Timestamp) -> bool {
        let has_ended = matches!(self.activity.state(now, Writer::There), State::Ended(_));
        self.writer == Writer::There && !self.activity.is_collected && !has_ended
    }

    fn is_wanted(&self, now: Timestamp, recent: Duration) -> bool {
        let is_live = match self.activity.state(now, self.writer) {
            State::Ended(_) | State::Interrupted => false,
            _ => !self.activity.is_collected,
        };
        let patience = if self.activity.has_open_call() { recent * PATIENCE } else { recent };
        is_live || self.latest.is_some_and(|latest| is_within(latest, now, patience))
    }
}

/// Tells by its ends whether a run is to be shown. A session that is being collected is written
/// now, whenever it happened: what counts is when it happened.
fn is_wanted(run: &RunListing, now: Timestamp, recent: Option<Duration>) -> bool {
    let (Some(recent), Some(last)) = (recent, &run.last) else { return run.last.is_some() };
    let is_collected = run.first.iter().chain(&run.last).any(|event| event.origin.is_some());
    if matches!(run.state, RunState::Live(_)) && !is_collected {
        return true;
    }
    let may_be_at_work = match last.kind {
        Kind::ToolCall => true,
        Kind::RunCompleted if is_collected => match last.decode_payload() {
            Ok(Payload::RunCompleted(run)) => run.status == Some(Status::Aborted),
            _ => false,
        },
        _ => false,
    };
    let patience = if may_be_at_work { recent * PATIENCE } else { recent };
    is_within(last.timestamp, now, patience)
}

fn is_within(then: Timestamp, now: Timestamp, span: Duration) -> bool {
    u128::from(now.millis_since(then)) < span.as_millis()
}

/// Lets go of what is not needed of a listing.
fn stripped(run: RunListing) -> RunListing {
    RunListing { first: None, ..run }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use quipu_testkit::{TestStorage, run_completed, run_id, run_started};

    use super::*;

    #[test]
    fn a_run_that_was_empty_when_it_was_looked_at_is_shown_once_it_has_lines() {
        let storage = tempfile::tempdir().unwrap();
        let layout = Layout::new(storage.path());
        std::fs::create_dir(layout.transcripts()).unwrap();
        let run = RunId::parse("young").unwrap();
        let path = layout.transcript(&run);
        File::create(&path).unwrap();
        let before = path.metadata().unwrap().modified().unwrap();
        let mut runs = Runs::new(layout, None);
        runs.look().unwrap();
        assert_eq!(runs.board(None).rows.len(), 0);

        let line = r#"{"seq":1,"run_id":"young","type":"run.started","path":"","iteration":0,"timestamp":"2026-01-01T00:00:00Z","payload":{"name":"young","kind":"session"}}"#;
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        writeln!(file, "{line}").unwrap();
        // Clocks of file systems tick a few hundred times a second.
        file.set_modified(before).unwrap();
        runs.look().unwrap();
        assert!(!runs.read(Duration::from_secs(60)));
        let board = runs.board(None);
        assert_eq!(board.rows.iter().map(|row| row.run).collect::<Vec<_>>(), [&run]);
    }

    #[test]
    fn a_run_that_ends_while_it_is_read_was_never_interrupted() {
        let storage = TestStorage::new();
        for round in 0..200 {
            let id = format!("r{round}");
            let recorder = storage.create(&id);
            recorder.record(run_started("x")).unwrap();
            let mut runs = Runs::new(storage.layout.clone(), None);
            runs.look().unwrap();
            let end = std::thread::spawn(move || {
                recorder.record(run_completed("x", Status::Succeeded)).unwrap();
                recorder.close().unwrap();
            });
            let run = run_id(&id);
            loop {
                runs.note_change(&storage.path(&id));
                runs.read(Duration::from_secs(60));
                let board = runs.board(None);
                let state = &board.rows.iter().find(|row| *row.run == run).unwrap().state;
                assert!(!matches!(state, State::Interrupted), "in round {round}");
                if matches!(state, State::Ended(_)) {
                    break;
                }
            }
            end.join().unwrap();
            std::fs::remove_file(storage.path(&id)).unwrap();
        }
    }
}
