//! How transcript lines reach disk, and how they are read back.
//!
//! A journal is a directory of runs, one append-only file each. A [`Recorder`] writes a run; a
//! [`Reader`] reads it, from any number on, in either direction; a [`Follow`] waits for more, also
//! of a run that another process writes; subscribers of a recorder see events live. Everything
//! that Quipu ever writes to a transcript passes through this crate, so that what it guarantees
//! can be proved in one small place. It is synchronous code on the standard library: no runtime,
//! no database, no index.
//!
//! # How a line is recorded
//!
//! ```text
//! producers ── Draft ──▶ [ mask ] ──▶ encode ──▶ one door: number, date ──▶ write(2) ──▶ publish
//!                                                (whoever holds it carries the lines of those who wait)
//! ```
//!
//! One door covers number, time, write and publish, so the order of lines, of numbers and of
//! broadcast is one and the same. Producers that arrive while it is taken are carried through
//! together: whole lines, one write, and each `record` returns only when its own line is written.
//!
//! # Promises
//!
//! Writing:
//!
//! - Lines on disk are in sequence order under concurrent writers.
//! - A failed record uses up no number.
//! - A short write is completed.
//! - A failed write is reported once and poisons the recorder.
//! - A partial line never stays glued to a later one.
//! - A second writer is refused with the name of the holder.
//! - Files are closed to others and corrected when wider.
//! - Nothing a producer hands in makes a bad line.
//! - The mask is applied before disk and subscribers.
//! - A mask that fails lets nothing through.
//! - Durability always syncs before record returns.
//! - Closing twice is fine, and recording after close is an error.
//!
//! Subscribing:
//!
//! - An event is on disk before any subscriber sees it.
//! - Subscribers see events in the order of the file.
//! - A slow subscriber never delays a write.
//! - Drops are counted per subscriber and in total.
//! - Subscribe from misses nothing and repeats nothing.
//!
//! Coming back:
//!
//! - A journal cut at every byte leaves a readable prefix and the right next number.
//! - What had started is closed as aborted on reopen.
//! - Reopening a run that ended in order changes nothing.
//! - A run that is taken up goes on as if nothing had happened.
//!
//! Notes of others:
//!
//! - A note is recorded once, whoever writes the run.
//! - Notes are recorded in the order in which they were left.
//!
//! Reading:
//!
//! - A reader never changes a file.
//! - A reader reports damage with its line and byte, and goes on.
//! - Reading from a number does not read what stands before it.
//! - Reading backward gives the same events in reverse.
//! - A follower sees what another process writes.
//! - Runs are listed by their heads and tails.
//! - Verify finds each kind of damage.
//!
//! # What it refuses to do
//!
//! It knows no provider, no workflow and no view. It never rewrites a line: what is damaged in the
//! middle of a file is reported, not mended. It keeps no second record (a note that waits is none yet): there is no index, no
//! state file and no lock file that could disagree with the transcript.
//!
//! # Threat model
//!
//! *Who can read.* Files have mode 0600 and directories 0700, and are narrowed when found wider.
//! Root and whoever shares the user's account can read everything.
//!
//! *What is not masked.* Nothing is, unless a [`Mask`] is asked for: prompts, arguments and outputs
//! are recorded verbatim. The built-in [`SecretMask`] knows well-known shapes and chosen values; a
//! secret that is split, compressed, encoded or of no known shape passes it.
//!
//! *What a crash can do.* The death of the process loses nothing that `record` returned for, and
//! leaves at most one torn line, which readers report and reopening sets aside in
//! `<run-id>.torn`. What the death of the machine can lose is said by [`Durability`].
//!
//! *What a hostile producer can do.* It can fill the disk and lie about what happened, in its own
//! run. It cannot make a line that is not an event, choose a number, touch another run, or stop
//! others from being recorded. What it says may contain terminal escapes and scripts; whoever
//! shows a transcript must treat its text as text.
//!
//! *What it does not protect against.* Whoever can write the file can change it: lines carry no
//! signature.
//!
//! # Versions
//!
//! Files of every format version are read ([`quipu_event`] says how). New files are written in
//! the newest. Files that other writers left (AWF) are read as they are: their numbers may be out
//! of order, so that finding a number in them reads from the start.
//!
//! # Example
//!
//! ```
//! use quipu_event::payload::{Message, RunKind, RunStarted};
//! use quipu_event::{ContentBlock, Draft, Fidelity, Kind, RunId, RunIdentity};
//! use quipu_journal::{Layout, Options, Reader, Recorder};
//!
//! let dir = tempfile::tempdir()?;
//! let layout = Layout::new(dir.path().join("storage"));
//! let run = RunIdentity { run_id: RunId::random(), parent_run_id: None };
//! let recorder = Recorder::create(&layout, run, Options::default())?;
//!
//! let started = RunStarted::new("nightly review", RunKind::Workflow);
//! recorder.record(Draft::new(Kind::RunStarted, &started)?)?;
//! let mut live = recorder.subscribe_from(1);
//!
//! let reply = Message::assistant(vec![ContentBlock::text(Fidelity::AgentEmitted, "Done.")]);
//! assert_eq!(recorder.record(Draft::new(Kind::MessageAssistant, &reply)?)?, 2);
//!
//! assert_eq!(live.next().map(|event| event.kind.clone()), Some(Kind::RunStarted));
//! assert_eq!(live.next().map(|event| event.kind.clone()), Some(Kind::MessageAssistant));
//! recorder.close()?;
//!
//! let events: Result<Vec<_>, _> = Reader::open(recorder.path())?.collect();
//! assert_eq!(events?.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod append;
mod batch;
mod bell;
mod clock;
mod combine;
mod durability;
mod ends;
mod error;
mod family;
mod fanout;
mod find;
mod follow;
mod layout;
mod lines;
mod lock;
mod mask;
mod notes;
mod open;
mod page;
mod reader;
mod recorder;
mod recovery;
mod replay;
mod runs;
mod seek;
mod sink;
mod spans;
mod sync;
mod verify;

pub use clock::{Clock, SystemClock};
pub use durability::Durability;
pub use error::{NoteError, OpenError, ReadError, RecordError};
pub use family::Family;
pub use fanout::{DEFAULT_BUFFER, Received, SubscriberStats, Subscription};
pub use find::{FindError, LAST, find_run};
pub use follow::{Follow, Followed};
pub use layout::Layout;
pub use lines::{Line, LineEnd, Lines};
pub use lock::{Holder, writer_of};
pub use mask::{Mask, SecretMask};
pub use notes::{Delivery, Note, deliver_notes, leave_note, take_up_notes};
pub use reader::{Damage, DamageKind, ReadProblem, Reader, ReaderBackward};
pub use recorder::{Options, Recorder, Stats};
pub use recovery::{Recovery, Torn};
pub use replay::Replay;
pub use runs::{
    Listed, RunListing, RunState, list_runs, look_at, map_runs_unordered, run_ids_unordered,
};
pub use spans::{OpenSpan, OpenSpans, Started, Unstarted};
pub use verify::{Finding, FindingKind, Report, verify_run};
