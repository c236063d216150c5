//! What a foreign run is called here.

use quipu_event::{Kind, RunId, RunIdentity};
use quipu_journal::{DamageKind, Layout, ReadProblem, Reader};
use serde_json::Value;
use uuid::Uuid;

use super::error::ImportError;
use super::journal::first_events;
use super::{Story, System};

/// The label that says whose run it was.
pub(super) const FROM: &str = "imported_from";
/// The label that says what it was called there.
pub(super) const FOREIGN_ID: &str = "foreign_run_id";

/// Returns the identity of the run that `story` becomes.
pub(super) fn choose(
    layout: &Layout,
    system: System,
    story: &Story,
) -> Result<RunIdentity, ImportError> {
    let run_id = run_id(layout, system, &story.id)?;
    let parent = story.parent.as_deref().map(|parent| self::run_id(layout, system, parent));
    Ok(RunIdentity { run_id, parent_run_id: parent.transpose()? })
}

/// Returns the id that `foreign` has here: its own, unless it cannot be one or another run has it.
pub(super) fn run_id(layout: &Layout, system: System, foreign: &str) -> Result<RunId, ImportError> {
    if let Ok(id) = RunId::parse(foreign)
        && is_free(layout, system, foreign, &id)?
    {
        return Ok(id);
    }
    let name = format!("{} {foreign}", system.name());
    let made = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).hyphenated().to_string();
    RunId::parse(&made).or_else(|_| Ok(RunId::random()))
}

/// Tells whether no run has the id, or the one that an earlier import has made of the same.
fn is_free(
    layout: &Layout,
    system: System,
    foreign: &str,
    id: &RunId,
) -> Result<bool, ImportError> {
    let Some(first) = first_events(layout, id)? else { return Ok(true) };
    let labels = first.iter().find_map(|event| {
        let begins = matches!(event.kind, Kind::RunStarted | Kind::RunCreated);
        let payload = event.payload.decode::<Value>().ok().filter(|_| begins)?;
        payload.get("labels").cloned()
    });
    let is = |labels: &Value, key: &str, wanted: &str| {
        labels.get(key).and_then(Value::as_str) == Some(wanted)
    };
    Ok(match labels {
        Some(labels) => is(&labels, FROM, system.name()) && is(&labels, FOREIGN_ID, foreign),
        None => is_blank(layout, id)?,
    })
}

/// Tells whether an import that was killed before its first line was whole could have left this.
fn is_blank(layout: &Layout, id: &RunId) -> Result<bool, ImportError> {
    Ok(match Reader::open(layout.transcript(id))?.next() {
        None => true,
        Some(Err(ReadProblem::Damaged { damage, .. })) => {
            matches!(damage.what, DamageKind::TornTail(_))
        }
        Some(_) => false,
    })
}
