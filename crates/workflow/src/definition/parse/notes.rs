//! What reading leaves for checking: every name and text that refers to something, with its place.
//!
//! The plan itself holds no places. These notes do, and are thrown away once the plan is checked.

use std::collections::BTreeMap;

use super::super::library::NamedFile;
use super::super::problem::Place;

/// What was seen while reading.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Where each step is defined, whether or not it could be read.
    pub(crate) steps: BTreeMap<String, Place>,
    /// The first step, and where it is named.
    pub(crate) initial: Option<(String, Place)>,
    /// Every name that must be a step's.
    pub(crate) targets: Vec<Target>,
    /// Every template and expression.
    pub(crate) texts: Vec<Text>,
    /// Every workflow that is called by a name that is known before the run.
    pub(crate) calls: Vec<Call>,
    /// Every file that a step reads by a name that is known before the run, and its key.
    pub(crate) files: Vec<(NamedFile, &'static str, Place)>,
    /// Where each input is declared.
    pub(crate) inputs: BTreeMap<String, Place>,
    /// Where the default of each input stands.
    pub(crate) defaults: BTreeMap<String, Place>,
}

/// A name that must be a step's.
#[derive(Debug)]
pub(crate) struct Target {
    /// The step that names it.
    pub(crate) from: String,
    /// The name.
    pub(crate) name: String,
    /// Where it is named.
    pub(crate) place: Place,
    /// The part it plays.
    pub(crate) role: Role,
}

/// The part that one step plays for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The run goes there.
    Next(&'static str),
    /// It runs inside of a loop.
    Body,
    /// It runs inside of a parallel step.
    Branch,
    /// Its session is continued.
    Session,
}

/// A template or expression.
#[derive(Debug)]
pub(crate) struct Text {
    /// The step it belongs to; none in the workflow's hooks and outputs.
    pub(crate) step: Option<String>,
    /// Which of the two it is.
    pub(crate) language: Language,
    /// When it is filled in.
    pub(crate) moment: Moment,
    /// What it looks up, and where that stands.
    pub(crate) references: Vec<(Vec<String>, Place)>,
}

/// In which of the two small languages a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Template,
    Expression,
}

/// When a text is filled in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before its step runs.
    #[default]
    Before,
    /// After its step ran.
    After,
    /// After each turn of a conversation.
    Turn,
}

/// A call of a workflow.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its name or path.
    pub(crate) workflow: String,
    /// Where it is named.
    pub(crate) place: Place,
    /// The names of what it is given.
    pub(crate) inputs: Vec<String>,
}
