//! Reading and checking a workflow file as a whole.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::library::Library;
use super::locate::{Places, read_bytes};
use super::parse::{self, Reader};
use super::problem::{Place, Problem, Problems};
use super::{Workflow, template, validate, yaml};

/// A workflow that can be run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The workflow.
    pub workflow: Workflow,
    /// What looks wrong all the same.
    pub warnings: Vec<Problem>,
}

/// A workflow that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file says something wrong.
    #[error("{problems}")]
    Invalid {
        /// All that is wrong with it, warnings too.
        problems: Problems,
    },
}

/// What checking a file came to.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The workflow, if it can be run. A template of steps is none.
    pub workflow: Option<Workflow>,
    /// What kind of file it is.
    pub kind: FileKind,
    /// How many steps it has.
    pub steps: usize,
    /// All that is wrong with it.
    pub problems: Problems,
}

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A workflow.
    Workflow,
    /// A template of steps.
    Template,
}

/// Reads and checks a file. Other files that it names are looked for where this process has them.
pub fn load(path: &Path) -> Result<Loaded, LoadError> {
    load_with(path, &Places::of_process())
}

/// Reads and checks a file. Other files that it names are looked for in `library`.
pub fn load_with(path: &Path, library: &dyn Library) -> Result<Loaded, LoadError> {
    let text = match read_source(path) {
        Ok(Ok(text)) => text,
        Ok(Err(problem)) => return Err(LoadError::Invalid { problems: Problems::from(problem) }),
        Err(source) => return Err(LoadError::Read { path: path.to_owned(), source }),
    };
    let mut checked = check(path, &text, library);
    match checked.workflow.take() {
        Some(workflow) => Ok(Loaded { workflow, warnings: checked.problems.into_iter().collect() }),
        None => {
            if checked.kind == FileKind::Template {
                let place = Place { file: path.into(), line: 1, column: 1 };
                let message =
                    "this is a template of steps, not a workflow: it cannot be run by itself";
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                let hint = format!("a step of a workflow uses it: `use_template: {name}`");
                let problem = Problem::error(&place, message).hint(hint);
                checked.problems.push(problem.expected("a file without `parameters`"));
            }
            Err(LoadError::Invalid { problems: checked.problems })
        }
    }
}

/// Reads a file's text; a file that holds something else says where.
///
/// # Errors
///
/// Fails when the file cannot be read, or is far too big for a workflow.
pub fn read_source(path: &Path) -> io::Result<Result<String, Problem>> {
    let bytes = read_bytes(path)?;
    Ok(String::from_utf8(bytes).map_err(|wrong| {
        let good = wrong.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&wrong.as_bytes()[..good]).into_owned();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let byte = wrong.as_bytes().get(good).copied().unwrap_or_default();
        let place = Place { file: path.into(), line, column };
        Problem::error(&place, format!("the byte 0x{byte:02x} is no part of a text"))
            .expected("a file in UTF-8")
    }))
}

/// Checks a file's text. Opens no file but through `library`.
pub fn check(file: &Path, text: &str, library: &dyn Library) -> Checked {
    let mut checked = Checked {
        workflow: None,
        kind: FileKind::Workflow,
        steps: 0,
        problems: Problems::default(),
    };
    let root = match yaml::read(file, text) {
        Ok(root) => root,
        Err(problems) => return Checked { problems, ..checked },
    };
    if template::is_template(&root) {
        checked.kind = FileKind::Template;
        checked.steps = template::check(&mut checked.problems, &root, library);
        checked.problems.settle();
        return checked;
    }
    let mut reader = Reader::default();
    reader.plugins.extend(library.plugins());
    let mut workflow = parse::read(&mut reader, &root, &template::Expander::new(library));
    let Reader { mut problems, notes, .. } = reader;
    validate::validate(&workflow, &notes, library, &mut problems);
    problems.settle();
    checked.steps = notes.steps.len();
    if !problems.has_errors() {
        workflow.sha256 = hash(text);
        checked.workflow = Some(workflow);
    }
    checked.problems = problems;
    checked
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
