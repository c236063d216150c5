//! The operations there are, and what to say of a name that is none of them.

use crate::definition::did_you_mean;

/// Every operation, in the order of the documentation.
pub const OPERATIONS: &[&str] = &[
    "http.request",
    "notify.send",
    "github.get_issue",
    "github.get_pr",
    "github.create_issue",
    "github.create_pr",
    "github.add_labels",
    "github.add_comment",
    "github.list_comments",
    "github.batch",
];

/// Says that there is no such operation, and which there are.
pub(super) fn unknown(name: &str) -> String {
    let hint = did_you_mean(name, OPERATIONS.iter().copied());
    let hint = hint.map(|hint| format!("{hint} ")).unwrap_or_default();
    format!("unknown operation `{name}`: {hint}there are {}", OPERATIONS.join(", "))
}
