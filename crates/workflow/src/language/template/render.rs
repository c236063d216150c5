//! Tree + scope → pieces. Whether a piece is the author's or a value is decided here and nowhere else.

use std::borrow::Cow;

use super::functions::{self, Argument};
use super::node::{Command, Node, Operand, Pipeline};
use super::{Piece, RenderError};
use crate::language::lookup::{Missing, find, find_within};
use crate::language::value::{is_true, text_of};
use crate::language::{Reference, Scope, Value};

/// Fills a template in.
pub(super) fn render<'t>(
    nodes: &'t [Node],
    scope: &dyn Scope,
) -> Result<Vec<Piece<'t>>, RenderError> {
    let mut renderer = Renderer { scope, dot: None, variables: Vec::new(), pieces: Vec::new() };
    renderer.nodes(nodes)?;
    Ok(renderer.pieces)
}

/// Works the value of one pipeline out, away from any template.
pub(super) fn evaluate(pipeline: &Pipeline, scope: &dyn Scope) -> Result<Value, RenderError> {
    let renderer = Renderer { scope, dot: None, variables: Vec::new(), pieces: Vec::new() };
    Ok(renderer.pipeline(pipeline)?.value().into_owned())
}

struct Renderer<'t, 's> {
    scope: &'s dyn Scope,
    dot: Option<Value>,
    variables: Vec<(&'t str, Value)>,
    pieces: Vec<Piece<'t>>,
}

// What a `break` or `continue` still has to leave.
#[derive(Clone, Copy, PartialEq)]
enum Flow {
    On,
    NextItem,
    Leave,
}

impl<'t> Renderer<'t, '_> {
    fn nodes(&mut self, nodes: &'t [Node]) -> Result<Flow, RenderError> {
        let variables = self.variables.len();
        for node in nodes {
            let flow = self.node(node)?;
            if flow != Flow::On {
                self.variables.truncate(variables);
                return Ok(flow);
            }
        }
        self.variables.truncate(variables);
        Ok(Flow::On)
    }

    fn node(&mut self, node: &'t Node) -> Result<Flow, RenderError> {
        match node {
            Node::Text(text) => self.pieces.push(Piece::Literal(text)),
            Node::Print(pipeline) => {
                let piece = match self.pipeline(pipeline)? {
                    Argument::Escaped(raw) => Piece::Quoted(raw),
                    Argument::Value(value) => Piece::Value(into_text(value)),
                };
                self.pieces.push(piece);
            }
            Node::Set { name, declares, pipeline } => {
                let value = self.pipeline(pipeline)?.value().into_owned();
                self.set(name, *declares, value);
            }
            Node::If { branches, otherwise } => {
                for (condition, body) in branches {
                    if is_true(&self.pipeline(condition)?.value()) {
                        return self.nodes(body);
                    }
                }
                return self.nodes(otherwise);
            }
            Node::Range { names, over, body, otherwise } => {
                return self.range(names, over, body, otherwise);
            }
            Node::With { names, subject, body, otherwise } => {
                let value = self.pipeline(subject)?.value().into_owned();
                if !is_true(&value) {
                    return self.nodes(otherwise);
                }
                return self.body(
                    names.iter().map(|name| (name.as_str(), value.clone())),
                    value.clone(),
                    body,
                );
            }
            Node::Break => return Ok(Flow::Leave),
            Node::Continue => return Ok(Flow::NextItem),
        }
        Ok(Flow::On)
    }

    fn range(
        &mut self,
        names: &'t [String],
        over: &Pipeline,
        body: &'t [Node],
        otherwise: &'t [Node],
    ) -> Result<Flow, RenderError> {
        let items = items_of(self.pipeline(over)?.value().into_owned(), over.offset)?;
        if items.is_empty() {
            return self.nodes(otherwise);
        }
        for (key, item) in items {
            // One variable is the item; two are its position or key, and the item.
            let values =
                if names.len() == 2 { vec![key, item.clone()] } else { vec![item.clone()] };
            let set = names.iter().map(String::as_str).zip(values);
            if self.body(set, item, body)? == Flow::Leave {
                break;
            }
        }
        Ok(Flow::On)
    }

    fn body(
        &mut self,
        set: impl Iterator<Item = (&'t str, Value)>,
        dot: Value,
        body: &'t [Node],
    ) -> Result<Flow, RenderError> {
        let variables = self.variables.len();
        self.variables.extend(set);
        let outer = self.dot.replace(dot);
        let flow = self.nodes(body);
        self.dot = outer;
        self.variables.truncate(variables);
        flow
    }

    fn set(&mut self, name: &'t str, declares: bool, value: Value) {
        let known = self.variables.iter_mut().rev().find(|(known, _)| *known == name);
        match known {
            Some((_, old)) if !declares => *old = value,
            _ => self.variables.push((name, value)),
        }
    }

    fn pipeline(&self, pipeline: &Pipeline) -> Result<Argument<'_>, RenderError> {
        let mut piped: Option<Argument<'_>> = None;
        for command in &pipeline.commands {
            piped = Some(match command {
                Command::Operand(operand) => self.operand(operand)?,
                Command::Call { function, arguments, offset } => {
                    self.call(function, arguments, piped, *offset)?
                }
            });
        }
        Ok(piped.unwrap_or(Argument::Value(Cow::Owned(Value::Null))))
    }

