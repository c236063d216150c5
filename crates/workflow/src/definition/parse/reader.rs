//! Reads single values out of the tree, and keeps what is wrong with them.
//!
//! Nothing here stops: a value that cannot be used is noted, and the reading goes on without it.

use std::collections::BTreeSet;

use super::notes::{Language, Moment, Notes, Role, Target, Text};
use crate::definition::library::NamedFile;
use crate::definition::problem::{Place, Problem, Problems};
use crate::definition::suggest::{did_you_mean, one_of};
use crate::definition::yaml::Node;
use crate::language::{Expression, Reference, SyntaxError, Template, Value};
use crate::operation::{NAMESPACES, OPERATIONS};

/// The state of reading one file.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// What is wrong so far.
    pub(crate) problems: Problems,
    /// What is to be checked when all is read.
    pub(crate) notes: Notes,
    /// The plugins that are configured, here or around.
    pub(crate) plugins: BTreeSet<String>,
    /// The step that is being read.
    pub(crate) step: Option<String>,
    /// When the texts that are being read are filled in.
    pub(crate) moment: Moment,
}

impl Reader {
    /// Notes an error.
    pub(super) fn error(&mut self, place: &Place, message: impl Into<String>, expected: &str) {
        self.problems.push(Problem::error(place, message).expected(expected));
    }

    /// Reads a text. Numbers and truths are texts too when a text is wanted.
    pub(super) fn text(&mut self, what: &str, node: &Node) -> Option<String> {
        match node.scalar() {
            Some(scalar) => Some(scalar.text.clone()),
            None => {
                self.error(&node.place, format!("{what} is {}", node.describe()), "a text");
                None
            }
        }
    }

    /// Reads a list of names, each with its place.
    pub(super) fn names(&mut self, what: &str, node: &Node) -> Vec<(String, Place)> {
        let crate::definition::yaml::Content::Sequence(items) = &node.content else {
            let hint = node.scalar().map(|scalar| match scalar.text.trim() {
                // Without quotes YAML takes it for the name of something else.
                "*" => "write `[\"*\"]`".to_owned(),
                text => format!("write `[{text}]`"),
            });
            let problem = Problem::error(&node.place, format!("{what} is {}", node.describe()));
            self.problems.push(problem.expected("a list of names").hint(hint));
            return Vec::new();
        };
        let mut names = Vec::new();
        for item in items {
            match item.scalar().filter(|scalar| !scalar.value.is_null()) {
                Some(scalar) => names.push((scalar.text.clone(), item.place.clone())),
                None => {
                    let message = format!("{what} holds {}", item.describe());
                    self.error(&item.place, message, "a name");
                }
            }
        }
        names
    }

    /// Reads a template.
    pub(super) fn template(&mut self, what: &str, node: &Node) -> Option<Template> {
        let text = self.text(what, node)?;
        let (template, errors) = Template::parse_all(&text);
        if let Some(template) = &template {
            self.refer(Language::Template, node, template.references(), 0);
        }
        errors.iter().for_each(|error| self.syntax(what, node, error));
        template.filter(|_| errors.is_empty())
    }

    /// Reads the name of a file, and notes it if it is known before the run.
    pub(super) fn file_template(
        &mut self,
        what: &'static str,
        node: &Node,
        named: fn(String) -> NamedFile,
    ) -> Option<Template> {
        let template = self.template(what, node)?;
        let name = template.source().trim();
        if template.is_literal() && !name.is_empty() {
            self.notes.files.push((named(name.to_owned()), what, node.place.clone()));
        }
        Some(template)
    }

    /// Reads a bare path, such as `states.build.Output`, as the template that looks it up.
    pub(super) fn path_template(&mut self, what: &str, node: &Node) -> Option<Template> {
        let text = self.text(what, node)?;
        if text.contains("{{") {
            return self.template(what, node);
        }
        match Template::parse(&format!("{{{{{text}}}}}")) {
            Ok(template) => {
                self.refer(Language::Template, node, template.references(), 2);
                Some(template)
            }
            Err(error) => {
                let offset = error.offset.saturating_sub(2);
                self.syntax(what, node, &SyntaxError { offset, message: error.message });
                None
            }
        }
    }

    /// Reads an expression.
    pub(super) fn expression(&mut self, what: &str, node: &Node) -> Option<Expression> {
        let text = self.text(what, node)?;
        match Expression::parse(&text) {
            Ok(expression) => {
                self.refer(Language::Expression, node, expression.references(), 0);
                Some(expression)
            }
            Err(error) => {
                self.syntax(what, node, &error);
                None
            }
        }
    }

