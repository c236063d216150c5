//! One writer per run: an advisory lock on the transcript itself, and who holds it.
//!
//! The lock belongs to the open file, so it vanishes with the process, however that ends. There
//! is no lock file that could be stale.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use crate::open::open;

/// How often the system's table of locks is read before a holder counts as unnamed.
const LOOKS_AT_THE_TABLE: usize = 10;

/// Who holds a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A process that we can see.
    Process {
        /// Its id.
        pid: u32,
        /// Its command line, cut short, if it may be seen.
        command: Option<String>,
    },
    /// Somebody whom the system does not name.
    Unnamed,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holder::Process { pid, .. } if *pid == std::process::id() => {
                write!(f, "this very process (pid {pid})")
            }
            Holder::Process { pid, command: Some(command) } => write!(f, "pid {pid} ({command})"),
            Holder::Process { pid, command: None } => write!(f, "pid {pid}"),
            Holder::Unnamed => f.write_str("another process, which the system does not name"),
        }
    }
}

/// Takes the writer's lock on `file`, or says who has it.
///
/// A reader's look at the lock holds it for a moment, so a first refusal is not believed.
pub(crate) fn take(file: &File) -> io::Result<Result<(), Holder>> {
    for patience in [1, 2, 4, 8, 0] {
        match file.try_lock() {
            Ok(()) => return Ok(Ok(())),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(patience)),
        }
    }
    Ok(Err(holder_of(file)))
}

/// Returns who writes the transcript at `path` now, if anybody does.
pub fn writer_of(path: &Path) -> io::Result<Option<Holder>> {
    writer_of_opened(&open(path)?)
}

/// Returns who writes the transcript that `file` is, if anybody does.
///
/// A look takes a reader's lock, and it lasts as long as the file is open: do not keep it.
pub(crate) fn writer_of_opened(file: &File) -> io::Result<Option<Holder>> {
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Ok(Some(holder_of(file))),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn holder_of(file: &File) -> Holder {
    let listed = || {
        let inode = file.metadata().ok()?.ino();
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        locks.lines().find_map(|line| pid_of_lock(line, inode))
    };
    // The table is read in pieces, and one that changes meanwhile may leave lines out.
    for _ in 0..LOOKS_AT_THE_TABLE {
        if let Some(pid) = listed() {
            return Holder::Process { pid, command: command_of(pid) };
        }
        sleep(Duration::from_millis(1));
    }
    Holder::Unnamed
}

/// Reads one line of `/proc/locks`: `1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF`.
///
/// The device is not compared: file systems that make up device numbers disagree with it. Another
/// file of the same inode number, locked whole at the same moment, would be named instead.
fn pid_of_lock(line: &str, inode: u64) -> Option<u32> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let at = fields.iter().position(|field| *field == "FLOCK")?;
    let (mode, pid, place) = (fields.get(at + 2)?, fields.get(at + 3)?, fields.get(at + 4)?);
    let same_file = place.rsplit(':').next()?.parse() == Ok(inode);
    let pid: u32 = pid.parse().ok()?;
    (*mode == "WRITE" && same_file && pid != 0).then_some(pid)
}

fn command_of(pid: u32) -> Option<String> {
    let raw = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let text = shown(&String::from_utf8_lossy(&raw));
    let text: String = text.trim().chars().take(80).filter(|c| !c.is_control()).collect();
    (!text.is_empty()).then_some(text)
}

/// Returns the words of a command line, without what is given a name in it: that may be a secret.
fn shown(command_line: &str) -> String {
    let words = command_line.split('\0').map(|word| match word.split_once('=') {
        Some((name, _)) => format!("{name}=…"),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_line_gives_a_name_is_not_shown() {
        let line = "quipu\0run\0w.yaml\0-i\0api_key=hunter2\0--input=a=b\0";
        assert_eq!(shown(line).trim(), "quipu run w.yaml -i api_key=… --input=…");
    }

    #[test]
    fn a_line_of_the_lock_table_names_the_writer_of_its_inode() {
        let line = "3: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF";
        assert_eq!(pid_of_lock(line, 1234), Some(4711));
        assert_eq!(pid_of_lock(line, 1235), None);
        assert_eq!(pid_of_lock("3: -> FLOCK  ADVISORY  WRITE 9 fe:00:7 0 EOF", 7), Some(9));
        assert_eq!(pid_of_lock("3: FLOCK  ADVISORY  READ 9 fe:00:7 0 EOF", 7), None);
        assert_eq!(pid_of_lock("3: POSIX  ADVISORY  WRITE 9 fe:00:7 0 EOF", 7), None);
        assert_eq!(pid_of_lock("", 7), None);
    }
}
