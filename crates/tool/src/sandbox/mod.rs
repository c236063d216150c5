//! The directory that a call may not leave.
//!
//! A path is resolved by the system, from an open directory on, with the order not to leave it
//! (`openat2` with `RESOLVE_BENEATH` on Linux, step by step elsewhere); what a path looks like decides
//! nothing. So a link that is put in the way between two looks leads nowhere either. What was opened is
//! looked at again: only regular files of one name are let through.

mod confinement;
mod file;
mod nearby;
mod replace;
mod root;
mod trouble;
mod walk;

pub(crate) use confinement::{Confinement, Hold};
pub(crate) use file::Opened;
pub(crate) use root::{Place, Root};
pub(crate) use trouble::{Refusal, Trouble};
pub(crate) use walk::{FoundKind, Walk, names_in};