    fn call<'v>(
        &'v self,
        function: &'static str,
        arguments: &[Operand],
        piped: Option<Argument<'v>>,
        offset: usize,
    ) -> Result<Argument<'v>, RenderError> {
        if let "and" | "or" = function {
            return self.first_that(function == "or", arguments, piped, offset);
        }
        let mut values = Vec::with_capacity(arguments.len() + 1);
        for argument in arguments {
            values.push(match self.operand(argument) {
                // `default` is the one place where a missing value is what was meant.
                Err(error) if function == "default" && error.is_missing => {
                    Argument::Value(Cow::Owned(Value::Null))
                }
                other => other?,
            });
        }
        let is_piped = piped.is_some();
        values.extend(piped);
        functions::call(function, values, is_piped, self.scope).map_err(|message| RenderError {
            offset,
            message,
            hint: None,
            is_missing: false,
        })
    }

    // `and` and `or` look no further than the value that decides.
    fn first_that<'v>(
        &'v self,
        wanted: bool,
        arguments: &[Operand],
        piped: Option<Argument<'v>>,
        offset: usize,
    ) -> Result<Argument<'v>, RenderError> {
        let mut last = None;
        for argument in arguments {
            let value = self.operand(argument)?;
            if is_true(&value.value()) == wanted {
                return Ok(value);
            }
            last = Some(value);
        }
        piped.or(last).ok_or_else(|| RenderError {
            offset,
            message: "`and` and `or` take at least 1 argument".to_owned(),
            hint: None,
            is_missing: false,
        })
    }

    fn operand<'v>(&'v self, operand: &Operand) -> Result<Argument<'v>, RenderError> {
        let value = match operand {
            Operand::Literal(value) => Cow::Owned(value.clone()),
            Operand::Path(path) => self.look_up(path)?,
            Operand::Dot(path) => match &self.dot {
                Some(dot) => Cow::Borrowed(self.within(dot, path, "")?),
                None => self.look_up(path)?,
            },
            Operand::Variable { name, path } => {
                let value = self.variables.iter().rev().find(|(known, _)| known == name);
                let Some((_, value)) = value else {
                    let message = format!("`${name}` has no value here");
                    return Err(missing(path, Missing { message, hint: None }));
                };
                Cow::Borrowed(self.within(value, path, &format!("${name}"))?)
            }
            Operand::Group { pipeline, path } => {
                let inner = self.pipeline(pipeline)?;
                if path.parts.is_empty() {
                    return Ok(inner);
                }
                let value = inner.value();
                Cow::Owned(self.within(&value, path, "(…)")?.clone())
            }
        };
        Ok(Argument::Value(value))
    }

    fn look_up(&self, path: &Reference) -> Result<Cow<'_, Value>, RenderError> {
        if path.parts.is_empty() {
            let message = "`.` is everything there is, which has no text".to_owned();
            let hint = Some("name what is wanted: `{{.inputs.name}}`".to_owned());
            return Err(missing(path, Missing { message, hint }));
        }
        find(self.scope, &parts(path)).map_err(|found| missing(path, found))
    }

    fn within<'v>(
        &self,
        value: &'v Value,
        path: &Reference,
        base: &str,
    ) -> Result<&'v Value, RenderError> {
        let written = format!("{base}.{}", path.parts.join("."));
        find_within(value, &parts(path), &written).map_err(|mut found| {
            // The commonest mistake: inside `range`, the dot is the item and no longer the root.
            if base.is_empty() && find(self.scope, &parts(path)).is_ok() {
                found.hint = Some(format!("inside `range` and `with` write `${written}`"));
            }
            missing(path, found)
        })
    }
}

fn into_text(value: Cow<'_, Value>) -> String {
    match value {
        Cow::Owned(Value::String(text)) => text,
        other => text_of(&other).into_owned(),
    }
}

fn parts(path: &Reference) -> Vec<&str> {
    path.parts.iter().map(String::as_str).collect()
}

fn missing(path: &Reference, found: Missing) -> RenderError {
    RenderError { offset: path.offset, message: found.message, hint: found.hint, is_missing: true }
}

fn items_of(value: Value, offset: usize) -> Result<Vec<(Value, Value)>, RenderError> {
    const MOST: u64 = 1_000_000;
    Ok(match value {
        Value::Null => Vec::new(),
        Value::Array(items) => {
            items.into_iter().enumerate().map(|(at, item)| (Value::from(at), item)).collect()
        }
        Value::Object(members) => {
            members.into_iter().map(|(key, item)| (Value::String(key), item)).collect()
        }
        Value::Number(number) if number.as_u64().is_some_and(|count| count <= MOST) => {
            (0..number.as_u64().unwrap_or_default()).map(|at| (at.into(), at.into())).collect()
        }
        other => {
            let kind = crate::language::value::kind_of(&other);
            let message = format!("`range` needs a list or an object, not {kind}");
            let hint = Some("`split` makes a list of a text".to_owned());
            return Err(RenderError { offset, message, hint, is_missing: false });
        }
    })
}
