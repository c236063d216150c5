//! Text files for templates, read from the disk.

use std::io;
use std::path::Path;

use crate::engine::ReadFile;

/// The longest file that is read into a template.
const LONGEST: u64 = 1 << 20;

/// Reads files from the disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskFiles;

impl ReadFile for DiskFiles {
    fn read(&self, path: &Path) -> Result<String, String> {
        let size = std::fs::metadata(path).map_err(told)?.len();
        if size > LONGEST {
            return Err(format!("{size} bytes are more than the {LONGEST} that are read"));
        }
        std::fs::read_to_string(path).map_err(told)
    }
}

fn told(cause: io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::InvalidData => "it is no UTF-8 text".to_owned(),
        _ => cause.to_string(),
    }
}
