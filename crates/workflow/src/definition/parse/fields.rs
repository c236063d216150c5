//! The keys of one mapping, taken one by one; what nobody asked for is told at the end.

use std::time::Duration;

use super::reader::Reader;
use super::{duration, misplaced};
use crate::definition::problem::{Place, Problem};
use crate::definition::suggest::{did_you_mean, nearest, one_of};
use crate::definition::yaml::{Entry, Node};
use crate::language::{Expression, Template};

/// The keys of one mapping.
pub(super) struct Fields<'n> {
    /// What the mapping is, for messages: `a command step`.
    pub(super) of: String,
    /// Where it begins.
    pub(super) place: Place,
    entries: &'n [Entry],
    asked: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// Looks into a mapping. Anything else is noted as an error.
    pub(super) fn of(reader: &mut Reader, what: &str, node: &'n Node) -> Option<Self> {
        let Some(entries) = node.mapping() else {
            let hint = node.scalar().and_then(|it| misplaced::short_form(what, it.text.trim()));
            let problem = Problem::error(&node.place, format!("{what} is {}", node.describe()));
            reader.problems.push(problem.expected("a mapping").hint(hint));
            return None;
        };
        Some(Fields { of: what.to_owned(), place: node.place.clone(), entries, asked: Vec::new() })
    }

    /// Returns the value of a key; a key without a value is as good as absent.
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'n Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns a key and its value.
    pub(super) fn entry(&mut self, key: &'static str) -> Option<&'n Entry> {
        self.asked.push(key);
        self.entries.iter().find(|entry| entry.key == key && !entry.value.is_null())
    }

    /// Tells whether a key has a value, without taking it.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key && !entry.value.is_null())
    }

    pub(super) fn text(&mut self, reader: &mut Reader, key: &'static str) -> Option<String> {
        self.take(key).and_then(|node| reader.text(&quoted(key), node))
    }

    pub(super) fn template(&mut self, reader: &mut Reader, key: &'static str) -> Option<Template> {
        self.take(key).and_then(|node| reader.template(&quoted(key), node))
    }

    pub(super) fn expression(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
    ) -> Option<Expression> {
        self.take(key).and_then(|node| reader.expression(&quoted(key), node))
    }

    pub(super) fn flag(&mut self, reader: &mut Reader, key: &'static str) -> Option<bool> {
        self.take(key).and_then(|node| reader.flag(&quoted(key), node))
    }

    pub(super) fn whole(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
        least: i64,
        most: i64,
    ) -> Option<i64> {
        self.take(key).and_then(|node| reader.whole(&quoted(key), node, least, most))
    }

    pub(super) fn number(&mut self, reader: &mut Reader, key: &'static str) -> Option<f64> {
        self.take(key).and_then(|node| reader.number(&quoted(key), node))
    }

    pub(super) fn duration(&mut self, reader: &mut Reader, key: &'static str) -> Option<Duration> {
        self.take(key).and_then(|node| duration::read(reader, &quoted(key), node))
    }

    pub(super) fn names(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
    ) -> Option<Vec<(String, Place)>> {
        self.take(key).map(|node| reader.names(&quoted(key), node))
    }

    /// Reads one of a few words.
    pub(super) fn word<T: Copy>(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let node = self.take(key)?;
        let given = reader.text(&quoted(key), node)?;
        if let Some((_, meant)) = words.iter().find(|(word, _)| *word == given) {
            return Some(*meant);
        }
        let known = || words.iter().map(|(word, _)| *word);
        let problem = Problem::error(&node.place, format!("`{key}` is {}", node.describe()));
        let problem = problem.expected(one_of(known())).hint(did_you_mean(&given, known()));
        reader.problems.push(problem);
        None
    }

    /// Notes that a key is missing.
    pub(super) fn missing(&self, reader: &mut Reader, key: &str, expected: &str) {
        let mut problem = Problem::error(&self.place, format!("{} has no `{key}`", self.of));
        if let Some(near) = nearest(key, self.unasked().map(|entry| entry.key.as_str())) {
            problem = problem.hint(format!("`{near}` looks like it"));
        }
        reader.problems.push(problem.expected(expected));
    }

    /// Warns of every key that nobody asked for.
    pub(super) fn finish(self, reader: &mut Reader) {
        for entry in self.unasked() {
            reader.problems.push(self.unknown(entry));
        }
    }

    /// As `finish`, but such a key is an error.
    pub(super) fn finish_strictly(self, reader: &mut Reader) {
        for entry in self.unasked() {
            let message = format!("`{}` is no key of {}", entry.key, self.of);
            let problem = Problem::error(&entry.key_place, message);
            let hint = did_you_mean(&entry.key, self.asked.iter().copied());
            let expected = one_of(self.asked.iter().copied());
            reader.problems.push(problem.expected(expected).hint(hint));
        }
    }

    fn unasked(&self) -> impl Iterator<Item = &'n Entry> {
        self.entries.iter().filter(|entry| !self.asked.contains(&entry.key.as_str()))
    }

    fn unknown(&self, entry: &Entry) -> Problem {
        let message = format!("`{}` is no key of {}, and has no effect", entry.key, self.of);
        let hint = misplaced::hint(&self.of, &entry.key)
            .or_else(|| did_you_mean(&entry.key, self.asked.iter().copied()))
            .or_else(|| misplaced::belongs(&entry.key));
        Problem::warning(&entry.key_place, message).hint(hint)
    }
}

pub(super) fn quoted(key: &str) -> String {
    format!("`{key}`")
}
