//! Tree + scope → value.

use std::borrow::Cow;

use super::EvalError;
use super::lex::Part;
use super::node::{Access, Node};
use super::operators::{Operator, number};
use crate::language::lookup::{find, find_within};
use crate::language::value::{is_true, number_value, read_number, read_truth, text_of};
use crate::language::{Reference, Scope, Value};

/// Works the value of an expression out.
pub(super) fn evaluate(node: &Node, scope: &dyn Scope) -> Result<Value, EvalError> {
    Ok(match node {
        Node::Literal(value) => value.clone(),
        Node::Mixed(parts) => mixed(parts, scope)?,
        Node::Action(action, offset) => action
            .evaluate(scope)
            .map_err(|error| EvalError { offset: *offset, message: error.message })?,
        Node::List(nodes) => all(nodes, scope)?.into(),
        Node::Path(path, accesses) => look_up(path, accesses, scope)?,
        Node::Taken(node, accesses) => {
            let value = evaluate(node, scope)?;
            let keys = keys(accesses, scope)?;
            let keys: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
            find_within(&value, &keys, "").cloned().unwrap_or_default()
        }
        Node::Not(node) => Value::Bool(!holds(&evaluate(node, scope)?)),
        Node::Negative(node, offset) => negative(&evaluate(node, scope)?, *offset)?,
        Node::Binary { operator, left, right, offset } => {
            binary(*operator, left, right, *offset, scope)?
        }
        Node::Choice { condition, yes, no } => {
            let chosen = if holds(&evaluate(condition, scope)?) { yes } else { no };
            evaluate(chosen, scope)?
        }
        Node::Call { function, arguments, offset } => function
            .call(&all(arguments, scope)?)
            .map_err(|message| EvalError { offset: *offset, message })?,
    })
}

/// Tells whether a value holds. A text that reads as a truth or a number is taken as that.
pub(super) fn holds(value: &Value) -> bool {
    let Value::String(text) = value else { return is_true(value) };
    read_truth(text)
        .or_else(|| read_number(text).map(|number| is_true(&Value::Number(number))))
        .unwrap_or(!text.is_empty())
}

fn all(nodes: &[Node], scope: &dyn Scope) -> Result<Vec<Value>, EvalError> {
    nodes.iter().map(|node| evaluate(node, scope)).collect()
}

fn mixed(parts: &[Part], scope: &dyn Scope) -> Result<Value, EvalError> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(literal) => text.push_str(literal),
            Part::Action(action) => {
                let value = action
                    .evaluate(scope)
                    .map_err(|error| EvalError { offset: error.offset, message: error.message })?;
                text.push_str(&text_of(&value));
            }
        }
    }
    Ok(Value::String(text))
}

fn look_up(path: &Reference, accesses: &[Access], scope: &dyn Scope) -> Result<Value, EvalError> {
    let keys = keys(accesses, scope)?;
    let whole: Vec<&str> =
        path.parts.iter().map(String::as_str).chain(keys.iter().map(AsRef::as_ref)).collect();
    Ok(find(scope, &whole).map(Cow::into_owned).unwrap_or_default())
}

fn keys<'n>(accesses: &'n [Access], scope: &dyn Scope) -> Result<Vec<Cow<'n, str>>, EvalError> {
    accesses
        .iter()
        .map(|access| match access {
            Access::Name(name) => Ok(Cow::Borrowed(name.as_str())),
            Access::Key(node) => Ok(Cow::Owned(text_of(&evaluate(node, scope)?).into_owned())),
        })
        .collect()
}

fn negative(value: &Value, offset: usize) -> Result<Value, EvalError> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let number = number(value).map_err(|message| EvalError { offset, message })?;
    Ok(match number.as_i64().and_then(i64::checked_neg) {
        Some(whole) => Value::from(whole),
        None => number_value(-number.as_f64().unwrap_or_default()),
    })
}

fn binary(
    operator: Operator,
    left: &Node,
    right: &Node,
    offset: usize,
    scope: &dyn Scope,
) -> Result<Value, EvalError> {
    let first = evaluate(left, scope)?;
    match operator {
        Operator::Or => return Ok(Value::Bool(holds(&first) || holds(&evaluate(right, scope)?))),
        Operator::And => return Ok(Value::Bool(holds(&first) && holds(&evaluate(right, scope)?))),
        Operator::Otherwise if first.is_null() => return evaluate(right, scope),
        Operator::Otherwise => return Ok(first),
        _ => {}
    }
    let second = evaluate(right, scope)?;
    operator.apply(&first, &second).map_err(|message| EvalError { offset, message })
}
