//! Events of the YAML parser → tree: anchors, aliases, merge keys, and limits on what they may cost.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::scalar::resolve;
use super::slips::{key_without_colon, tab_in_indentation};
use super::{Content, Entry, Node, Scalar, Source, Style};
use crate::definition::problem::{Place, Problem, Problems};

/// No workflow has this many parts; a few lines of aliases on aliases have any number.
const MAX_NODES: usize = 200_000;
/// No workflow is nested this deep.
const MAX_DEPTH: usize = 100;

/// What would have been right where the parser says this.
const EXPECTED: [(&str, &str); 9] = [
    ("mapping values are not allowed", "a value without `: ` in it, or one in quotes"),
    ("tab", "spaces for indentation"),
    ("trailing content", "nothing behind the closing quote; a quote inside is written twice"),
    ("quoted scalar", "the closing quote"),
    ("did not find expected", "`key: value`, indented like the keys beside it"),
    ("simple key", "`key: value`, indented like the keys beside it"),
    ("anchor", "an anchor that was set with `&` before"),
    ("unexpected character", "a value; one that begins with this character stands in quotes"),
    ("unexpected end", "the rest of it"),
];

/// Reads a file's text as one document.
pub(crate) fn read(file: &Path, text: &str) -> Result<Node, Problems> {
    let source = Arc::new(Source::new(file, text));
    let mut builder = Builder {
        source: Arc::clone(&source),
        open: Vec::new(),
        anchors: HashMap::new(),
        root: None,
        nodes: 0,
        documents: 0,
        problems: Problems::default(),
    };
    for event in Parser::new_from_str(source.text()).keep_tags(true) {
        let went_on = match event {
            Ok((event, span)) => builder.take(event, span),
            Err(error) => {
                let mark = error.marker();
                let tab = tab_in_indentation(text, mark.line(), mark.col());
                let column = tab.filter(|_| error.info().contains("tab")).unwrap_or(mark.col());
                let place = builder.place(mark.line(), column);
                match key_without_colon(text, mark.line()) {
                    Some((line, column, key)) => {
                        let place = builder.place(line, column);
                        Err(Problem::error(&place, format!("`{key}` is a key without its `:`"))
                            .expected(format!("`{key}:`")))
                    }
                    None => Err(builder.explain(&place, error.info())),
                }
            }
        };
        if let Err(problem) = went_on {
            builder.problems.push(problem);
            return Err(builder.problems);
        }
    }
    builder.finish()
}

struct Builder {
    source: Arc<Source>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    root: Option<Node>,
    nodes: usize,
    documents: usize,
    problems: Problems,
}

/// A list or object whose end has not come.
struct Open {
    place: Place,
    anchor: usize,
    filling: Filling,
}

enum Filling {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<Entry>, merged: Vec<Node>, key: Option<Key> },
}

