//! What a foreign run is called here.

use std::path::Path;

use quipu_event::{Kind, RunId, RunIdentity};
use quipu_journal::{DamageKind, Layout, Options, ReadProblem, Reader};
use serde_json::Value;
use uuid::Uuid;

use super::error::ImportError;
use super::journal::{Held, as_kept, first_events};
use super::{Found, Story, System};

/// The label that says whose run it was.
pub(super) const FROM: &str = "imported_from";
/// The label that says what it was called there.
pub(super) const FOREIGN_ID: &str = "foreign_run_id";

/// The label that says where its files lay.
pub(super) const PATH: &str = "imported_path";

/// Returns the identity of the run that `story` becomes, which `found` tells.
pub(super) fn choose(
    layout: &Layout,
    found: &Found,
    story: &Story,
    options: &Options,
) -> Result<RunIdentity, ImportError> {
    let path = shown(&found.path);
    let own = RunId::parse(&story.id).ok();
    let made = [made(found.system, &story.id, ""), made(found.system, &story.id, &path)];
    let mut free = None;
    let mut same = None;
    for id in own.into_iter().chain(made) {
        match holder(layout, found.system, &story.id, &id)? {
            Holder::Path(holder) if holder.as_ref() == Some(&path) => {
                same = Some(id);
                break;
            }
            Holder::Nobody => free = free.or(Some(id)),
            Holder::Path(_) if free.is_none() && goes_on(layout, &id, found, options)? => {
                free = Some(id);
            }
            Holder::Path(_) | Holder::Somebody => {}
        }
    }
    let parent = story.parent.as_deref().map(|parent| run_id(layout, found.system, parent));
    let run_id = same.or(free).unwrap_or_else(RunId::random);
    Ok(RunIdentity { run_id, parent_run_id: parent.transpose()? })
}

/// Returns the id that a run which others name has here: its own, unless it cannot be one or another
/// run has it.
pub(super) fn run_id(layout: &Layout, system: System, foreign: &str) -> Result<RunId, ImportError> {
    match RunId::parse(foreign) {
        Ok(id) if !matches!(holder(layout, system, foreign, &id)?, Holder::Somebody) => Ok(id),
        _ => Ok(made(system, foreign, "")),
    }
}

/// Returns how a path is labelled.
pub(super) fn shown(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// Returns an id that is the same each time.
fn made(system: System, foreign: &str, path: &str) -> RunId {
    let name = match path {
        "" => format!("{} {foreign}", system.name()),
        path => format!("{} {foreign}\n{path}", system.name()),
    };
    let made = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).hyphenated().to_string();
    RunId::parse(&made).unwrap_or_else(|_| RunId::random())
}

/// Who has an id.
enum Holder {
    Nobody,
    /// A run that was imported under the same foreign id, from this path if it is known.
    Path(Option<String>),
    Somebody,
}

fn holder(
    layout: &Layout,
    system: System,
    foreign: &str,
    id: &RunId,
) -> Result<Holder, ImportError> {
    let Some(first) = first_events(layout, id)? else { return Ok(Holder::Nobody) };
    let labels = first.iter().find_map(|event| {
        let begins = matches!(event.kind, Kind::RunStarted | Kind::RunCreated);
        let payload = event.payload.decode::<Value>().ok().filter(|_| begins)?;
        payload.get("labels").cloned()
    });
    let Some(labels) = labels else {
        return Ok(if is_blank(layout, id)? { Holder::Nobody } else { Holder::Somebody });
    };
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let is_same = label(FROM) == Some(system.name()) && label(FOREIGN_ID) == Some(foreign);
    Ok(if is_same { Holder::Path(label(PATH).map(str::to_owned)) } else { Holder::Somebody })
}

/// Tells whether the run `id` is what `found` is, moved or copied: whether all its lines are there.
fn goes_on(
    layout: &Layout,
    id: &RunId,
    found: &Found,
    options: &Options,
) -> Result<bool, ImportError> {
    let marks = Held::of(layout, id)?.marks;
    for file in marks.files().filter(|file| file.ends_with(".jsonl")) {
        let bytes = found.folder.read(file)?.unwrap_or_default();
        if !marks.agree_with(file, &bytes, |record| as_kept(options, record)) {
            return Ok(false);
        }
    }
    Ok(true)
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
