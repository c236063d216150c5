//! Files that are no log: kept whole, each as one event.

use quipu_event::Draft;
use serde_json::{Value, json};

use super::error::ImportError;
use super::folder::Folder;
use super::record::Record;
use super::teller::Teller;
use super::{Problem, System};

/// A document that is larger is named, and not kept.
const MOST_KEPT: u64 = 16 << 20;

/// Tells every file that `is_told` does not know.
pub(super) fn tell_rest(
    system: System,
    folder: &Folder,
    teller: &mut Teller,
    is_told: impl Fn(&str) -> bool,
) -> Result<(), ImportError> {
    for (name, bytes) in folder.files().filter(|(name, _)| !is_told(name)) {
        if bytes > MOST_KEPT {
            let facts = json!({ "file": name, "bytes": bytes, "kept": false });
            let record = Record { file: name, line: None, offset: 0, bytes: b"" };
            teller.tell(Some(&record), Draft::system("document", facts))?;
            teller.problem(Problem {
                file: name.to_owned(),
                line: None,
                what: format!("has {bytes} bytes; it is named in the run, and not kept"),
            });
            continue;
        }
        let content = folder.read(name)?.unwrap_or_default();
        let record = Record::document(name, &content);
        let is_ours_to_check = name.ends_with(".json") && !system.is_work(name);
        if is_ours_to_check && serde_json::from_slice::<Value>(&content).is_err() {
            teller.unknown(&record, "is not JSON")?;
        } else {
            let facts = json!({ "file": name, "bytes": content.len() });
            teller.tell(Some(&record), Draft::system("document", facts))?;
        }
    }
    Ok(())
}
