//! Why something cannot be had: it is refused, or it is not there.

use std::io;

/// Why a tool could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// It was asked for something that it may not touch.
    #[error("refused: {file}: {why}")]
    Refused {
        /// What was asked for: relative to the root if it is in there.
        file: String,
        /// Why not.
        why: Refusal,
    },
    /// It might have, and could not.
    #[error("{0}")]
    Failed(String),
}

/// Why something is out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// It is somewhere else.
    #[error("the path leads outside of the directory that tools may work in")]
    Outside,
    /// Nobody can say where it is.
    #[error("its links lead in circles, or through the system's own")]
    Links,
    /// It has another name, and that may be outside.
    #[error(
        "the file has {names} names (hard links), and another one may be outside of the directory"
    )]
    HardLink {
        /// How many.
        names: u64,
    },
    /// Opening it does something else than reading a file.
    #[error("it is not a regular file but a {what}")]
    NotRegular {
        /// What it is.
        what: &'static str,
    },
}

/// Tells whether the system stopped on the way because the way led out.
pub(super) fn is_escape(cause: &io::Error) -> bool {
    // A file that may not be read has an error of the system's own, with a number.
    let is_ours = cause.kind() == io::ErrorKind::PermissionDenied && cause.raw_os_error().is_none();
    is_ours || cause.raw_os_error() == Some(rustix::io::Errno::XDEV.raw_os_error())
}

/// Tells whether the system stopped at a link that it will not follow.
pub(super) fn is_link_trouble(cause: &io::Error) -> bool {
    cause.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}