enum Key {
    Name(String, Place),
    Merge,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Problem> {
        let place = self.place(span.start.line(), span.start.col());
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Problem::error(&place, "a second document begins here")
                        .expected("one document in a file"));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(place, &text, style, tag.as_deref());
                self.add(node, anchor, 1)?;
            }
            Event::SequenceStart(anchor, _) => {
                self.begin(place, anchor, Filling::Sequence(Vec::new()))?;
            }
            Event::MappingStart(anchor, _) => {
                let filling =
                    Filling::Mapping { entries: Vec::new(), merged: Vec::new(), key: None };
                self.begin(place, anchor, filling)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end()?,
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let node = node
                    .ok_or_else(|| Problem::error(&place, "an alias inside of its own anchor"))?;
                let weight = weigh(&node);
                self.add(node, 0, weight)?;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn scalar(&self, place: Place, text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Node {
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let core = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
        let value = resolve(text, style, core);
        let source = Some(Arc::clone(&self.source));
        let scalar = Scalar { text: text.to_owned(), value, style, source };
        Node { place, content: Content::Scalar(scalar) }
    }

    fn begin(&mut self, place: Place, anchor: usize, filling: Filling) -> Result<(), Problem> {
        if self.open.len() >= MAX_DEPTH {
            return Err(Problem::error(&place, format!("nested more than {MAX_DEPTH} deep")));
        }
        self.open.push(Open { place, anchor, filling });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Problem> {
        let Some(Open { place, anchor, filling }) = self.open.pop() else { return Ok(()) };
        let content = match filling {
            Filling::Sequence(items) => Content::Sequence(items),
            Filling::Mapping { mut entries, merged, .. } => {
                for node in merged {
                    self.merge(&mut entries, node);
                }
                Content::Mapping(entries)
            }
        };
        self.add(Node { place, content }, anchor, 1)
    }

    fn add(&mut self, node: Node, anchor: usize, weight: usize) -> Result<(), Problem> {
        self.nodes += weight;
        if self.nodes > MAX_NODES {
            let message = format!("more than {MAX_NODES} values, counting each use of an alias");
            return Err(Problem::error(&node.place, message));
        }
        if depth(&node) + self.open.len() > MAX_DEPTH {
            return Err(Problem::error(&node.place, format!("nested more than {MAX_DEPTH} deep")));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.filling {
            Filling::Sequence(items) => items.push(node),
            Filling::Mapping { entries, merged, key } => match key.take() {
                None => *key = Some(read_key(node)?),
                Some(Key::Merge) => merged.push(node),
                Some(Key::Name(name, at)) => {
                    if let Some(first) = entries.iter().find(|entry| entry.key == name) {
                        let Place { line, column, .. } = first.key_place;
                        let message =
                            format!("the key `{name}` stands twice: first at {line}:{column}");
                        self.problems.push(Problem::error(&at, message).expected("each key once"));
                    } else {
                        entries.push(Entry { key: name, key_place: at, value: node });
                    }
                }
            },
        }
        Ok(())
    }

    /// Adds the keys of `<<`: what the object says itself wins, and of several the earlier.
    fn merge(&mut self, entries: &mut Vec<Entry>, node: Node) {
        match node.content {
            Content::Mapping(more) => {
                for entry in more {
                    if !entries.iter().any(|own| own.key == entry.key) {
                        entries.push(entry);
                    }
                }
            }
            Content::Sequence(items) => {
                for item in items {
                    self.merge(entries, item);
                }
            }
            Content::Scalar(_) => {
                let message = format!("`<<` is given {}", node.describe());
                let problem = Problem::error(&node.place, message);
                self.problems.push(problem.expected("a mapping, or a list of mappings"));
            }
        }
    }

    /// Says in a person's words what the parser stumbled over.
    fn explain(&self, place: &Place, info: &str) -> Problem {
        let problem = Problem::error(place, format!("this is not YAML: {info}"));
        if info.contains("recursion limit") {
            return Problem::error(place, format!("nested more than {MAX_DEPTH} deep"));
        }
        if let Some((bracket, begin)) = self.unclosed().filter(|_| info.contains("flow")) {
            let Place { line, column, .. } = begin;
            let close = if bracket == '[' { ']' } else { '}' };
            return problem.expected(format!(
                "`,` or `{close}`: the `{bracket}` at {line}:{column} is not closed"
            ));
        }
        match EXPECTED.iter().find(|(found, _)| info.contains(found)) {
            Some((_, expected)) => problem.expected(*expected),
            None => problem,
        }
    }

    /// Returns the innermost bracket that is open, and where.
    fn unclosed(&self) -> Option<(char, &Place)> {
        self.open.iter().rev().find_map(|open| {
            let first = self.source.from(&open.place)?.chars().next()?;
            matches!(first, '[' | '{').then_some((first, &open.place))
        })
    }

    fn place(&self, line: usize, column: usize) -> Place {
        self.source.place(line.max(1), column + 1)
    }

    fn finish(mut self) -> Result<Node, Problems> {
        let root = self.root.take().filter(|root| !root.is_null());
        let Some(root) = root else {
            let problem = Problem::error(&self.source.place(1, 1), "the file is empty");
            self.problems.push(problem.expected("a mapping with `name` and `states`"));
            return Err(self.problems);
        };
        if self.problems.is_empty() { Ok(root) } else { Err(self.problems) }
    }
}

fn read_key(node: Node) -> Result<Key, Problem> {
    let place = node.place.clone();
    let described = node.describe();
    match node.content {
        Content::Scalar(scalar) if scalar.text == "<<" && scalar.style == Style::Plain => {
            Ok(Key::Merge)
        }
        Content::Scalar(scalar) => Ok(Key::Name(scalar.text, place)),
        _ => Err(Problem::error(&place, format!("a key is {described}")).expected("a name")),
    }
}

fn weigh(node: &Node) -> usize {
    1 + match &node.content {
        Content::Scalar(_) => 0,
        Content::Sequence(items) => items.iter().map(weigh).sum(),
        Content::Mapping(entries) => entries.iter().map(|entry| 1 + weigh(&entry.value)).sum(),
    }
}

fn depth(node: &Node) -> usize {
    match &node.content {
        Content::Scalar(_) => 0,
        Content::Sequence(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Content::Mapping(entries) => {
            1 + entries.iter().map(|entry| depth(&entry.value)).max().unwrap_or(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> serde_json::Value {
        read(Path::new("f.yaml"), text).unwrap_or_else(|problems| panic!("{problems}")).to_value()
    }

    fn first_problem(text: &str) -> Problem {
        read(Path::new("f.yaml"), text).unwrap_err().into_iter().next().unwrap()
    }

    #[test]
    fn anchors_aliases_and_merge_keys_give_what_they_stand_for() {
        let cases = [
            ("a: &x [1, 2]\nb: *x", json!({"a": [1, 2], "b": [1, 2]})),
            (
                "base: &b {t: 1, u: 2}\nown: {<<: *b, u: 3}",
                json!({"base": {"t": 1, "u": 2}, "own": {"t": 1, "u": 3}}),
            ),
            (
                "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc:\n  y: 3\n  <<: [*a, *b]\n",
                json!({"a": {"x": 1}, "b": {"x": 2, "y": 2}, "c": {"x": 1, "y": 3}}),
            ),
            ("\"<<\": 1", json!({"<<": 1})),
            ("\u{feff}a: 1", json!({"a": 1})),
            ("a: 1\r\nb: |\r\n  x\r\n", json!({"a": 1, "b": "x\n"})),
            ("5: five\ntrue: yes", json!({"5": "five", "true": "yes"})),
            ("---\na: 1\n...\n", json!({"a": 1})),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_one_yaml_document_is_told_with_its_place() {
        let cases = [
            ("", (1, 1), "empty"),
            ("# only a comment\n", (1, 1), "empty"),
            ("a: 1\n---\nb: 2", (2, 1), "second document"),
            ("a: 1\nb: 2\na: 3", (3, 1), "stands twice: first at 1:1"),
            ("a: [1,\n  b: 2\n", (3, 1), "not YAML"),
            ("a: 'it's'", (1, 8), "not YAML"),
            ("a: b: c", (1, 5), "not YAML"),
            ("a: *nowhere", (1, 4), "not YAML"),
            ("a: &x [*x]", (1, 8), "inside of its own anchor"),
            ("? [a]\n: b", (1, 3), "a key is a list"),
            ("a: {<<: 5}", (1, 9), "`<<` is given `5`"),
            ("a:\n\tb: 1", (2, 1), "not YAML"),
        ];
        for (text, (line, column), message) in cases {
            let problem = first_problem(text);
            assert!(problem.message.contains(message), "{text}: {problem}");
            assert_eq!((problem.line, problem.column), (line, column), "{text}: {problem}");
        }
    }

    #[test]
    fn all_doubled_keys_are_told_at_once() {
        let problems = read(Path::new("f.yaml"), "a: 1\na: 2\nb: {c: 1, c: 2}").unwrap_err();
        assert_eq!(problems.len(), 2, "{problems}");
    }

    #[test]
    fn aliases_on_aliases_and_bottomless_nesting_are_stopped() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let below = format!("*a{}, ", level - 1).repeat(10);
            bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
        }
        assert!(first_problem(&bomb).message.contains("more than 200000 values"));
        assert!(first_problem(&"[".repeat(5000)).message.contains("deep"));
        let mut deep = "a0: &a0 [x]\n".to_owned();
        for level in 1..150 {
            deep.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
        }
        assert!(first_problem(&deep).message.contains("deep"));
    }
}
