//! Real workflow files: each is valid, or wrong for the reason that its name says.
//!
//! The files are not part of the repository: they are read from `QUIPU_FIXTURES`, or from a folder
//! beside the workspace. Where neither is there, the test says that it checked nothing.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use quipu_workflow::definition::{Checked, Places, check};

/// Words in a file's name that promise an error, and what the error must speak of.
const PROMISES: [(&str, &str); 13] = [
    ("invalid-bad-state-ref", "which is no step"),
    ("invalid-state-ref", "which is no step"),
    ("invalid-continue-from", "`continue_from` names"),
    ("workflow-error", "which is no step"),
    ("syntax", "not YAML"),
    ("colon", "not YAML"),
    ("missing-name", "has no `name`"),
    ("circular", "in a circle"),
    ("unknown-key", "is no key of `mcp_proxy`"),
    ("empty-proxy", "`mcp_proxy` is empty"),
    ("name-collision", "name collision"),
    ("multi-error", "name collision"),
    ("forward-ref", "cannot have run before"),
];

/// Files that are wrong although their name does not say so, and why.
const WRONG: [(&str, &str, &str); 6] = [
    ("agent-parallel", "has no branches", "`branches` is no key of the language"),
    ("github-batch", "has no `initial`", "and `type: step` takes no operation"),
    ("github-operations", "has no `initial`", "and `type: step` takes no operation"),
    ("github-pr-test", "has no `initial`", "and `type: step` takes no operation"),
    ("notify-webhook", "has no `initial`", "and `completed` is no status"),
    ("manifest", "has no `states`", "the manifest of a pack is no workflow"),
];

/// Files whose name promises too much, and what is said of them instead.
const WARNED: [(&str, &str, &str); 2] = [
    ("loop-dynamic-invalid", "input `undefined_var` is not declared", "its input can be given"),
    ("unknown-operation", "is unknown", "the plugin may be there when it runs"),
];

#[test]
fn real_workflows_are_valid_or_wrong_for_the_reason_their_name_says() {
    let Some(home) = fixtures().map(|home| home.join("workflows")) else { return };
    let mut files = Vec::new();
    collect(&home, &mut files);
    files.sort();
    let mut complaints = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let project = file.parent().unwrap();
        let checked = check(file, &text, &Places::of_project(project));
        complaints.extend(judge(file, &checked));
    }
    tell(format!("checked {} workflow files", files.len()));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn judge(file: &Path, checked: &Checked) -> Option<String> {
    let name = file.file_stem().unwrap().to_string_lossy();
    let listed = |table: &[(&'static str, &'static str, &'static str)]| {
        table.iter().find(|(part, ..)| name.contains(part)).map(|(_, message, _)| *message)
    };
    let told = format!("{}:\n{}", file.display(), checked.problems);
    if let Some(message) = listed(&WARNED) {
        let warned = checked.problems.warnings().any(|problem| problem.message.contains(message));
        let right = warned && !checked.problems.has_errors();
        return (!right).then(|| format!("should only be warned of {message:?}: {told}"));
    }
    let promised = PROMISES.iter().find(|(part, _)| name.contains(part)).map(|(_, what)| *what);
    match promised.or_else(|| listed(&WRONG)) {
        Some(message) => {
            let said = checked.problems.errors().any(|problem| problem.message.contains(message));
            (!said).then(|| format!("should be wrong for {message:?}: {told}"))
        }
        None => checked.problems.has_errors().then(|| format!("should be valid: {told}")),
    }
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "yaml" || end == "yml") {
            files.push(path);
        }
    }
}

/// Returns the folder of real files, if there is one.
fn fixtures() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let folder = std::env::var_os("QUIPU_FIXTURES").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        tell(format!("NOT CHECKED: there are no real workflows at {}", folder.display()));
        return None;
    }
    Some(folder)
}

/// Says something even when the test succeeds.
fn tell(text: String) {
    // A test whose output is closed still checks.
    let _ = writeln!(std::io::stderr(), "{text}");
}
