//! The emitter: events in, records out, whatever happens.
//!
//! Records of a run leave in the order of their numbers, because one lock covers both. A listener
//! that panics costs its own entry and nothing else.

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quipu_event::{Event, Kind, RunId};
use quipu_view::entries::{Entries, Entry, EntryOptions, Taken, TranscriptSummary};

use crate::record;

/// Turns events into log records.
///
/// It can be shared between threads, and takes the events of any number of runs.
#[derive(Debug, Default)]
pub struct Emitter {
    options: EntryOptions,
    runs: Mutex<BTreeMap<RunId, Run>>,
}

/// One run, as far as it has been emitted.
#[derive(Debug)]
struct Run {
    entries: Entries,
    summary: TranscriptSummary,
    is_open: bool,
}

impl Emitter {
    /// Makes an emitter that has seen no run yet.
    pub fn new(options: EntryOptions) -> Self {
        Emitter { options, runs: Mutex::default() }
    }

    /// Emits what `event` becomes. Does next to nothing when nobody listens.
    ///
    /// Never fails and never panics: what goes wrong is a record `transcript.error`.
    pub fn emit(&self, event: &Event) {
        if !record::is_listened_to() {
            return;
        }
        // A listener may cause events itself. To wait for the lock it was called under is no way.
        let Some(_turn) = Turn::take() else { return };
        let mut runs = self.lock();
        let outcome = guarded(|| self.run(&mut runs, event).take(event));
        if let Err(panic) = outcome {
            report(None, &panic);
        }
    }

    /// Takes note of `event`, which was emitted in the past or is not to be emitted: what follows
    /// is numbered and named accordingly.
    pub fn pass_over(&self, event: &Event) {
        let Some(_turn) = Turn::take() else { return };
        let mut runs = self.lock();
        let _ = guarded(|| self.run(&mut runs, event).entries.hand_out(event, |_| Taken::Yes));
    }

    /// Returns how many entries of `run` were emitted, or nothing if none ever was.
    pub fn summary(&self, run: &RunId) -> Option<TranscriptSummary> {
        let runs = self.lock();
        runs.get(run).map(|run| run.summary.clone()).filter(|summary| summary.total_entries > 0)
    }

    fn run<'a>(&self, runs: &'a mut BTreeMap<RunId, Run>, event: &Event) -> &'a mut Run {
        runs.entry(event.run_id.clone()).or_insert_with(|| Run {
            entries: Entries::new(self.options.clone()),
            summary: TranscriptSummary::default(),
            is_open: false,
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunId, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Emitter {
    fn drop(&mut self) {
        let Some(_turn) = Turn::take() else { return };
        for run in self.lock().values_mut() {
            if let Err(panic) = guarded(|| run.end()) {
                report(run.entries.prompt_name(), &panic);
            }
        }
    }
}

impl Run {
    fn take(&mut self, event: &Event) {
        self.hand_out(|entries, take| entries.hand_out(event, take));
        if event.kind == Kind::RunCompleted {
            self.stop();
        }
    }

    fn end(&mut self) {
        self.hand_out(|entries, take| entries.finish(take));
        self.stop();
    }

    fn hand_out(&mut self, map: impl FnOnce(&mut Entries, &mut dyn FnMut(&Entry) -> Taken)) {
        let Run { entries, summary, is_open } = self;
        // Each entry says itself what a start has to say.
        map(entries, &mut |entry| {
            if !*is_open {
                *is_open = true;
                if let Err(panic) = guarded(|| record::start(entry)) {
                    report(Some(&entry.prompt_name), &panic);
                }
            }
            match guarded(|| record::entry(entry)) {
                Ok(()) => {
                    summary.add(entry);
                    Taken::Yes
                }
                Err(panic) => {
                    report(Some(&entry.prompt_name), &panic);
                    Taken::No
                }
            }
        });
    }

    fn stop(&mut self) {
        if std::mem::take(&mut self.is_open) {
            record::stop(&self.entries, &self.summary);
        }
    }
}

/// The right of a thread to emit; nobody has it twice.
struct Turn;

thread_local! {
    static IS_EMITTING: Cell<bool> = const { Cell::new(false) };
}

impl Turn {
    fn take() -> Option<Turn> {
        // A thread that is about to end has nothing more to emit.
        let was_emitting = IS_EMITTING.try_with(|emitting| emitting.replace(true)).ok()?;
        // Made only when it is due: a turn that is dropped ends the one that is under way.
        (!was_emitting).then(|| Turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = IS_EMITTING.try_with(|emitting| emitting.set(false));
    }
}

/// Does `work`; a panic in it, which can only be a listener's, ends here.
fn guarded(work: impl FnOnce()) -> Result<(), Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(work))
}

fn report(prompt_name: Option<&str>, panic: &Box<dyn Any + Send>) {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let error = format!("a listener panicked: {}", said.unwrap_or("without a word"));
    // The listener that panicked may do so again; then there is nobody left to tell.
    let _ = guarded(|| record::error(prompt_name, error));
}
