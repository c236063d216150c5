//! The tools that are built in: Read, Write, Edit, Bash, Glob, Grep and List.
//!
//! All of them work in the root of the call's context and cannot leave it. A path is relative to the
//! root, or absolute and within it; one that leads elsewhere, by whatever way, is refused: the call is
//! `blocked` and leaves a `file.rejected` that says why. Refused too are files that have more than one
//! name, since the other name may be outside, and what is no regular file. Links are followed as long as
//! they stay inside; a link with an absolute target never does.
//!
//! `Read` leaves a `file.read` and `Write` and `Edit` leave a `file.written`, with the size and the SHA-256
//! of what passed. `Grep` reads many files and hands out a line here and there, so it leaves none of
//! these, nor do `Glob` and `List`; what a program that `Bash` starts does to files is not seen.
//!
//! `Bash` is confined by the kernel where it can be (Landlock); where it cannot, its description says
//! so and every call leaves a `system` event `sandbox_unavailable`. Its programs do not get variables
//! whose names say that they hold a secret.

mod arguments;
mod bash;
mod edit;
mod glob;
mod grep;
mod list;
mod on_files;
mod read;
mod write;

use std::sync::Arc;

use crate::Tool;

/// The longest text that `Write` and `Edit` take and leave, and the longest file that `Edit` takes and
/// `Read` shows whole, in bytes. Of a longer file `Read` shows the lines that are asked for.
pub const LONGEST_FILE: u64 = 5 * 1024 * 1024;
/// The most lines that `Glob`, `Grep` and `List` answer.
pub const MOST_LINES: usize = 10_000;

/// Returns every tool that is built in.
pub fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(bash::Bash::new()),
        Arc::new(on_files::OnFiles::new(&edit::EDIT)),
        Arc::new(on_files::OnFiles::new(&glob::GLOB)),
        Arc::new(on_files::OnFiles::new(&grep::GREP)),
        Arc::new(on_files::OnFiles::new(&list::LIST)),
        Arc::new(on_files::OnFiles::new(&read::READ)),
        Arc::new(on_files::OnFiles::new(&write::WRITE)),
    ]
}
