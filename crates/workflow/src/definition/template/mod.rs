//! Templates of steps: `use_template: name` with `parameters`.
//!
//! A template is put in place of the step before the step is read, so that everything that is
//! wrong in it is told with its place in the template's own file. These have nothing to do with
//! `{{ … }}` in texts, except that `{{parameters.x}}` is replaced here, as text.

mod file;
mod fill;

use std::borrow::Cow;
use std::path::Path;

use super::library::Library;
use super::problem::{Problem, Problems};
use super::yaml::{Content, Entry, Node, Scalar, Style, read};
pub(crate) use file::{check, is_template};

/// A template leads to steps of its own file; a step that uses it says itself where it leads.
const OWN_WAYS: [&str; 5] = ["on_success", "on_failure", "transitions", "on_complete", "next"];

/// Puts templates in place of the steps that use them.
pub(crate) struct Expander<'l> {
    library: &'l dyn Library,
}

impl<'l> Expander<'l> {
    pub(crate) fn new(library: &'l dyn Library) -> Self {
        Expander { library }
    }

    /// Returns a step as it is when its template is filled in; nothing if that cannot be done.
    pub(crate) fn expand<'n>(
        &self,
        problems: &mut Problems,
        step: &'n Node,
    ) -> Option<Cow<'n, Node>> {
        self.expand_within(problems, step, &mut Vec::new())
    }

    /// `chain` holds the templates whose insides this step is.
    pub(crate) fn expand_within<'n>(
        &self,
        problems: &mut Problems,
        step: &'n Node,
        chain: &mut Vec<String>,
    ) -> Option<Cow<'n, Node>> {
        let Some(used) = step.get("use_template") else { return Some(Cow::Borrowed(step)) };
        let Some(name) = used.scalar().map(|scalar| scalar.text.clone()) else {
            let message = format!("`use_template` is {}", used.describe());
            problems.push(Problem::error(&used.place, message).expected("the name of a template"));
            return None;
        };
        if chain.contains(&name) {
            let circle = chain.iter().chain([&name]).map(String::as_str).collect::<Vec<_>>();
            let message = format!("templates use each other in a circle: {}", circle.join(" → "));
            let expected = "a template that does not come back to itself";
            problems.push(Problem::error(&used.place, message).expected(expected));
            return None;
        }
        let root = self.open(problems, used, &name, &step.place.file)?;
        let template = file::read(problems, &root)?;
        let parameters = fill::bind(problems, &name, &template, step)?;
        let state = fill::fill(problems, template.state(&name), &parameters);
        chain.push(name);
        let state = self.expand_within(problems, &state, chain)?.into_owned();
        chain.pop();
        Some(Cow::Owned(combine(step, state)))
    }

    fn open(&self, problems: &mut Problems, used: &Node, name: &str, user: &Path) -> Option<Node> {
        match self.library.template(name, user) {
            Ok(document) => match read(&document.path, &document.text) {
                Ok(root) => Some(root),
                Err(found) => {
                    found.into_iter().for_each(|problem| problems.push(problem));
                    None
                }
            },
            Err(missing) => {
                let message = match &missing.cause {
                    Some(cause) => format!("template `{name}` cannot be read: {cause}"),
                    None => format!("there is no template `{name}`"),
                };
                let mut problem = Problem::error(&used.place, message).hint(missing.hint());
                if !missing.places.is_empty() {
                    problem = problem.expected(format!("one of {}", missing.looked()));
                }
                problems.push(problem);
                None
            }
        }
    }
}

/// Adds to a step what its template says and it does not say itself.
fn combine(step: &Node, template: Node) -> Node {
    let own = step.mapping().unwrap_or_default();
    let mut entries: Vec<Entry> = own
        .iter()
        .filter(|entry| !matches!(entry.key.as_str(), "use_template" | "parameters"))
        .cloned()
        .collect();
    if let Content::Mapping(more) = template.content {
        for entry in more {
            let inline = entry.key == "on_failure" && entry.value.mapping().is_some();
            let leads_astray = OWN_WAYS.contains(&entry.key.as_str()) && !inline;
            if !leads_astray && !entries.iter().any(|own| own.key == entry.key) {
                entries.push(entry);
            }
        }
    }
    if !entries.iter().any(|entry| entry.key == "type") {
        let place = step.place.clone();
        let scalar = Scalar::made("step".to_owned(), Style::Plain);
        let value = Node { place: place.clone(), content: Content::Scalar(scalar) };
        entries.push(Entry { key: "type".to_owned(), key_place: place, value });
    }
    Node { place: step.place.clone(), content: Content::Mapping(entries) }
}
