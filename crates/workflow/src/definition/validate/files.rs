//! Whether the prompts, scripts, skills and roles that steps name are there.
//!
//! A file that is not there yet may be made by the run itself, so that this is a warning.

use super::super::library::{Library, NamedFile};
use super::super::parse::Notes;
use super::super::problem::{Problem, Problems};
use super::Workflow;

pub(super) fn check(
    workflow: &Workflow,
    notes: &Notes,
    library: &dyn Library,
    problems: &mut Problems,
) {
    for (named, key, place) in &notes.files {
        let Some(places) = library.missing(named, &workflow.file) else { continue };
        let message = match named {
            NamedFile::Text(name) => format!("{key}: there is no file `{name}`"),
            NamedFile::Skill(name) => format!("there is no skill `{name}`"),
            NamedFile::SkillAt(name) => format!("there is no skill at `{name}`"),
            NamedFile::Role(name) => format!("there is no role `{name}`"),
        };
        let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        let hint = (!looked.is_empty()).then(|| format!("looked for {}", looked.join(", ")));
        problems.push(Problem::warning(place, message).hint(hint));
    }
}
