//! Whose events these are, and what each of them is called.
//!
//! Every name follows from the transcript alone: exporting a run again gives the same names. No
//! name is made of a clock or of chance.

use quipu_event::{Event, Kind, Payload};
use sha2::{Digest, Sha256};

use crate::reading;

/// The names that stand on every line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) run_id: String,
    pub(super) session_id: String,
    pub(super) task_id: String,
    pub(super) parent_run_id: Option<String>,
}

impl Identity {
    /// Returns the names of the run that `events` begin.
    ///
    /// A run that names no session is one of its own, or belongs to that of the run that called
    /// it. One that names no task is its own task.
    pub(super) fn of<'a>(events: impl Iterator<Item = &'a Event>) -> Option<Identity> {
        let mut identity: Option<Identity> = None;
        for event in events {
            let known = identity.get_or_insert_with(|| Identity::derived(event));
            if let Payload::RunStarted(started) = reading::read(event).payload {
                let said = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
                known.session_id =
                    said(started.session_id).unwrap_or_else(|| known.session_id.clone());
                known.task_id = said(started.task_id).unwrap_or_else(|| known.task_id.clone());
                break;
            }
        }
        identity
    }

    fn derived(event: &Event) -> Identity {
        let parent_run_id = event.parent_run_id.as_ref().map(ToString::to_string);
        let run_id = event.run_id.to_string();
        Identity {
            session_id: format!("sess_{}", parent_run_id.as_deref().unwrap_or(&run_id)),
            task_id: format!("task_{run_id}"),
            run_id,
            parent_run_id,
        }
    }
}

/// Tells whether a run may still say whose it is after such an event.
pub(super) fn may_precede_the_start(kind: &Kind) -> bool {
    matches!(kind, Kind::RunCreated | Kind::System | Kind::ConfigLoaded | Kind::Unknown)
}

/// Returns the name of what is told of line `seq`; `salt` keeps several of one type apart.
pub(super) fn event_id(run_id: &str, seq: u64, kind: &str, salt: &str) -> String {
    let told = format!("{run_id}\n{seq}\n{kind}\n{salt}");
    format!("evt_{}", &sha256(told.as_bytes())[..24])
}

/// Returns a hash as it is spelled everywhere.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|half| char::from_digit(half.into(), 16));
    Sha256::digest(bytes).iter().flat_map(digits).flatten().collect()
}