    /// Reads a truth. Words that older YAML took for truths are taken for them here too.
    pub(super) fn flag(&mut self, what: &str, node: &Node) -> Option<bool> {
        let word = node.scalar().map(|scalar| scalar.text.to_ascii_lowercase());
        match word.as_deref() {
            Some("true" | "yes" | "on") => Some(true),
            Some("false" | "no" | "off") => Some(false),
            _ => {
                let message = format!("{what} is {}", node.describe());
                self.error(&node.place, message, "`true` or `false`");
                None
            }
        }
    }

    /// Reads a whole number within limits.
    pub(super) fn whole(&mut self, what: &str, node: &Node, least: i64, most: i64) -> Option<i64> {
        let found = node.scalar().and_then(|scalar| match &scalar.value {
            Value::Number(number) => number.as_i64(),
            // A parameter of a template arrives as text.
            _ => scalar.text.trim().parse().ok(),
        });
        match found.filter(|number| (least..=most).contains(number)) {
            Some(number) => Some(number),
            None => {
                let expected = match (least, most) {
                    (_, i64::MAX) => format!("a whole number of at least {least}"),
                    _ => format!("a whole number from {least} to {most}"),
                };
                self.error(&node.place, format!("{what} is {}", node.describe()), &expected);
                None
            }
        }
    }

    /// Reads a number.
    pub(super) fn number(&mut self, what: &str, node: &Node) -> Option<f64> {
        let found = node.scalar().and_then(|scalar| match &scalar.value {
            Value::Number(number) => number.as_f64(),
            _ => scalar.text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        });
        if found.is_none() {
            self.error(&node.place, format!("{what} is {}", node.describe()), "a number");
        }
        found
    }

    /// Notes that the step being read names another.
    pub(super) fn target(&mut self, name: &str, place: &Place, role: Role) {
        if let Some(from) = self.step.clone() {
            let target = Target { from, name: name.to_owned(), place: place.clone(), role };
            self.notes.targets.push(target);
        }
    }

    /// Warns of something that only a plugin could have, when there is no such plugin.
    pub(super) fn needs_plugin(&mut self, plugin: &str, what: &str, place: &Place) {
        if !self.plugins.contains(plugin) {
            let message = format!("{what} is unknown: so is plugin `{plugin}`");
            let known = self.plugins.iter().map(String::as_str).chain(NAMESPACES);
            let hint = did_you_mean(plugin, known);
            let hint =
                hint.unwrap_or_else(|| "a run that reaches this step needs the plugin".to_owned());
            let problem = Problem::warning(place, message).hint(hint);
            self.problems.push(problem.expected("a plugin of `plugins` or of quipu.toml"));
        }
    }

    /// Warns of an operation that should be built in and is not.
    pub(super) fn no_operation(&mut self, operation: &str, place: &Place) {
        let message = format!("`{operation}` is no operation that is built in");
        let hint = did_you_mean(operation, OPERATIONS.iter().copied());
        let problem = Problem::warning(place, message);
        self.problems.push(problem.expected(one_of(OPERATIONS.iter().copied())).hint(hint));
    }

    /// Warns of a tool of a plugin, or an operation, that is not there.
    pub(super) fn tool(&mut self, name: &str, what: &str, place: &Place) {
        let plugin = name.split_once('.').map_or(name, |(plugin, _)| plugin);
        let is_operation = !name.contains('.') || NAMESPACES.contains(&plugin);
        match (is_operation, OPERATIONS.contains(&name)) {
            (true, true) => {}
            (true, false) => self.no_operation(name, place),
            (false, _) => self.needs_plugin(plugin, what, place),
        }
    }

    fn syntax(&mut self, what: &str, node: &Node, error: &SyntaxError) {
        let place = node.place_of(error.offset);
        self.problems.push(Problem::error(&place, format!("{what}: {}", error.message)));
    }

    fn refer(&mut self, language: Language, node: &Node, found: Vec<Reference>, shift: usize) {
        let references: Vec<_> = found
            .into_iter()
            .map(|it| (it.parts, node.place_of(it.offset.saturating_sub(shift))))
            .collect();
        if !references.is_empty() {
            let text = Text { step: self.step.clone(), language, moment: self.moment, references };
            self.notes.texts.push(text);
        }
    }
}
