//! `cargo xtask tidy`: every check, one after the other.
//!
//! The list is the whole content of this file; what a check does is said in its own.

use crate::report::Report;
use crate::repository::{Mode, Repository};
use crate::{edges, format_page, promises, provider_folders, schema_file, source_files, words};

/// Runs every check, prints what they found, and tells whether all is well.
pub(crate) fn run(repository: &Repository, mode: Mode) -> anyhow::Result<bool> {
    let mut report = Report::default();
    edges::check(repository, &mut report)?;
    schema_file::check(repository, mode, &mut report)?;
    format_page::check(repository, mode, &mut report)?;
    promises::check(repository, &mut report)?;
    provider_folders::check(repository, &mut report)?;
    source_files::check(repository, &mut report)?;
    words::check(repository, &mut report)?;
    report.print();
    Ok(report.is_clean())
}
