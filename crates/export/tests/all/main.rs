//! Exports as their readers meet them: files on a disk.
//!
//! - `exporting`: which runs and files there are, and what is said of them.
//! - `folders`: what is in the way, what fails, who may read.
//! - `layouts`: what holds for every layout in the catalogue.
//! - `live`: views while a run goes on.
//! - `parquet`: tables, read back.
//! - `pushing`: spans over the wire, to a server on this machine.
//! - `redacting`: secrets.

#![expect(clippy::unwrap_used, reason = "a test may fail wherever it likes")]

mod exporting;
mod folders;
mod layouts;
mod live;
mod parquet;
mod pushing;
mod redacting;
