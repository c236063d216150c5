//! Workflow files become checked plans, and what is wrong is told with its place.
//!
//! This file is the harness; each of its modules holds the tests of one part.

/// Called workflows.
mod calls;
/// Whatever a file says, checking it ends.
mod damage;
/// Where files are, and loading them.
mod files;
/// What a run is given.
mod inputs;
/// What is wrong with a file, and where.
mod mistakes;
/// A plan with one of each.
mod plan;
/// Templates of steps.
mod templates;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quipu_workflow::definition::{
    Checked, Document, Library, NoLibrary, NotFound, Workflow, check,
};

/// Files that are only in memory.
#[derive(Default)]
struct Shelf(BTreeMap<&'static str, String>);

impl Shelf {
    fn find(&self, name: &str) -> Result<Document, NotFound> {
        let text = self.0.get(name).cloned().ok_or_else(|| NotFound {
            name: name.to_owned(),
            places: vec![PathBuf::from(format!("shelf/{name}.yaml"))],
            known: self.0.keys().map(ToString::to_string).collect(),
            cause: None,
        })?;
        Ok(Document { path: format!("{name}.yaml").into(), text })
    }
}

impl Library for Shelf {
    fn workflow(&self, name: &str, _caller: &Path) -> Result<Document, NotFound> {
        self.find(name)
    }

    fn template(&self, name: &str, _user: &Path) -> Result<Document, NotFound> {
        self.find(name)
    }
}

fn check_text(text: &str) -> Checked {
    check(Path::new("w.yaml"), text, &NoLibrary)
}

/// Checks a text that must be right.
fn valid(text: &str) -> Workflow {
    let checked = check_text(text);
    checked.workflow.unwrap_or_else(|| panic!("{text}\n{}", checked.problems))
}

/// A workflow whose only step says this; its lines begin at line 5.
fn one_step(step: &str) -> String {
    let mut text = "name: w\nstates:\n  initial: a\n  a:\n".to_owned();
    for line in step.lines() {
        text.push_str(&format!("    {line}\n"));
    }
    text.push_str("  done: {type: terminal}\n");
    text
}

/// A workflow whose first step leads to its end, with more at the top.
fn with_top(top: &str) -> String {
    format!(
        "name: w\n{top}\nstates:\n  initial: a\n  a: {{type: step, command: 'true', on_success: e}}\n  \
         e: {{type: terminal}}\n"
    )
}

/// Each expected problem is `line:column: severity: part of the message | part of the rest`.
fn expect(text: &str, library: &dyn Library, expected: &[&str]) {
    let checked = check(Path::new("w.yaml"), text, library);
    let told: Vec<String> = checked.problems.iter().map(ToString::to_string).collect();
    let complaint = format!("{text}\n-- told:\n{}\n", told.join("\n"));
    assert_eq!(told.len(), expected.len(), "{complaint}");
    for (told, expected) in told.iter().zip(expected) {
        let mut parts = expected.split(" | ");
        let head = parts.next().unwrap();
        assert!(told.contains(&format!(".yaml:{head}")), "{complaint}expected {head}");
        for part in parts {
            assert!(told.contains(part), "{complaint}expected {part}");
        }
    }
}
