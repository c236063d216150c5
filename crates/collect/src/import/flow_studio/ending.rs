//! How a file of lines ends, where that cannot be told from its lines: so that it can be made again.

use quipu_event::Draft;
use serde_json::json;

use super::super::error::ImportError;
use super::super::record::Record;
use super::super::teller::Teller;

/// Tells that a file is empty, that empty lines stand at its end, or that its last line has none.
pub(super) fn tell(file: &str, bytes: &[u8], teller: &mut Teller) -> Result<(), ImportError> {
    let at = |offset: usize| Record { file, line: None, offset: offset as u64, bytes: b"" };
    if bytes.is_empty() {
        let facts = json!({ "file": file, "bytes": 0 });
        return teller.tell(Some(&at(0)), Draft::system("document", facts));
    }
    if bytes == b"\n" || bytes.ends_with(b"\n\n") {
        let facts = json!({ "file": file });
        return teller.tell(Some(&at(bytes.len() - 1)), Draft::system("empty_lines", facts));
    }
    teller.check_last_line(file, bytes)
}
