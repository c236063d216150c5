//! The audit trail: one line when a run begins, one when it ends, beside and apart from transcripts.
//!
//! It tells who ran what with which inputs and how that ended, and nothing of what happened between.

mod line;
mod wire;

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use quipu_event::{RunId, Timestamp};
use serde_json::Map;

use crate::language::Value;

/// The variables that say where the trail is kept, or `off`; the first that is set counts.
const VARIABLES: &[&str] = &["QUIPU_AUDIT_LOG", "AWF_AUDIT_LOG"];

/// Where the audit trail is kept.
#[derive(Clone, Debug)]
pub struct Audit {
    file: Option<PathBuf>,
    zone: TimeZone,
}

/// A run begins.
#[derive(Clone, Debug)]
pub struct AuditStart<'a> {
    /// Which.
    pub run: &'a RunId,
    /// When.
    pub time: Timestamp,
    /// Who runs it.
    pub user: &'a str,
    /// The workflow's name.
    pub workflow: &'a str,
    /// What it was given, secrets masked.
    pub inputs: &'a Map<String, Value>,
}

/// A run is over.
#[derive(Clone, Debug)]
pub struct AuditEnd<'a> {
    /// Which.
    pub run: &'a RunId,
    /// When.
    pub time: Timestamp,
    /// Who ran it.
    pub user: &'a str,
    /// The workflow's name.
    pub workflow: &'a str,
    /// Whether it succeeded.
    pub success: bool,
    /// The exit code of the program that ran it.
    pub exit_code: u8,
    /// How long it took.
    pub duration_ms: u64,
    /// Why it did not succeed, secrets masked.
    pub error: Option<&'a str>,
}

impl Audit {
    /// Keeps no trail.
    pub fn off() -> Audit {
        Audit { file: None, zone: TimeZone::UTC }
    }

    /// Keeps the trail in `file`, with times of the zone that the system is set to.
    pub fn at(file: impl Into<PathBuf>) -> Audit {
        Audit { file: Some(file.into()), zone: TimeZone::system() }
    }

    /// Keeps the trail where the environment says; in `audit.jsonl` below `storage` if it does not.
    pub fn from_env(storage: &Path, variable: impl Fn(&str) -> Option<String>) -> Audit {
        let said = VARIABLES.iter().filter_map(|name| variable(name)).find(|said| !said.is_empty());
        match said {
            Some(said) if said.eq_ignore_ascii_case("off") => Audit::off(),
            Some(said) => Audit::at(said),
            None => Audit::at(storage.join("audit.jsonl")),
        }
    }

    /// Writes times with the offset of `zone`.
    pub fn in_zone(mut self, zone: TimeZone) -> Audit {
        self.zone = zone;
        self
    }

    /// Tells that a run begins.
    ///
    /// # Errors
    ///
    /// Fails when the line cannot be written.
    pub fn started(&self, start: &AuditStart<'_>) -> io::Result<()> {
        self.append(|| line::started(start, &self.zone))
    }

    /// Tells that a run is over.
    ///
    /// # Errors
    ///
    /// Fails when the line cannot be written.
    pub fn completed(&self, end: &AuditEnd<'_>) -> io::Result<()> {
        self.append(|| line::completed(end, &self.zone))
    }

    fn append(&self, line: impl FnOnce() -> String) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        if let Some(dir) = file.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
        let mut permissions = file.metadata()?.permissions();
        if permissions.mode() & 0o077 != 0 && file.metadata()?.is_file() {
            permissions.set_mode(0o600);
            file.set_permissions(permissions)?;
        }
        // One call for the whole line: lines of runs side by side do not mix.
        file.write_all(line().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn where_to(variables: &[(&str, &str)]) -> Option<PathBuf> {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        Audit::from_env(Path::new("/storage"), find).file
    }

    #[test]
    fn the_environment_says_where_the_trail_is() {
        type Variables<'a> = &'a [(&'a str, &'a str)];
        let cases: [(Variables<'_>, Option<&str>); 6] = [
            (&[], Some("/storage/audit.jsonl")),
            (&[("QUIPU_AUDIT_LOG", "")], Some("/storage/audit.jsonl")),
            (&[("AWF_AUDIT_LOG", "/var/a.jsonl")], Some("/var/a.jsonl")),
            (&[("AWF_AUDIT_LOG", "off"), ("QUIPU_AUDIT_LOG", "/q")], Some("/q")),
            (&[("QUIPU_AUDIT_LOG", "off")], None),
            (&[("AWF_AUDIT_LOG", "OFF")], None),
        ];
        for (variables, file) in cases {
            assert_eq!(where_to(variables), file.map(PathBuf::from), "{variables:?}");
        }
    }

    #[test]
    fn the_trail_is_closed_to_others_and_only_grows() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("deep/audit.jsonl");
        let audit = Audit::at(&file);
        let run = RunId::random();
        let inputs = Map::new();
        let time = Timestamp::from_micros(0);
        let start = AuditStart { run: &run, time, user: "u", workflow: "w", inputs: &inputs };
        audit.started(&start).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        audit.started(&start).unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 2);
    }
}
